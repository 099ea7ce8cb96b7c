//! Losses of the chosen subset compared with the empty one, neighboring sizes and all columns.

use super::interval::{IntervalEstimate, OuterFoldLosses};
use super::loss_sums::LossSums;
use super::table::PooledFolds;
use vaglio_core::Loss;
use vaglio_report::record::{ComparisonColumns, LossDifference};

/// Losses of the folds at the chosen λ, repeat by repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldLosses {
    /// Losses by size.
    pub sizes: Vec<SizeLosses>,
    /// Loss of each fold at the size and λ that the others of its repeat choose; empty unless the lowest loss was
    /// chosen.
    pub(crate) by_others: Vec<LossSums>,
    /// Number of random splits into folds.
    pub repeats: usize,
}

/// Losses of the folds at a size of the path of all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeLosses {
    /// The size.
    pub size: usize,
    losses: Vec<LossSums>,
}

impl SizeLosses {
    /// The losses, with the number of random splits.
    pub fn judged(&self, repeats: usize) -> OuterFoldLosses<'_> {
        OuterFoldLosses::new(&self.losses, repeats)
    }

    /// Standard error of the difference to losses on the same folds.
    pub(super) fn difference(&self, loss: &dyn Loss, other: &SizeLosses, repeats: usize) -> Option<f64> {
        let [own, other] = [self, other].map(|of| of.losses.iter().collect::<Vec<_>>());
        LossSums::difference(loss, &own, &other, repeats)
    }
}

impl FoldLosses {
    /// Losses of no columns, the chosen size and its neighbors, and all columns, where every fold reached them.
    pub(super) fn new(matched: &PooledFolds<'_>, size: usize, by_others: Vec<LossSums>) -> Self {
        let near = [Some(0), size.checked_sub(1), Some(size), Some(size + 1), matched.everything];
        let mut sizes: Vec<usize> = near.into_iter().flatten().collect();
        sizes.sort_unstable();
        sizes.dedup();
        // Every search has the empty subset, even if it cannot be the result.
        sizes.retain(|&near| near == 0 || matched.has(near));
        let of_size = |size: usize| SizeLosses {
            size,
            losses: match size {
                0 => matched.empties().into_iter().cloned().collect(),
                _ => matched.parts(size).into_iter().cloned().collect(),
            },
        };
        FoldLosses { sizes: sizes.into_iter().map(of_size).collect(), by_others, repeats: matched.repeats }
    }

    /// Losses at a size.
    pub fn at(&self, size: usize) -> Option<&SizeLosses> {
        self.sizes.iter().find(|of| of.size == size)
    }

    /// Optimism of choosing the lowest of many losses: the loss of each fold at the choice of the others, minus that at
    /// the size.
    pub fn gained(&self, loss: &dyn Loss, taken: &SizeLosses) -> f64 {
        let mean = |of: &[LossSums]| LossSums::mean(loss, &of.iter().collect::<Vec<_>>()).ok();
        let by_others = if taken.size == 0 { None } else { mean(&self.by_others) };
        by_others.zip(mean(&taken.losses)).map_or(0.0, |(by_others, own)| by_others - own)
    }
}

/// Record of the difference of two losses.
pub fn difference(
    against: ComparisonColumns,
    size: usize,
    IntervalEstimate { mean, interval }: IntervalEstimate,
) -> LossDifference {
    LossDifference { against, size, mean, interval }
}
