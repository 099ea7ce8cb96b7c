//! The tree of all subsets, without subtrees that are proven worse. Large subtrees are searched best bound first, small
//! ones depth first.

mod best_first;
mod best_subsets;
mod depth_first;
mod frontier;
mod record;

use crate::SubsetScorer;
use crate::order::TreeOrder;
use crate::polish::best_exchange;
use crate::space::Space;
pub(crate) use best_subsets::BestSubsets;
use frontier::OpenNode;
pub(crate) use record::SearchSnapshots;
use record::SearchState;
use std::collections::BinaryHeap;
use vaglio_core::{
    Action, Answer, Certificate, Diagnostics, Error, Evaluator, Event, Feature, Monitor, Recorder, Result, StopReason,
};
use vaglio_kernels::tolerance::SCORE_ROUNDING;

/// Largest number of subsets between two questions to the observer.
const ASK_EVERY: u64 = 4096;

/// Divisor of the number of subsets, and smallest size, that determine which subtrees are searched depth first.
const SUBTREES: u64 = 1024;
const LEAST_SUBTREE: u64 = 64;

/// Search of all subsets by a tree, with its position.
pub(crate) struct SubsetTree<'a> {
    order: &'a TreeOrder,
    space: &'a Space<'a>,
    monitor: Monitor<'a>,
    known: SearchState,
    /// The subset of the current node.
    subset: Vec<Feature>,
    total: u64,
    /// Number of subsets visited or ruled out at the last question to the observer.
    asked: u64,
    stopped: Option<StopReason>,
    /// Lowest bound of the part that a stop leaves out.
    left: f64,
    /// Largest number of subsets in a subtree that is searched depth first.
    small: u64,
    /// Name of the source of the bounds.
    bound_by: Option<&'static str>,
    recorder: Recorder,
    record: SearchSnapshots,
}

impl<'a> SubsetTree<'a> {
    pub fn new(order: &'a TreeOrder, space: &'a Space<'a>, monitor: &'a mut Monitor<'_>) -> Self {
        let total = order.count();
        let journal = monitor.journal.within("tree");
        let nothing = BestSubsets::new(order.most);
        SubsetTree {
            order,
            space,
            monitor: monitor.with_journal(journal.clone()),
            known: SearchState {
                open: BinaryHeap::new(),
                within: None,
                trail: Vec::new(),
                start: nothing.clone(),
                found: nothing,
                visited: 0,
                pruned: 0,
                diagnostics: None,
            },
            subset: order.forced.clone(),
            total,
            asked: 0,
            stopped: None,
            left: f64::INFINITY,
            small: (total / SUBTREES).max(LEAST_SUBTREE),
            bound_by: None,
            recorder: Recorder::default(),
            record: SearchSnapshots::new(journal),
        }
    }

    /// Visits every subset that is not proven worse, until the observer stops the search.
    pub fn search(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        match self.monitor.stop.clone().ends(|| self.visit(subset)) {
            Err(Error::Stopped(reason)) => {
                // Stopped in the middle of a node, so there is no bound of the remaining part.
                (self.stopped, self.left) = (Some(reason), f64::NEG_INFINITY);
                Ok(())
            }
            done => done,
        }
    }

    fn visit(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let order = self.order;
        let is_known = self.recall();
        if !is_known {
            self.begin(subset)?;
        }
        subset.reset(&order.forced)?;
        if !is_known && !order.forced.is_empty() && order.forced.len() >= order.least {
            let score = subset.score()?;
            if self.space.features_keep_signs(&order.forced, score)? {
                self.known.found.offer(&order.forced, &[], score.loss);
            }
            self.known.visited += 1;
        }
        if !is_known {
            self.known.diagnostics = subset.diagnostics();
        }
        (self.recorder, self.bound_by) = (subset.recorder(), subset.engine().bound);
        self.recorder.take();
        let done = self.walk_from(subset.lend()?, is_known);
        subset.recall_diagnostics(self.diagnostics());
        done.map_err(|error| subset.blame(error, &self.subset))
    }

    /// Searches the whole tree, with a fork if the evaluator has one.
    fn walk_from(&mut self, root: &mut dyn Evaluator, is_known: bool) -> Result<()> {
        if let Some(mut fork) = root.fork(&self.order.forced, self.order.later(0))? {
            return self.best_first(&mut *fork, is_known);
        }
        self.best_first(root, is_known)
    }

