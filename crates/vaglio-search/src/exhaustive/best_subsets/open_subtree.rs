//! Subtrees of the tree of all subsets that are not explored yet.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// An unexplored subtree: subsets that contain the fixed columns and none of the excluded ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenSubtree {
    /// Lower bound of the scores in the subtree; `f64::MIN` if unknown.
    score_bound: f64,
    /// Lower bound of the residual sum of squares in the subtree; a finite number.
    pub squares_bound: f64,
    /// Fixed columns, in the order in which they were fixed.
    pub fixed: Vec<usize>,
    /// Excluded columns, in the order in which they were excluded.
    pub excluded: Vec<usize>,
    /// Whether the fixed columns with one more were already examined, so that only larger subsets remain.
    pub begun: bool,
}

impl OpenSubtree {
    /// Creates the whole tree above the fixed columns, without bounds.
    pub fn new(fixed: Vec<usize>) -> Self {
        OpenSubtree { score_bound: f64::MIN, squares_bound: f64::MIN, fixed, excluded: Vec::new(), begun: false }
    }

    /// Sets the lower bound of the scores; −∞ if unknown.
    #[must_use]
    pub fn with_score_bound(self, bound: f64) -> Self {
        // An unknown bound becomes a number that can be serialized.
        OpenSubtree { score_bound: bound.clamp(f64::MIN, f64::MAX), ..self }
    }

    /// Lower bound of the scores; −∞ if unknown.
    pub fn score_bound(&self) -> f64 {
        if self.score_bound == f64::MIN { f64::NEG_INFINITY } else { self.score_bound }
    }
}

impl Eq for OpenSubtree {}

/// The lowest bound of scores is the greatest, so that a heap returns it first.
impl Ord for OpenSubtree {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.score_bound.total_cmp(&self.score_bound);
        by_score.then_with(|| (&other.fixed, &other.excluded).cmp(&(&self.fixed, &self.excluded)))
    }
}

impl PartialOrd for OpenSubtree {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
