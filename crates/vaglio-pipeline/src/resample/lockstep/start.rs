//! Where the walks of a fold stand at the first checkpoint, which depends on no other fold.

use super::Reached;
use crate::resample::tally::Tally;
use crate::resample::walks::Trail;
use serde::{Deserialize, Serialize};

/// The walks of a fold at the first checkpoint: most runs choose a size before it, and end there.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::resample) struct FoldStart {
    /// What all columns lose at some λ.
    pub full: Vec<Tally>,
    /// How many λ go together, and how many clusters tallies tell apart.
    pub extent: (usize, u32),
    /// Of every λ its trail, and whether the walk may go on.
    pub walks: Vec<(Trail, bool)>,
}

impl Reached {
    /// At the first checkpoint, at the λ of these places.
    pub(super) fn of(starts: &[FoldStart], places: &[usize]) -> Self {
        let trails = |start: &FoldStart| places.iter().map(|&at| start.walks[at].0.clone()).collect();
        let is_paused = |&at: &usize| starts.iter().any(|start| start.walks[at].1);
        Reached { trails: starts.iter().map(trails).collect(), paused: places.iter().map(is_paused).collect() }
    }
}

impl FoldStart {
    /// Whether it is of so many λ.
    pub fn is_of(&self, lambdas: usize) -> bool {
        self.walks.len() == lambdas && self.extent.0 > 0
    }
}