    /// The diagnostics of all trials so far.
    fn diagnostics(&self) -> Option<Diagnostics> {
        Diagnostics::merge([self.known.diagnostics, self.recorder.diagnostics()])
    }

    /// Restores the last snapshot of an earlier run; false if there is none.
    fn recall(&mut self) -> bool {
        let Some(known) = self.record.last() else { return false };
        self.known = known;
        self.asked = self.known.visited + self.known.pruned;
        self.record.ahead = std::mem::take(&mut self.known.trail).into_iter();
        true
    }

    /// Number of features that the subset may still gain.
    fn room(&self) -> usize {
        self.order.most - self.subset.len()
    }

    /// Counts the subsets below a place and a size as ruled out.
    fn prune(&mut self, place: usize, size: usize) {
        self.known.pruned = self.known.pruned.saturating_add(self.order.count_below(place, size));
    }

    /// Whether a bound proves that no subset below a place and a size is among the best.
    fn is_ruled_out(&self, bound: f64, place: usize, size: usize) -> bool {
        self.order.below(place, size).all(|(size, _)| bound > self.threshold(size))
    }

    /// Writes a snapshot from time to time, at `child` of the node that the trail leads to.
    fn keep(&mut self, child: usize) {
        if !self.record.is_due(1 + self.known.open.len() / 4) {
            return;
        }
        let mut snapshot = SearchState { diagnostics: self.diagnostics(), ..self.known.clone() };
        snapshot.trail.push(child);
        self.record.write(&snapshot);
    }

    /// The best subsets, the certificate, and the stop reason.
    pub fn finish(self) -> (BestSubsets, Certificate, StopReason) {
        let SearchState { start, found, visited, pruned, .. } = self.known;
        let found = found.or(start);
        let bound = self.bound_by.filter(|_| pruned > 0);
        let mut certificate = found.certificate(self.stopped.is_none(), self.left, bound);
        (certificate.visited, certificate.pruned) = (visited, pruned);
        (found, certificate, self.stopped.unwrap_or(StopReason::AllSubsets))
    }

    /// Runs a greedy search first. Adds exchanges if their result can rule out subtrees.
    fn begin(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let (order, space) = (self.order, self.space);
        let bounded = self.bound(subset.lend()?, 0)? > f64::NEG_INFINITY;
        let exchanges = bounded && self.total > (space.features() as u64).pow(3);
        subset.reset(&order.forced)?;
        while !self.ask()
            && let Some(loss) = add_best(order, space, subset)?
        {
            let at = subset.selected().to_vec();
            self.propose(&at, loss);
            if exchanges {
                self.exchange(subset, at.clone(), loss)?;
                subset.reset(&at)?;
            }
        }
        Ok(())
    }

    /// Exchanges groups while that lowers the score.
    fn exchange(&mut self, subset: &mut SubsetScorer<'_>, mut at: Vec<Feature>, mut loss: f64) -> Result<()> {
        let space = self.space;
        while let Some((out, entering)) = best_exchange(space, subset, &at)? {
            if loss - entering.score.loss <= SCORE_ROUNDING * loss.abs() {
                break;
            }
            loss = entering.score.loss;
            at = space.after(&space.after(&at, Action::Remove, out), Action::Add, entering.group);
            self.propose(&at, loss);
        }
        Ok(())
    }

    fn propose(&mut self, subset: &[Feature], loss: f64) {
        if subset.len() >= self.order.least {
            self.known.start.offer(subset, &[], loss);
        }
    }

    /// Asks the observer whether to stop.
    fn ask(&mut self) -> bool {
        self.asked = self.known.visited + self.known.pruned;
        let visited = Event::Visited { done: self.asked as f64, of: self.total as f64 };
        if let Answer::Stop(reason) = self.monitor.show(&visited) {
            self.stopped = Some(reason);
        }
        self.stopped.is_some()
    }
}

/// Adds the best group that fits within the largest size of an order; returns the loss, or `None` if there is none.
pub(crate) fn add_best(order: &TreeOrder, space: &Space<'_>, subset: &mut SubsetScorer<'_>) -> Result<Option<f64>> {
    let (inside, room) = (space.inside(subset.selected()), order.most - subset.selected().len());
    let fits = |group: &usize| !inside[*group] && space.groups[*group].len() <= room;
    let open: Vec<usize> = (0..inside.len()).filter(fits).collect();
    let Some(best) = space.best_addition(subset, &open)? else { return Ok(None) };
    space.groups[best.group].iter().try_for_each(|&feature| subset.add(feature))?;
    Ok(Some(best.score.loss))
}
