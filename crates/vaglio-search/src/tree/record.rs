//! Snapshots of a search of all subsets, for resumption after an interruption.

use super::best_subsets::BestSubsets;
use super::frontier::OpenNode;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;
use vaglio_core::{Diagnostics, Journal};

/// The position and knowledge of a search; a snapshot resumes at the last child of the trail.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SearchState {
    /// The open nodes, lowest bound first.
    pub open: BinaryHeap<Reverse<OpenNode>>,
    /// The node that is being searched depth first; `trail` has the indices of the groups from it to the current node.
    pub within: Option<OpenNode>,
    pub trail: Vec<usize>,
    /// Best subsets of a greedy search and exchanges, before the tree is entered.
    pub start: BestSubsets,
    /// Best subsets found in the tree.
    pub found: BestSubsets,
    pub visited: u64,
    pub pruned: u64,
    /// Diagnostics of trials before the recorder started.
    #[serde(default, rename = "health")]
    pub diagnostics: Option<Diagnostics>,
}

/// The snapshots of a search in its journal.
pub(crate) struct SearchSnapshots {
    journal: Journal,
    /// Number of written snapshots, and the time of the last.
    written: (usize, Instant),
    /// Number of nodes since the start; it determines when to check the clock.
    nodes: u64,
    /// The trail of an earlier run, from the first place that is not reached again yet.
    pub ahead: std::vec::IntoIter<usize>,
}

/// Number of nodes between two checks of the clock.
const LOOK_EVERY: u64 = 8;

impl SearchSnapshots {
    pub fn new(journal: Journal) -> Self {
        SearchSnapshots { journal, written: (0, Instant::now()), nodes: 0, ahead: Vec::new().into_iter() }
    }

    /// Whether the search is still on its way to the position of an earlier run.
    pub fn is_behind(&self) -> bool {
        self.ahead.len() > 0
    }

    /// The last snapshot of an earlier run.
    pub fn last<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut last = None;
        while let Some(snapshot) = self.journal.recall(self.written.0 + 1) {
            (last, self.written.0) = (Some(snapshot), self.written.0 + 1);
        }
        last
    }

    /// Whether a snapshot of `lines` lines is worth its time; counts a node.
    pub fn is_due(&mut self, lines: usize) -> bool {
        self.nodes += 1;
        self.nodes.is_multiple_of(LOOK_EVERY) && self.is_worth(lines)
    }

    /// Whether a snapshot of `lines` lines is worth its time now.
    pub fn is_worth(&self, lines: usize) -> bool {
        self.journal.is_worth(self.written.1, lines)
    }

    pub fn write<T: Serialize>(&mut self, snapshot: &T) {
        self.written = (self.written.0 + 1, Instant::now());
        self.journal.keep(self.written.0, snapshot);
    }
}
