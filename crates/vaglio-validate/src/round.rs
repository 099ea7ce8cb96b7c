//! Rounds of held-out rows.
//!
//! A round is folds of all rows, of which some may never be held out: a validation set is one round with a fold that is trained on alone,
//! repeated folds are several rounds whose outcomes are averaged trial by trial. Folds that are trained on rows of their own know the blocks that
//! these are unions of, so their moments are sums of the products of blocks and forward chaining is scored like k-fold. What rests on
//! G = I − H of all rows (rows held out, decompositions) does not serve them, so other losses refit each fold.

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
    /// Rows that are held out in no fold are the rest.
    pub fn new(round: &vaglio_core::Round) -> Self {
        let held_out = round.count();
        let of_row: Vec<u32> = round.of_row().iter().map(|fold| fold.unwrap_or(held_out as u32)).collect();
        let folds = Folds::new(&of_row);
        let folds = match round.trainings() {
            Some(training) => folds.training_on(training.to_vec()),
            None => folds,
        };
        Round { folds, held_out }
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
            let of_row: Vec<u32> = is_held_out(&[fold], &self.folds).iter().map(|&is_in| u32::from(!is_in)).collect();
            let folds = Folds::new(&of_row);
            match self.folds.is_of_others() {
                true => Round { folds, held_out: 1 },
                false => Round { folds: folds.training_on(vec![self.folds.training(fold)]), held_out: 1 },
            }
        })
    }

    /// Whether every row is held out.
    pub fn is_partition(&self) -> bool {
        self.folds.count() == self.held_out
    }

    /// The least number of rows that a fold is trained on.
    pub fn least_training(&self) -> usize {
        let others = |fold: usize| self.folds.rows() - self.folds.held_out(fold).len();
        let of_fold =
            |fold: usize| if self.folds.is_of_others() { others(fold) } else { self.folds.training(fold).len() };
        (0..self.held_out).map(of_fold).min().unwrap_or(0)
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
