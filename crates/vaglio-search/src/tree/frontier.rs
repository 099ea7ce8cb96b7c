//! What a search of all subsets has still to enter.

use crate::order::Order;
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A node that is still to be entered: a bound of what is below it, and the group by which each node on the way continues,
/// by its place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenNode(f64, Vec<usize>);

/// All of them, from which the one of the lowest bound is taken first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Frontier(BinaryHeap<Reverse<OpenNode>>);

impl OpenNode {
    pub fn new(bound: f64, way: Vec<usize>) -> Self {
        // Where nothing is known, a number that can be written.
        OpenNode(bound.clamp(f64::MIN, f64::MAX), way)
    }

    /// −∞ where nothing is known.
    pub fn bound(&self) -> f64 {
        if self.0 == f64::MIN { f64::NEG_INFINITY } else { self.0 }
    }

    pub fn way(&self) -> &[usize] {
        &self.1
    }

    /// The place from which groups may follow, and how many features the subset has.
    pub fn at(&self, order: &Order) -> (usize, usize) {
        let size = self.1.iter().map(|&place| order.group(place).len()).sum::<usize>();
        (self.1.last().map_or(0, |last| last + 1), order.forced.len() + size)
    }
}

impl Frontier {
    pub fn push(&mut self, open: OpenNode) {
        self.0.push(Reverse(open));
    }

    pub fn pop(&mut self) -> Option<OpenNode> {
        self.0.pop().map(|Reverse(open)| open)
    }

    /// The lowest bound.
    pub fn least(&self) -> Option<f64> {
        self.0.peek().map(|Reverse(open)| open.bound())
    }

    pub fn len(&self) -> usize {
        self.0.len()
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
