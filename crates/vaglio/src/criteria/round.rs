//! Rounds of held-out rows.

use vaglio_kernels::Folds;

/// Rows in folds, of which the first are held out in turn; the rest of the rows is trained on alone, in every one.
#[derive(Debug, Clone)]
pub(super) struct Round {
    /// The rest, where there is one, is a fold behind those that are held out.
    pub folds: Folds,
    /// Folds that are held out.
    pub held_out: usize,
}

impl Round {
    /// From the fold of each row, counted from 0; rows without one are the rest.
    pub fn new(of_row: &[Option<u32>]) -> Self {
        let held_out = of_row.iter().flatten().max().map_or(0, |fold| fold + 1);
        let folds = Folds::new(&of_row.iter().map(|fold| fold.unwrap_or(held_out)).collect::<Vec<_>>());
        Round { folds, held_out: held_out as usize }
    }

    /// Every row held out by itself.
    pub fn single(rows: usize) -> Self {
        Round { folds: Folds::single(rows), held_out: rows }
    }

    /// The rows that are trained on without each fold that is held out, in increasing order.
    pub fn trainings(&self) -> impl Iterator<Item = Vec<usize>> {
        (0..self.held_out).map(|fold| self.folds.training(fold))
    }

    /// Each fold that is held out as a round by itself.
    pub fn each_fold(&self) -> impl Iterator<Item = Round> {
        (0..self.held_out).map(|fold| {
            let is_held_out = is_held_out(&[fold], &self.folds);
            Round::new(&is_held_out.iter().map(|&is_in| is_in.then_some(0)).collect::<Vec<_>>())
        })
    }

    /// Whether every row is held out.
    pub fn is_partition(&self) -> bool {
        self.folds.count() == self.held_out
    }

    /// Whether each row is held out.
    pub fn is_held_out(&self) -> Vec<bool> {
        is_held_out(&(0..self.held_out).collect::<Vec<_>>(), &self.folds)
    }
}

/// Whether each row is in one of the folds `some`.
pub(super) fn is_held_out(some: &[usize], folds: &Folds) -> Vec<bool> {
    let mut out = vec![false; folds.rows()];
    some.iter().flat_map(|&fold| folds.held_out(fold)).for_each(|&row| out[row] = true);
    out
}

/// The mean of values, if there are any.
pub(super) fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
