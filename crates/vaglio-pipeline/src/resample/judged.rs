//! What a chosen subset is worth beside none, beside its neighbors in size and beside all columns.

use super::interval::{IntervalEstimate, Judged};
use super::table::Matched;
use super::tally::Tally;
use vaglio_core::Loss;
use vaglio_report::record::{Against, LossDifference};

/// What the folds lost at the λ that was chosen, repeat by repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldLosses {
    /// By size.
    pub sizes: Vec<OfSize>,
    /// Of each fold at the size and λ that the others of its repeat choose; none where the lowest loss was not taken.
    pub(crate) by_others: Vec<Tally>,
    /// How often rows were dealt into folds.
    pub repeats: usize,
}

/// What the folds lost at a size of the walk on all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct OfSize {
    /// The size.
    pub size: usize,
    losses: Vec<Tally>,
}

impl OfSize {
    /// The losses, in folds that were dealt so many times.
    pub fn judged(&self, repeats: usize) -> Judged<'_> {
        Judged::of(&self.losses, repeats)
    }
}

impl FoldLosses {
    /// At no columns, at a size and those beside it, and at all columns, as far as every fold reached them.
    pub(super) fn new(matched: &Matched<'_>, size: usize, by_others: Vec<Tally>) -> Self {
        let near = [Some(0), size.checked_sub(1), Some(size), Some(size + 1), matched.everything];
        let mut sizes: Vec<usize> = near.into_iter().flatten().collect();
        sizes.sort_unstable();
        sizes.dedup();
        // No columns are in every walk, also where they may not be the result.
        sizes.retain(|&near| near == 0 || matched.has(near));
        let of_size = |size: usize| OfSize {
            size,
            losses: match size {
                0 => matched.empties().into_iter().cloned().collect(),
                _ => matched.parts(size).into_iter().cloned().collect(),
            },
        };
        FoldLosses { sizes: sizes.into_iter().map(of_size).collect(), by_others, repeats: matched.repeats }
    }

    /// Those of a size.
    pub fn at(&self, size: usize) -> Option<&OfSize> {
        self.sizes.iter().find(|of| of.size == size)
    }

    /// What choosing the lowest of many losses gained: the loss of each fold at what the others choose, less that at the size.
    pub fn gained(&self, loss: &dyn Loss, taken: &OfSize) -> f64 {
        let mean = |of: &[Tally]| Tally::mean(loss, &of.iter().collect::<Vec<_>>()).ok();
        let by_others = if taken.size == 0 { None } else { mean(&self.by_others) };
        by_others.zip(mean(&taken.losses)).map_or(0.0, |(by_others, own)| by_others - own)
    }
}

/// What is known of how two losses differ.
pub fn difference(
    against: Against,
    size: usize,
    IntervalEstimate { mean, interval }: IntervalEstimate,
) -> LossDifference {
    LossDifference { against, size, mean, interval }
}
