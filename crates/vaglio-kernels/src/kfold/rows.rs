//! Columns, targets and folds: the notation of the book, *Cross-validation without refitting*.

use super::missing_mask::MissingMask;
use crate::{Column, Data, Folds, Targets};
use std::sync::Arc;

/// The data of a K-fold validation, shared by all states.
#[derive(Debug)]
pub struct FoldedRows<'d> {
    pub(crate) data: Arc<Data<'d>>,
    pub(crate) folds: Folds,
    /// Whether columns and targets are centered on the means of the training rows of each fold.
    pub(crate) intercept: bool,
    /// Whether columns are centered and divided by the standard deviations of the training rows of each fold.
    pub(crate) standardize: bool,
    /// The class of each row, where training weighs classes alike.
    pub(crate) classes: Option<Vec<usize>>,
    /// The class of each row, and what the squares of those of each class that are held out are multiplied by, where losses count
    /// classes alike.
    pub(super) scored: Option<(Vec<usize>, Vec<f64>)>,
    /// The cells that are filled by the mean of the training rows of each fold.
    pub(crate) missing: MissingMask<'d>,
}

impl<'d> FoldedRows<'d> {
    /// `data` was made with the same `intercept`.
    pub fn new(data: impl Into<Arc<Data<'d>>>, folds: Folds, intercept: bool, standardize: bool) -> Self {
        FoldedRows {
            data: data.into(),
            folds,
            intercept,
            standardize,
            classes: None,
            scored: None,
            missing: MissingMask::default(),
        }
    }

    /// The same with classes that count alike in training: a row weighs r_j over the weight of the rows of its class
    /// that are trained on. Losses keep the weights r_j; standard deviations do as well.
    #[must_use]
    pub fn balancing(self, classes: Vec<usize>) -> Self {
        FoldedRows { classes: Some(classes), ..self }
    }

    /// The same for losses in which classes count alike: squares of the rows of class c are multiplied by W/(C·W_c), with W the
    /// weight of the rows that the first `held_out` folds hold out, W_c that of those of the class, and C how many classes these
    /// have.
    #[must_use]
    pub fn scoring(self, classes: Vec<usize>, held_out: usize) -> Self {
        let mut weights = vec![0.0; classes.iter().max().map_or(0, |c| c + 1)];
        for &row in (0..held_out).flat_map(|fold| self.folds.held_out(fold)) {
            weights[classes[row]] += self.targets().weight(row);
        }
        let all: f64 = weights.iter().sum();
        let present = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
        let share = |weight: &f64| if *weight > 0.0 { all / (present * weight) } else { 0.0 };
        let shares = weights.iter().map(share).collect();
        FoldedRows { scored: Some((classes, shares)), ..self }
    }

    /// The class of each row, where products of each class are needed.
    pub(super) fn parted(&self) -> Option<&[usize]> {
        self.classes.as_deref().or(self.scored.as_ref().map(|(classes, _)| &classes[..]))
    }

    /// Whether losses count classes alike.
    pub fn scores_classes_alike(&self) -> bool {
        self.scored.is_some()
    }

    /// The same with columns, in order, of which cells are missing: those with 1 in the column beside it, which all hold one
    /// value and are filled by the weighted mean of the others among the training rows of each fold. Where there are no others they
    /// stay as they are.
    #[must_use]
    pub fn imputing(self, missing: Vec<(usize, Column<'d>)>) -> Self {
        FoldedRows { missing: MissingMask(missing), ..self }
    }

    /// The weight of each of the rows that are trained on.
    pub(super) fn training_weights(&self, training: &[usize]) -> Vec<f64> {
        let own = |row: usize| self.targets().weight(row);
        let Some(classes) = &self.classes else { return training.iter().map(|&row| own(row)).collect() };
        let mut totals = vec![0.0; classes.iter().max().map_or(0, |c| c + 1)];
        training.iter().for_each(|&row| totals[classes[row]] += own(row));
        training.iter().map(|&row| own(row) / totals[classes[row]]).collect()
    }

    /// Scaled columns and targets.
    pub fn data(&self) -> &Arc<Data<'d>> {
        &self.data
    }

    /// Which rows are held out together.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// Whether every fold is trained on rows that are scaled and weighed alike.
    pub fn is_uniform(&self) -> bool {
        !self.is_made_in_folds() && self.classes.is_none()
    }

    /// Whether every fold imputes or standardizes columns by its training rows.
    pub fn is_made_in_folds(&self) -> bool {
        self.standardize || !self.missing.is_empty()
    }

    /// Whether every fold standardizes columns by its training rows.
    pub fn is_standardized(&self) -> bool {
        self.standardize
    }

    /// Number of columns, n, inactive ones included.
    pub fn columns(&self) -> usize {
        self.data.columns()
    }

    /// The columns that take part, in order.
    pub(super) fn active(&self) -> Vec<usize> {
        (0..self.columns()).filter(|&column| self.is_active(column)).collect()
    }

    /// Where each column stands among the active ones, if it is one of them.
    pub(super) fn places(&self) -> Vec<Option<usize>> {
        let mut next = 0..;
        (0..self.columns()).map(|column| if self.is_active(column) { next.next() } else { None }).collect()
    }

    /// Whether a column takes part.
    pub fn is_active(&self, column: usize) -> bool {
        self.data.is_active(column)
    }

    /// The targets, for a [`crate::Scorer`] of residuals in the order of the rows as given.
    pub fn targets(&self) -> &Arc<Targets> {
        self.data.targets()
    }

    /// The folds whose training rows have one value of a column, but for rounding. Cost O(m).
    pub(super) fn flat_folds(&self, feature: usize) -> Vec<usize> {
        let (column, folds) = (self.data.column(feature).0, self.folds());
        let wider = |(least, greatest): (f64, f64), other: (f64, f64)| (least.min(other.0), greatest.max(other.1));
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        let range = |fold: usize| {
            let entries = folds.held_out(fold).iter().map(|&row| column.get(row));
            entries.fold(nothing, |range, x| wider(range, (x, x)))
        };
        let ranges: Vec<(f64, f64)> = (0..folds.count()).map(range).collect();
        let mut after = vec![nothing; ranges.len() + 1];
        for (k, range) in ranges.iter().enumerate().rev() {
            after[k] = wider(after[k + 1], *range);
        }
        let (mut before, rounding) = (nothing, column.rounding());
        let is_flat = |fold: &usize| {
            let (least, greatest) = wider(before, after[fold + 1]);
            before = wider(before, ranges[*fold]);
            greatest - least <= rounding
        };
        (0..folds.count()).filter(is_flat).collect()
    }
}
