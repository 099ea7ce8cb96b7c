//! How far a search goes.

use crate::Design;
use crate::engine::EngineDesign;

/// The extent of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outline {
    /// The size of the subset that it starts from.
    pub start: usize,
    /// The largest subset that is reached.
    pub largest: usize,
    /// Subsets that are scored, at most; the start counts where nothing else does.
    pub trials: f64,
    /// Steps that are taken, at most.
    pub steps: usize,
}

impl Outline {
    /// Additions one by one from nothing to `largest` of `candidates` columns.
    pub fn forward(candidates: usize, largest: usize) -> Self {
        let largest = largest.min(candidates);
        let trials = (0..largest).map(|size| (candidates - size) as f64).sum::<f64>().max(1.0);
        Outline { start: 0, largest, trials, steps: largest }
    }

    /// Removals one by one from all of `candidates` columns to `smallest`.
    pub fn backward(candidates: usize, smallest: usize) -> Self {
        let steps = candidates.saturating_sub(smallest);
        let trials = (smallest + 1..=candidates).map(|size| size as f64).sum::<f64>().max(1.0);
        Outline { start: candidates, largest: candidates, trials, steps }
    }

    /// Whether every column stays: there is one subset, and nothing to search.
    pub fn keeps_all(&self) -> bool {
        self.start == self.largest && self.steps == 0 && self.trials == 1.0
    }

    /// Whether nobody asks for the score of the only subset: the walk is judged on other rows, and its λ is given.
    pub fn is_unscored(&self, design: &Design) -> bool {
        self.keeps_all() && !design.has_errors() && design.lambdas().len() == 1
    }
}
