//! Columns, targets and folds, in the notation of the book, *Cross-validation without refitting*.

use crate::folds::combine_others;
use crate::score::class_factors;
use crate::{Column, Data, Folds};
use std::sync::Arc;

/// Data of a K-fold cross-validation, shared by all states.
#[derive(Debug)]
pub struct FoldedRows<'d> {
    /// Scaled columns and targets. With an intercept, both are centered on the means of each fold's training rows.
    pub data: Arc<Data<'d>>,
    /// Folds of the rows.
    pub folds: Folds,
    /// Whether columns are centered and divided by the standard deviations of each fold's training rows.
    pub standardize: bool,
    /// Class of each row, if training balances classes: a row weighs r_j divided by the training weight of its class.
    /// Losses and standard deviations keep the weights r_j.
    pub classes: Option<Vec<usize>>,
    /// Class of each row, and the factor of each class's held-out squares, if losses balance classes.
    pub(super) loss_classes: Option<(Vec<usize>, Vec<f64>)>,
    /// Columns with imputed cells, in order, each with an indicator column of its missing cells. All missing cells of a
    /// column must hold one value. Each fold replaces it by the weighted mean of the other cells in its training rows;
    /// if there are none, the value stays.
    pub missing: Vec<(usize, Column<'d>)>,
}

impl<'d> FoldedRows<'d> {
    /// Combines data and folds.
    pub fn new(data: impl Into<Arc<Data<'d>>>, folds: Folds, standardize: bool) -> Self {
        FoldedRows { data: data.into(), folds, standardize, classes: None, loss_classes: None, missing: Vec::new() }
    }

    /// Balances classes in losses: squares of the rows of class c are multiplied by W/(C·W_c). The held-out rows have the
    /// weight W, with W_c in class c, and C classes.
    #[must_use]
    pub fn balancing_losses(self, classes: Vec<usize>) -> Self {
        let mut weights = vec![0.0; classes.iter().max().map_or(0, |c| c + 1)];
        for &row in (0..self.folds.count_held_out()).flat_map(|fold| self.folds.held_out(fold)) {
            weights[classes[row]] += self.data.targets.weight(row);
        }
        let factors = class_factors(weights.iter().sum(), &weights);
        FoldedRows { loss_classes: Some((classes, factors)), ..self }
    }

    /// The folds, or their blocks if folds have training rows of their own.
    pub(super) fn blocks(&self) -> &Folds {
        self.folds.blocks.as_deref().unwrap_or(&self.folds)
    }

    /// Group of each row, one for each class in each of [`FoldedRows::blocks`], and the number of classes. All rows are
    /// one class if products by class are not needed.
    pub(super) fn groups(&self) -> (Vec<u32>, usize) {
        let mut row_groups = self.blocks().fold_of_rows();
        let by_class = self.classes.as_ref().or(self.loss_classes.as_ref().map(|(classes, _)| classes));
        let count = by_class.map_or(1, |classes| classes.iter().max().map_or(1, |last| last + 1));
        for (row, group) in row_groups.iter_mut().enumerate() {
            *group = *group * count as u32 + by_class.map_or(0, |classes| classes[row] as u32);
        }
        (row_groups, count)
    }

    /// Whether losses balance classes.
    pub fn balances_losses(&self) -> bool {
        self.loss_classes.is_some()
    }

    /// Indicator of the missing cells of a column, if it has any.
    pub(super) fn missing_cells(&self, column: usize) -> Option<Column<'d>> {
        self.missing.binary_search_by_key(&column, |(column, _)| *column).ok().map(|at| self.missing[at].1)
    }

    /// Weight of each training row.
    pub(super) fn training_weights(&self, training: &[usize]) -> Vec<f64> {
        let own = |row: usize| self.data.targets.weight(row);
        let Some(classes) = &self.classes else { return training.iter().map(|&row| own(row)).collect() };
        let mut totals = vec![0.0; classes.iter().max().map_or(0, |c| c + 1)];
        training.iter().for_each(|&row| totals[classes[row]] += own(row));
        training.iter().map(|&row| own(row) / totals[classes[row]]).collect()
    }

    /// Whether each fold imputes or standardizes columns by its training rows.
    pub fn preprocesses_in_folds(&self) -> bool {
        self.standardize || !self.missing.is_empty()
    }

    /// Least and greatest entry of a column in the training rows of each fold, without missing cells. `row_blocks` has
    /// the block of each row. Cost O(m), or O(entries) for a sparse column.
    pub(super) fn training_ranges(&self, feature: usize, row_blocks: &[u32]) -> Vec<ValueRange> {
        let (column, blocks) = (self.data.column(feature).0, self.blocks());
        let mut ranges = vec![EMPTY_RANGE; blocks.count()];
        let mut widen = |block: usize, value: f64| ranges[block] = joint_range(&ranges[block], &(value, value));
        match (column, self.missing_cells(feature)) {
            (Column::Sparse(x), None) => {
                let mut left: Vec<usize> = (0..blocks.count()).map(|block| blocks.range(block).len()).collect();
                x.for_each(|row, value| {
                    let block = row_blocks[row] as usize;
                    left[block] -= 1;
                    widen(block, value);
                });
                (0..left.len()).filter(|&block| left[block] > 0).for_each(|block| widen(block, x.fill()));
            }
            (x, mask) => {
                let is_present = |row: usize| mask.is_none_or(|mask| mask.get(row) == 0.0);
                let present = row_blocks.iter().enumerate().filter(|(row, _)| is_present(*row));
                present.for_each(|(row, &block)| widen(block as usize, x.get(row)));
            }
        }
        if self.folds.train_on_all_others() {
            return combine_others(&ranges, EMPTY_RANGE, joint_range);
        }
        let joint = |some: &Vec<usize>| some.iter().fold(EMPTY_RANGE, |all, &block| joint_range(&all, &ranges[block]));
        self.folds.training_blocks.iter().map(joint).collect()
    }
}

/// Least and greatest of some values.
pub(super) type ValueRange = (f64, f64);

/// Range of no entries.
const EMPTY_RANGE: ValueRange = (f64::INFINITY, f64::NEG_INFINITY);

/// Smallest range that includes two ranges.
fn joint_range(range: &ValueRange, other: &ValueRange) -> ValueRange {
    (range.0.min(other.0), range.1.max(other.1))
}
