//! The best subsets found so far.

use crate::{PathEntry, SubsetScorer};
use serde::{Deserialize, Serialize};
use vaglio_core::{Feature, Result, minimum};
use vaglio_kernels::tolerance::SCORE_ROUNDING;

/// The best subset of each size, with its features in increasing order.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct BestSubsets(Vec<Option<(Vec<Feature>, f64)>>);

impl BestSubsets {
    pub fn new(most: usize) -> Self {
        BestSubsets(vec![None; most + 1])
    }

    pub fn loss(&self, size: usize) -> f64 {
        self.0.get(size).and_then(Option::as_ref).map_or(f64::INFINITY, |(_, loss)| *loss)
    }

    /// The lowest loss of any size.
    pub fn lowest(&self) -> f64 {
        minimum(self.0.iter().flatten().map(|(_, loss)| *loss))
    }

    /// Offers a subset. Keeps it if it is the best of its size; ties go to the first in lexicographic order.
    pub fn offer(&mut self, subset: &[Feature], loss: f64) {
        if loss == f64::INFINITY || loss > self.loss(subset.len()) {
            return;
        }
        let Some(place) = self.0.get_mut(subset.len()) else { return };
        let mut sorted = subset.to_vec();
        sorted.sort_unstable();
        if place.as_ref().is_none_or(|(known, least)| loss < *least || sorted < *known) {
            *place = Some((sorted, loss));
        }
    }

    /// Score that a bound must exceed to rule out a size; `start` are the subsets known before the tree.
    pub fn threshold(&self, start: &BestSubsets, size: usize) -> f64 {
        let start = start.loss(size);
        self.loss(size).min(start + SCORE_ROUNDING * start.abs())
    }

    /// Fills in the subsets known before the tree where they are better, as after a stop.
    #[must_use]
    pub fn or(mut self, start: &BestSubsets) -> Self {
        for (subset, loss) in start.0.iter().flatten() {
            if *loss < self.loss(subset.len()) - SCORE_ROUNDING * loss.abs() {
                self.offer(subset, *loss);
            }
        }
        self
    }

    /// The entries of a path. Their scores are computed again, so that they do not depend on the way they were found.
    pub fn entries(self, subset: &mut SubsetScorer<'_>) -> Result<Vec<PathEntry>> {
        let mut entry = |(selected, _): (Vec<Feature>, f64)| {
            subset.reset(&selected)?;
            let score = subset.score()?;
            subset.entry(score)
        };
        self.0.into_iter().flatten().map(&mut entry).collect()
    }
}
