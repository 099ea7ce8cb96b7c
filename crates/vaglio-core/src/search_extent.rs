//! The extent of a search.

/// The extent of a search: sizes, trials and steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchExtent {
    /// Size of the subset at the start.
    pub start: usize,
    /// Size of the largest subset that is reached.
    pub largest: usize,
    /// Maximum number of subsets that are scored; the start counts if no other is.
    pub trials: f64,
    /// Maximum number of steps.
    pub steps: usize,
}

impl SearchExtent {
    /// A single subset of `size` columns, without a search.
    pub fn fixed(size: usize) -> Self {
        SearchExtent { start: size, largest: size, trials: 1.0, steps: 0 }
    }

    /// Additions one by one, from the empty subset to `largest` of `candidates` columns.
    pub fn forward(candidates: usize, largest: usize) -> Self {
        let largest = largest.min(candidates);
        let trials = (0..largest).map(|size| (candidates - size) as f64).sum::<f64>().max(1.0);
        SearchExtent { start: 0, largest, trials, steps: largest }
    }

    /// Removals one by one, from all of `candidates` columns to `smallest`.
    pub fn backward(candidates: usize, smallest: usize) -> Self {
        let steps = candidates.saturating_sub(smallest);
        let trials = (smallest + 1..=candidates).map(|size| size as f64).sum::<f64>().max(1.0);
        SearchExtent { start: candidates, largest: candidates, trials, steps }
    }

    /// Whether there is one subset, and nothing to search.
    pub fn keeps_all(&self) -> bool {
        *self == SearchExtent::fixed(self.start)
    }
}
