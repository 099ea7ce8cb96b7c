//! The tree of all subsets, with subtrees left out that are proven worse: those of the lowest bound first, and what is
//! below a small one depth first.

mod best_first;
mod best_subsets;
mod frontier;
mod record;

use crate::moves::score_of_later;
use crate::order::Order;
use crate::polish::{SelectedGroups, best_exchange};
use crate::space::Space;
pub(crate) use best_subsets::BestSubsets;
use frontier::{Frontier, OpenNode};
pub(crate) use record::Record;
use record::Snapshot;
use std::borrow::Cow;
use vaglio_core::{
    Answer, Branch, Certificate, Diagnostics, Error, Event, Feature, Monitor, Recorder, Result, Score, StopReason,
    SubsetScorer,
};
use vaglio_kernels::tolerance::SCORE_ROUNDING;

/// The most subsets between two questions to the observer.
const ASK_EVERY: u64 = 4096;

/// Of all subsets, the part that is searched depth first, and how many are in any case.
const SUBTREES: u64 = 1024;
const LEAST_SUBTREE: u64 = 64;

/// The search, and where it is.
pub(crate) struct SubsetTree<'a> {
    order: &'a Order,
    space: &'a Space<'a>,
    monitor: Monitor<'a>,
    /// By a greedy search and exchanges, before the tree is entered.
    start: BestSubsets,
    /// In the tree.
    found: BestSubsets,
    /// The subset of the node.
    subset: Vec<Feature>,
    total: u64,
    visited: u64,
    pruned: u64,
    stop: Stop,
    /// What is still to be entered, and what is being searched depth first.
    open: Frontier,
    within: Option<OpenNode>,
    /// Subtrees of so many subsets are searched depth first.
    small: u64,
    /// The group by which each node on the way from there continues.
    trail: Vec<usize>,
    /// What the bounds of branches rest on.
    bound_by: Option<&'static str>,
    trials: TrialDiagnostics,
    record: Record,
}

/// Whether the observer stops the search, and what that leaves out.
struct Stop {
    /// Subsets that were visited or ruled out when the observer was last asked.
    asked: u64,
    reason: Option<StopReason>,
    /// The lowest bound of what was left out.
    left: f64,
}

/// What records the diagnostics of branches, and those of what was done before.
#[derive(Default)]
struct TrialDiagnostics {
    recorder: Recorder,
    before: Option<Diagnostics>,
}

