//! State of a fold's searches at the first checkpoint, which does not depend on other folds.

use super::Reached;
use crate::resample::loss_sums::LossSums;
use crate::resample::walks::FoldPath;
use serde::{Deserialize, Serialize};

/// Searches of a fold up to the first checkpoint. Most runs choose a smaller size, and end there.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::resample) struct FoldStart {
    /// Losses of all columns at some λ.
    pub full: Vec<LossSums>,
    /// Number of λ searched together, and number of clusters kept per loss sum.
    pub extent: (usize, u32),
    /// Losses of the path at every λ, and whether its search can continue.
    pub walks: Vec<(FoldPath, bool)>,
}

impl Reached {
    /// State at the first checkpoint, at the λ with these indices.
    pub(super) fn from_starts(starts: &[FoldStart], places: &[usize]) -> Self {
        let trails = |start: &FoldStart| places.iter().map(|&at| start.walks[at].0.clone()).collect();
        let is_paused = |&at: &usize| starts.iter().any(|start| start.walks[at].1);
        Reached { trails: starts.iter().map(trails).collect(), paused: places.iter().map(is_paused).collect() }
    }
}

impl FoldStart {
    /// Whether it covers this number of λ.
    pub fn is_of(&self, lambdas: usize) -> bool {
        self.walks.len() == lambdas && self.extent.0 > 0
    }
}
