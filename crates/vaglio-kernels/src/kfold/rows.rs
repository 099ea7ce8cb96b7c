//! Columns, targets and folds: the notation of the book, *Cross-validation without refitting*.

use crate::{Column, Data, Folds, Halt, Targets};
use std::sync::Arc;

/// The data of a K-fold validation, shared by all states.
#[derive(Debug)]
pub struct Rows<'d> {
    pub(crate) data: Arc<Data<'d>>,
    pub(crate) folds: Folds,
    /// Whether columns and targets are centered on the means of the training rows of each fold.
    pub(crate) intercept: bool,
    /// Whether columns are centered and divided by the standard deviations of the training rows of each fold.
    pub(crate) standardize: bool,
    /// The class of each row, where training weighs classes alike.
    pub(crate) classes: Option<Vec<usize>>,
    /// Columns with cells that are filled by the mean of the training rows of each fold, in order, and 1 in these cells.
    pub(crate) gaps: Vec<(usize, Column<'d>)>,
    pub(crate) halt: Halt,
}

impl<'d> Rows<'d> {
    /// `data` was made with the same `intercept`.
    pub fn new(data: impl Into<Arc<Data<'d>>>, folds: Folds, intercept: bool, standardize: bool) -> Self {
        Rows {
            data: data.into(),
            folds,
            intercept,
            standardize,
            classes: None,
            gaps: Vec::new(),
            halt: Halt::default(),
        }
    }

    /// The same with classes that count alike in training: a row weighs r_j over the weight of the rows of its class
    /// that are trained on. Losses keep the weights r_j; standard deviations do as well.
    #[must_use]
    pub fn balancing(self, classes: Vec<usize>) -> Self {
        Rows { classes: Some(classes), ..self }
    }

    /// The same with columns, in order, that have gaps: cells, with 1 in the column beside it, that all hold one value and
    /// are filled by the weighted mean of the others among the training rows of each fold. Where there are no others they
    /// stay as they are.
    #[must_use]
    pub fn imputing(self, gaps: Vec<(usize, Column<'d>)>) -> Self {
        Rows { gaps, ..self }
    }

    /// The same for work on all columns that ends when it is told to.
    #[must_use]
    pub fn stopping_at(self, halt: Halt) -> Self {
        Rows { halt, ..self }
    }

    /// The cells of a column that are filled.
    pub(super) fn gaps_of(&self, column: usize) -> Option<Column<'d>> {
        self.gaps.binary_search_by_key(&column, |(column, _)| *column).ok().map(|at| self.gaps[at].1)
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
        self.standardize || !self.gaps.is_empty()
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
}
