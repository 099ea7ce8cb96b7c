//! The extent of a search.

use crate::Design;
use crate::engine::EngineDesign;

/// The extent of a search: sizes, trials and steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outline {
    /// Size of the starting subset.
    pub start: usize,
    /// Size of the largest subset.
    pub largest: usize,
    /// Largest number of scored subsets. The start counts only if nothing else is scored.
    pub trials: f64,
    /// Largest number of steps.
    pub steps: usize,
}

impl Outline {
    /// Additions one by one, from the empty subset to `largest` of `candidates` columns.
    pub fn forward(candidates: usize, largest: usize) -> Self {
        let largest = largest.min(candidates);
        let trials = (0..largest).map(|size| (candidates - size) as f64).sum::<f64>().max(1.0);
        Outline { start: 0, largest, trials, steps: largest }
    }

    /// Removals one by one, from all of `candidates` columns to `smallest`.
    pub fn backward(candidates: usize, smallest: usize) -> Self {
        let steps = candidates.saturating_sub(smallest);
        let trials = (smallest + 1..=candidates).map(|size| size as f64).sum::<f64>().max(1.0);
        Outline { start: candidates, largest: candidates, trials, steps }
    }

    /// Whether every column is kept, so that there is only one subset.
    pub fn keeps_all(&self) -> bool {
        self.start == self.largest && self.steps == 0 && self.trials == 1.0
    }

    /// Whether the score of the only subset is never needed: the walk is judged on other rows, and its λ is given.
    pub fn is_unscored(&self, design: &Design) -> bool {
        self.keeps_all() && !design.has_errors() && design.lambdas().len() == 1
    }
}
