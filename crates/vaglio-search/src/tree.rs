//! The tree of all subsets, without subtrees that are proven worse. Large subtrees are searched best bound first, small
//! ones depth first.

mod best_first;
mod best_subsets;
mod depth_first;
mod frontier;
mod record;

use crate::SubsetScorer;
use crate::order::TreeOrder;
use crate::polish::{SelectedGroups, best_exchange};
use crate::space::Space;
pub(crate) use best_subsets::BestSubsets;
use frontier::{Frontier, OpenNode};
pub(crate) use record::SearchSnapshots;
use record::Snapshot;
use std::borrow::Cow;
use vaglio_core::{
    Answer, Certificate, Diagnostics, Error, Evaluator, Event, Feature, Monitor, Recorder, Result, StopReason,
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
    /// Best subsets of a greedy search and exchanges, before the tree is entered.
    start: BestSubsets,
    /// Best subsets found in the tree.
    found: BestSubsets,
    /// The subset of the current node.
    subset: Vec<Feature>,
    total: u64,
    visited: u64,
    pruned: u64,
    stop: TreeStop,
    /// The open nodes, and the node that is being searched depth first.
    open: Frontier,
    within: Option<OpenNode>,
    /// Largest number of subsets in a subtree that is searched depth first.
    small: u64,
    /// Indices of the groups that lead from that node to the current one.
    trail: Vec<usize>,
    /// Name of the source of the bounds.
    bound_by: Option<&'static str>,
    trials: TrialDiagnostics,
    record: SearchSnapshots,
}

/// Stop by the observer, and the part of the tree that is left out.
struct TreeStop {
    /// Number of subsets visited or ruled out at the last question to the observer.
    asked: u64,
    reason: Option<StopReason>,
    /// Lowest bound of the part that is left out.
    left: f64,
}

/// Recorder of the trials, and the diagnostics of an earlier run.
#[derive(Default)]
struct TrialDiagnostics {
    recorder: Recorder,
    before: Option<Diagnostics>,
}

impl<'a> SubsetTree<'a> {
    pub fn new(order: &'a TreeOrder, space: &'a Space<'a>, monitor: &'a mut Monitor<'_>) -> Self {
        let total = order.count();
        let journal = monitor.journal.within("tree");
        SubsetTree {
            order,
            space,
            monitor: monitor.with_journal(journal.clone()),
            start: BestSubsets::new(order.most),
            found: BestSubsets::new(order.most),
            subset: order.forced.clone(),
            total,
            visited: 0,
            pruned: 0,
            stop: TreeStop { asked: 0, reason: None, left: f64::INFINITY },
            open: Frontier::default(),
            within: None,
            small: (total / SUBTREES).max(LEAST_SUBTREE),
            trail: Vec::new(),
            bound_by: None,
            trials: TrialDiagnostics::default(),
            record: SearchSnapshots::new(journal),
        }
    }

