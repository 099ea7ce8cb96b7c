//! Open nodes of a search of all subsets.

use crate::order::TreeOrder;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// An open node: a lower bound of its subtree, and the indices of the groups that lead to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenNode(f64, Vec<usize>);

impl OpenNode {
    pub fn new(bound: f64, way: Vec<usize>) -> Self {
        // An unknown bound becomes a number that can be serialized.
        OpenNode(bound.clamp(f64::MIN, f64::MAX), way)
    }

    /// The bound; −∞ if unknown.
    pub fn bound(&self) -> f64 {
        if self.0 == f64::MIN { f64::NEG_INFINITY } else { self.0 }
    }

    pub fn way(&self) -> &[usize] {
        &self.1
    }

    /// The place from which groups may follow, and the size of the subset.
    pub fn at(&self, order: &TreeOrder) -> (usize, usize) {
        let size = self.1.iter().map(|&place| order.group(place).len()).sum::<usize>();
        (self.1.last().map_or(0, |last| last + 1), order.forced.len() + size)
    }
}

impl Ord for OpenNode {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then_with(|| self.1.cmp(&other.1))
    }
}

impl PartialOrd for OpenNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OpenNode {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OpenNode {}
