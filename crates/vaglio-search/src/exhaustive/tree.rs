//! The tree of all subsets, without subtrees that are proven worse. Large subtrees are searched best bound first, small
//! ones depth first.

mod depth_first;

use super::best_subsets::OpenSubtree;
use super::order::TreeOrder;
use super::progress::{BestSubsets, TreeProgress};
use crate::space::Space;
use crate::{Certificate, Monitor, SubsetScorer};
use vaglio_core::{Error, Evaluator, Feature, Result, StopReason};

/// Largest number of subsets between two questions to the observer.
const ASK_EVERY: u64 = 4096;

/// Divisor of the number of subsets, and smallest size, that determine which subtrees are searched depth first.
const SUBTREES: u64 = 1024;
const LEAST_SUBTREE: u64 = 64;

/// Search of all subsets by a tree, with its position.
///
/// The fixed columns of an open subtree are the places of the groups that lead to it; only later groups may follow.
pub(crate) struct SubsetTree<'a> {
    progress: TreeProgress<'a>,
    /// The subset of the current node.
    subset: Vec<Feature>,
    /// The places of the groups that lead to the open subtree that is searched.
    way: Vec<usize>,
    /// Number of subsets visited or ruled out at the last question to the observer.
    asked: u64,
    /// Lowest bound of the part that a stop leaves out.
    left: f64,
}

impl<'a> SubsetTree<'a> {
    pub fn new(order: &'a TreeOrder, space: &'a Space<'a>, monitor: &'a mut Monitor<'_>) -> Self {
        let (subset, way) = (order.forced.clone(), Vec::new());
        let progress = TreeProgress::new(order, space, monitor);
        SubsetTree { progress, subset, way, asked: 0, left: f64::INFINITY }
    }

    /// Visits every subset that is not proven worse, until the observer stops the search. Returns the best subsets, the
    /// certificate, and the stop reason.
    pub fn search(mut self, subset: &mut SubsetScorer<'_>) -> Result<(BestSubsets, Certificate, StopReason)> {
        match self.progress.monitor.stop.clone().ends(|| self.visit(subset)) {
            Err(Error::Stopped(reason)) => {
                // Stopped in the middle of a node, so there is no bound of the remaining part.
                (self.progress.stopped, self.left) = (Some(reason), f64::NEG_INFINITY);
            }
            done => done?,
        }
        Ok(self.progress.finish(self.left, self.progress.state.pruned, subset.shortcut.bound))
    }

    fn visit(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let order = self.progress.order;
        let is_known = self.progress.recall();
        if !is_known {
            self.begin(subset)?;
        }
        subset.reset(&order.forced)?;
        if !is_known {
            self.progress.visit_forced(subset)?;
            self.progress.state.diagnostics = subset.diagnostics;
        }
        self.progress.start_recorder(subset);
        let done = self.walk_from(subset.lend()?, is_known);
        subset.diagnostics = self.progress.diagnostics();
        done.map_err(|error| subset.blame(error, &self.subset))
    }

    /// Searches the whole tree, with a fork if the evaluator has one.
    fn walk_from(&mut self, root: &mut dyn Evaluator, is_known: bool) -> Result<()> {
        let order = self.progress.order;
        if let Some(mut fork) = root.fork(&order.forced, order.later(0))? {
            return self.best_first(&mut *fork, is_known);
        }
        self.best_first(root, is_known)
    }

    /// Enters open subtrees, lowest bound first, until none can contain a better subset.
    fn best_first(&mut self, root: &mut dyn Evaluator, is_known: bool) -> Result<()> {
        let order = self.progress.order;
        if !is_known {
            self.open(root, 0, Vec::new())?;
        }
        while !self.ask() {
            self.progress.keep();
            let Some(open) = self.progress.state.open.pop() else { return Ok(()) };
            let (bound, way) = (open.score_bound(), open.fixed);
            let size = order.forced.len() + way.iter().map(|&place| order.group(place).len()).sum::<usize>();
            let place = way.last().map_or(0, |last| last + 1);
            if self.is_ruled_out(bound, place, size) {
                self.prune(place, size);
                continue;
            }
            self.way = way;
            self.enter(root, &self.way.clone(), 0)?;
        }
        let next = self.progress.state.open.peek();
        self.left = next.map_or(self.left, |open| self.left.min(open.score_bound()));
        Ok(())
    }

    /// Opens the subtree of the groups from `place` on below a node that `way` leads to.
    fn open(&mut self, node: &mut dyn Evaluator, place: usize, way: Vec<usize>) -> Result<()> {
        let bound = self.bound(node, place)?;
        self.progress.state.open.push(OpenSubtree::new(way).with_score_bound(bound));
        Ok(())
    }

    /// Counts the subsets below a place and a size as ruled out.
    fn prune(&mut self, place: usize, size: usize) {
        let TreeProgress { state, order, .. } = &mut self.progress;
        state.pruned = state.pruned.saturating_add(order.count_below(place, size));
    }

    /// Whether a bound proves that no subset below a place and a size is among the best.
    fn is_ruled_out(&self, bound: f64, place: usize, size: usize) -> bool {
        self.progress.order.below(place, size).all(|(size, _)| bound > self.progress.threshold(size))
    }

    /// Runs a greedy search first. Adds exchanges if their result can rule out subtrees.
    fn begin(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let bounded = self.bound(subset.lend()?, 0)? > f64::NEG_INFINITY;
        let exchanges = bounded && self.progress.total > (self.progress.space.features() as u64).pow(3);
        self.progress.propose_greedy(subset, exchanges)
    }

    /// Asks the observer whether to stop.
    fn ask(&mut self) -> bool {
        self.asked = self.progress.state.visited + self.progress.state.pruned;
        self.progress.ask(self.asked)
    }
}
