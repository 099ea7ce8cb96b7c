//! Losses of the chosen subset compared with the empty one, neighboring sizes and all columns.

use super::loss_sums::{FoldLosses, LossSums};
use std::collections::BTreeMap;
use vaglio_core::Loss;

/// Losses of the folds at the chosen λ and some sizes, repeat by repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeLosses {
    /// Losses by size of the path of all rows.
    pub(super) sizes: BTreeMap<usize, Vec<LossSums>>,
    /// Loss of each fold at the choice of the others of its repeat; empty unless the rule takes the lowest loss.
    pub(super) by_others: Vec<LossSums>,
    /// Number of random splits into folds.
    pub(super) repeats: usize,
}

impl SizeLosses {
    /// Sizes with losses, in increasing order.
    pub fn sizes(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.sizes.keys().copied()
    }

    /// Losses at a size.
    pub fn at(&self, size: usize) -> Option<FoldLosses<'_>> {
        self.sizes.get(&size).map(|losses| FoldLosses::new(losses, self.repeats))
    }

    /// Optimism of choosing the lowest of many losses: the loss of each fold at the choice of the others, minus that at
    /// the size.
    pub fn gained(&self, loss: &dyn Loss, size: usize) -> f64 {
        let by_others = FoldLosses::new(&self.by_others, self.repeats).mean(loss).ok().filter(|_| size > 0);
        let own = self.at(size).and_then(|losses| losses.mean(loss).ok());
        by_others.zip(own).map_or(0.0, |(by_others, own)| by_others - own)
    }
}