    /// Visits every subset that is not proven worse, until the observer stops the search.
    pub fn search(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        match self.monitor.stop.clone().ends(|| self.visit(subset)) {
            Err(Error::Stopped(reason)) => {
                // Stopped in the middle of a node, so there is no bound of the remaining part.
                (self.stop.reason, self.stop.left) = (Some(reason), f64::NEG_INFINITY);
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
            if self.space.is_of_those_signs(&order.forced, score)? {
                self.found.offer(&order.forced, &[], score.loss);
            }
            self.visited += 1;
        }
        if !is_known {
            self.trials.before = subset.diagnostics();
        }
        (self.trials.recorder, self.bound_by) = (subset.recorder(), subset.engine().bound);
        self.trials.recorder.take();
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
        Diagnostics::merge([self.trials.before, self.trials.recorder.diagnostics()])
    }

    /// Restores the last snapshot of an earlier run; false if there is none.
    fn recall(&mut self) -> bool {
        let Some(snapshot) = self.record.last() else { return false };
        let Snapshot { open, within, trail, start, found, visited, pruned, diagnostics } = snapshot;
        self.trials.before = diagnostics;
        (self.open, self.within) = (open, within);
        (self.start, self.found, self.visited, self.pruned) = (start, found, visited, pruned);
        (self.stop.asked, self.record.ahead) = (visited + pruned, trail.into_iter());
        true
    }

    /// Number of features that the subset may still gain.
    fn room(&self) -> usize {
        self.order.most - self.subset.len()
    }

    /// Whether a bound proves that no subset below a place and a size is among the best.
    fn is_ruled_out(&self, bound: f64, place: usize, size: usize) -> bool {
        self.order.below(place, size).all(|(size, _)| bound > self.threshold(size))
    }

    /// Writes a snapshot from time to time, at `child` of the node that the trail leads to.
    fn keep(&mut self, child: usize) {
        if !self.record.is_due(1 + self.open.len() / 4) {
            return;
        }
        let snapshot = Snapshot {
            open: self.open.clone(),
            within: self.within.clone(),
            trail: self.trail.iter().copied().chain([child]).collect(),
            start: self.start.clone(),
            found: self.found.clone(),
            visited: self.visited,
            pruned: self.pruned,
            diagnostics: self.diagnostics(),
        };
        self.record.write(&snapshot);
    }

    /// The best subsets, the certificate, and the stop reason.
    pub fn finish(self) -> (BestSubsets, Certificate, StopReason) {
        let SubsetTree { start, found, visited, pruned, stop, bound_by, .. } = self;
        let found = found.or(start);
        let optimal = stop.reason.is_none();
        let gap = (found.lowest() - stop.left).max(0.0);
        let gap = if optimal { Some(0.0) } else { gap.is_finite().then_some(gap) };
        let bound = bound_by.filter(|_| pruned > 0).map(Cow::Borrowed);
        let mut certificate = Certificate::default();
        (certificate.optimal, certificate.visited, certificate.pruned) = (optimal, visited, pruned);
        (certificate.gap, certificate.bound) = (gap, bound);
        (found, certificate, stop.reason.unwrap_or(StopReason::AllSubsets))
    }

    /// Runs a greedy search first. Adds exchanges if their result can rule out subtrees.
    fn begin(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let (order, space) = (self.order, self.space);
        let bounded = self.bound(subset.lend()?, 0)? > f64::NEG_INFINITY;
        let exchanges = bounded && self.total > (space.features() as u64).pow(3);
        let mut at = SelectedGroups::new(space, order.forced.clone());
        subset.reset(&at.features)?;
        while !self.ask() {
            let room = order.most - at.features.len();
            let fits = |group: &usize| !at.inside[*group] && space.groups[*group].len() <= room;
            let open: Vec<usize> = (0..at.inside.len()).filter(fits).collect();
            let Some(chosen) = space.best_addition(subset, &open)? else { break };
            space.groups[chosen.group].iter().try_for_each(|&feature| subset.add(feature))?;
            at.features.extend(&space.groups[chosen.group]);
            at.inside[chosen.group] = true;
            self.propose(&at.features, chosen.score.loss);
            if exchanges {
                self.exchange(subset, at.clone(), chosen.score.loss)?;
                subset.reset(&at.features)?;
            }
        }
        Ok(())
    }

    /// Exchanges groups while that lowers the score.
    fn exchange(&mut self, subset: &mut SubsetScorer<'_>, mut at: SelectedGroups, mut loss: f64) -> Result<()> {
        let space = self.space;
        while let Some(best) = best_exchange(space, subset, &at)? {
            if loss - best.entering.score.loss <= SCORE_ROUNDING * loss.abs() {
                break;
            }
            loss = best.entering.score.loss;
            at.features.retain(|f| !space.groups[best.out].contains(f));
            at.features.extend(&space.groups[best.entering.group]);
            (at.inside[best.out], at.inside[best.entering.group]) = (false, true);
            self.propose(&at.features, loss);
        }
        Ok(())
    }

    fn propose(&mut self, subset: &[Feature], loss: f64) {
        if subset.len() >= self.order.least {
            self.start.offer(subset, &[], loss);
        }
    }

    /// Asks the observer whether to stop.
    fn ask(&mut self) -> bool {
        self.stop.asked = self.visited + self.pruned;
        let visited = Event::Visited { done: self.stop.asked as f64, of: self.total as f64 };
        if let Answer::Stop(reason) = self.monitor.show(&visited) {
            self.stop.reason = Some(reason);
        }
        self.stop.reason.is_some()
    }
}
