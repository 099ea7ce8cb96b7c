//! Rounds of held-out rows.
//!
//! A round is a partition of all rows into folds, some of which may never be held out. A validation set is one round
//! with a fold for training alone. Repeated folds are several rounds whose results are averaged trial by trial. Folds
//! with their own training rows record the blocks of rows that these are unions of. Their moments are sums of the
//! products of blocks, so forward chaining is scored like k-fold. Engines based on G = I − H of all rows (held-out
//! rows, decompositions) do not support them. So other losses refit each fold.

use ndarray::Array2;
use vaglio_core::{Design, Feature, Result};
use vaglio_kernels::Folds;

/// Rows in folds; the first folds are held out in turn. Other rows are in every training set, unless folds list theirs.
#[derive(Clone)]
pub(super) struct RepeatFolds {
    /// The folds. The rest, if there is one, is the fold after the held-out ones.
    pub folds: Folds,
    /// Number of held-out folds.
    pub held_out: usize,
}

impl RepeatFolds {
    /// Creates the round; rows that no fold holds out are the rest.
    pub fn new(round: &vaglio_core::Round) -> Self {
        let held_out = round.count();
        let labels: Vec<u32> = round.fold_of_rows().iter().map(|fold| fold.unwrap_or(held_out as u32)).collect();
        let folds = Folds::new(&labels);
        let folds = match round.trainings() {
            Some(training) => folds.training_on(training.to_vec()),
            None => folds,
        };
        RepeatFolds { folds, held_out }
    }

    /// Holds out every row by itself.
    pub fn single(rows: usize) -> Self {
        RepeatFolds { folds: Folds::single(rows), held_out: rows }
    }

    /// The training rows of each held-out fold, in increasing order.
    pub fn trainings(&self) -> impl Iterator<Item = Vec<usize>> {
        (0..self.held_out).map(|fold| self.folds.training(fold))
    }

    /// Predicts the held-out rows by training each fold: outputs × rows, 0 for other rows.
    ///
    /// # Errors
    /// Returns an error of the learner.
    pub fn retrain(&self, design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<Array2<f64>> {
        let mut predictions = Array2::zeros(design.targets().dim());
        for (fold, training) in self.trainings().enumerate() {
            let held_out = self.folds.held_out(fold);
            let predicted = design.retrain(&training, held_out, subset, lambda)?;
            for (&row, column) in held_out.iter().zip(predicted.columns()) {
                predictions.column_mut(row).assign(&column);
            }
        }
        Ok(predictions)
    }

    /// Each held-out fold as a separate round.
    pub fn each_fold(&self) -> impl Iterator<Item = RepeatFolds> {
        (0..self.held_out).map(|fold| {
            let labels: Vec<u32> = self.folds.is_held_out_in(&[fold]).iter().map(|&is_in| u32::from(!is_in)).collect();
            let folds = Folds::new(&labels);
            match self.folds.is_of_others() {
                true => RepeatFolds { folds, held_out: 1 },
                false => RepeatFolds { folds: folds.training_on(vec![self.folds.training(fold)]), held_out: 1 },
            }
        })
    }

    /// Whether every row is held out.
    pub fn is_partition(&self) -> bool {
        self.folds.count() == self.held_out
    }

    /// The smallest number of training rows of a fold.
    pub fn least_training(&self) -> usize {
        let others = |fold: usize| self.folds.rows() - self.folds.held_out(fold).len();
        let training_rows =
            |fold: usize| if self.folds.is_of_others() { others(fold) } else { self.folds.training(fold).len() };
        (0..self.held_out).map(training_rows).min().unwrap_or(0)
    }
}

/// The rows of the first `held_out` folds, in increasing order.
pub(super) fn rows_held_out(folds: &Folds, held_out: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..held_out).flat_map(|fold| folds.held_out(fold)).copied().collect();
    rows.sort_unstable();
    rows
}