impl<'a> SubsetTree<'a> {
    pub fn new(order: &'a Order, space: &'a Space<'a>, monitor: &'a mut Monitor<'_>) -> Self {
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
            stop: Stop { asked: 0, reason: None, left: f64::INFINITY },
            open: Frontier::default(),
            within: None,
            small: (total / SUBTREES).max(LEAST_SUBTREE),
            trail: Vec::new(),
            bound_by: None,
            trials: TrialDiagnostics::default(),
            record: Record::new(journal),
        }
    }

    /// Visits every subset that is not proven worse, or all until the observer stops it.
    pub fn search(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        match self.monitor.stop.clone().ends(|| self.visit(subset)) {
            Err(Error::Stopped(reason)) => {
                // In the middle of a node, where nothing is known of what is left.
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
        let mut root = subset.tree(&order.features)?;
        let done = self.best_first(&mut *root, is_known);
        drop(root);
        subset.recall_diagnostics(self.diagnostics());
        done.map_err(|error| subset.blame(error, &self.subset))
    }

    /// The diagnostics of all trials so far.
    fn diagnostics(&self) -> Option<Diagnostics> {
        Diagnostics::of([self.trials.before, self.trials.recorder.diagnostics()])
    }

    /// Takes up what an earlier run kept last.
    fn recall(&mut self) -> bool {
        let Some(snapshot) = self.record.last() else { return false };
        let Snapshot { open, within, trail, start, found, visited, pruned, diagnostics } = snapshot;
        self.trials.before = diagnostics;
        (self.open, self.within) = (open, within);
        (self.start, self.found, self.visited, self.pruned) = (start, found, visited, pruned);
        (self.stop.asked, self.record.ahead) = (visited + pruned, trail.into_iter());
        true
    }

    /// How many features more a subset may have.
    fn room(&self) -> usize {
        self.order.most - self.subset.len()
    }

    /// Whether a bound proves that no subset below a place and a size is among the best.
    fn is_ruled_out(&self, bound: f64, place: usize, size: usize) -> bool {
        self.order.below(place, size).all(|(size, _)| bound > self.threshold(size))
    }

    /// Keeps where the search is, now and then: at `child` of the node that the trail leads to.
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

    /// What was found, what is proven of it, and why the search ended.
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

    /// A greedy search, and exchanges where subtrees can be proven worse by what they find.
    fn begin(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let (order, space) = (self.order, self.space);
        let bounded = subset.tree(&order.features)?.bound(0, self.room())? > f64::NEG_INFINITY;
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

    /// Whether the observer stops the search.
    fn ask(&mut self) -> bool {
        self.stop.asked = self.visited + self.pruned;
        let visited = Event::Visited { done: self.stop.asked as f64, of: self.total as f64 };
        if let Answer::Stop(reason) = self.monitor.show(&visited) {
            self.stop.reason = Some(reason);
        }
        self.stop.reason.is_some()
    }

    /// Scores the subsets with one group more from `place` on, then enters those with something below them. The later
    /// features of the node are those of the groups from `place` on.
    fn node(&mut self, node: &mut dyn Branch, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        if order.below(place, size).next().is_none() {
            return Ok(());
        }
        let bound = node.bound(0, self.room())?;
        let next = self.record.ahead.next();
        if next.is_none() && self.is_ruled_out(bound, place, size) {
            self.pruned = self.pruned.saturating_add(order.count_below(place, size));
            return Ok(());
        }
        let scored = self.score_children(node, place)?;
        match next {
            None => self.offer(scored, place)?,
            // What an earlier run noted of this node is known.
            Some(_) => {
                self.trials.recorder.take();
            }
        }
        let mut bound = bound;
        for child in next.unwrap_or(place)..order.places() {
            let (group, at) = (order.group(child), order.between(place, child));
            let larger = size + group.len();
            if larger > order.most || order.below(child + 1, larger).next().is_none() {
                continue;
            }
            // Bounds only rise from child to child, so one that rules a child out is kept for those after it.
            if !self.record.is_behind() {
                if !self.is_ruled_out(bound, child + 1, larger) {
                    bound = node.bound(at, self.room())?;
                }
                if self.is_ruled_out(bound, child + 1, larger) || self.is_forbidden(child) {
                    self.pruned = self.pruned.saturating_add(order.count_below(child + 1, larger));
                    continue;
                }
            }
            // Children of nodes on the trail of an earlier run were gone into then.
            if !self.record.is_behind() {
                let due = size == order.forced.len() || self.visited + self.pruned >= self.stop.asked + ASK_EVERY;
                if (due || self.monitor.stop.reason().is_some()) && self.ask() {
                    return self.leave_open(node, place, child);
                }
                self.keep(child);
            }
            self.subset.extend(group);
            self.trail.push(child);
            self.descend(node, at, group.len(), child + 1, None)?;
            self.trail.pop();
            self.subset.truncate(size);
            if self.stop.reason.is_some() {
                return self.leave_open(node, place, child + 1);
            }
        }
        Ok(())
    }

    /// What a bound must be above to prove that there is nothing to find of a size.
    fn threshold(&self, size: usize) -> f64 {
        self.found.threshold(&self.start, size)
    }

    /// The groups from `place` on that make a result, with what they make of the node's score.
    fn score_children(&self, node: &mut dyn Branch, place: usize) -> Result<Vec<(usize, Score)>> {
        let (order, size) = (self.order, self.subset.len());
        let recorded = |child: &usize| (order.least..=order.most).contains(&(size + order.group(*child).len()));
        let at = self.space.rules().map(|rules| (rules, self.subset.clone()));
        let allowed = |child: &usize| {
            at.as_ref().is_none_or(|(rules, subset)| rules.allows(&[subset, order.group(*child)].concat()))
        };
        let children = (place..order.places()).filter(recorded).filter(allowed);
        let (alone, blocks): (Vec<usize>, Vec<usize>) = children.partition(|&child| order.group(child).len() == 1);
        let places: Vec<usize> = alone.iter().map(|&child| order.between(place, child)).collect();
        let mut scores = vec![Score::WORST; places.len()];
        if !places.is_empty() {
            node.score_additions(&places, &mut scores)?;
            if let Some((child, _)) = alone.iter().zip(&scores).find(|(_, score)| score.loss.is_nan()) {
                let column = order.group(*child)[0];
                return Err(Error::Numerical(format!("with column {column} added, the score is not a number")));
            }
        }
        for &child in &blocks {
            scores.push(score_of_later(node, order.between(place, child), order.group(child).len())?);
        }
        Ok(alone.into_iter().chain(blocks).zip(scores).collect())
    }

    /// Keeps those of the subsets with one group more from `place` on that keep the constraints.
    fn offer(&mut self, scored: Vec<(usize, Score)>, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        let sizes = (place..order.places()).map(|child| size + order.group(child).len());
        let all = sizes.filter(|size| (order.least..=order.most).contains(size)).count();
        self.pruned = self.pruned.saturating_add((all - scored.len()) as u64);
        for (child, score) in scored {
            let group = order.group(child);
            self.visited += 1;
            if score.loss > self.found.loss(size + group.len()) {
                continue;
            }
            if self.space.is_of_those_signs(&[&self.subset, group].concat(), score)? {
                self.found.offer(&self.subset, group, score.loss);
            }
        }
        Ok(())
    }

    /// Whether no subset with the group at `child`, and any of those after it, keeps the constraints.
    fn is_forbidden(&self, child: usize) -> bool {
        let Some(rules) = self.space.rules() else { return false };
        let (order, later) = (self.order, self.order.between(0, child + 1));
        !rules.may_grow(&[&self.subset, order.group(child)].concat(), |f| order.features[later..].contains(&f))
    }

    /// Enters the node with `count` of the later features, from the one at `at` on, added; the groups from `place` on may
    /// follow. From there it goes a `way`, or searches depth first.
    fn descend(
        &mut self,
        node: &mut dyn Branch,
        at: usize,
        count: usize,
        place: usize,
        way: Option<&[usize]>,
    ) -> Result<()> {
        match (count, way) {
            (0, Some(way)) => self.enter(node, way, place),
            (0, None) => self.node(node, place),
            _ => self.descend(&mut *node.child(at)?, 0, count - 1, place, way),
        }
    }

    /// Notes the bound of what there is below a node at `place` from the group at `from` on, which a stop leaves out.
    fn leave_open(&mut self, node: &mut dyn Branch, place: usize, from: usize) -> Result<()> {
        if self.order.below(from, self.subset.len()).next().is_some() {
            self.stop.left = self.stop.left.min(node.bound(self.order.between(place, from), self.room())?);
        }
        Ok(())
    }
}
