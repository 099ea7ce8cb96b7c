//! The tree of all subsets, with subtrees left out that are proven worse: those of the lowest bound first, and what is
//! below a small one depth first.

mod best;
mod best_first;
mod open;

use crate::moves::score_of_later;
use crate::order::Order;
use crate::polish::{Selected, best_exchange};
use crate::space::Space;
pub(crate) use best::Best;
use open::{Frontier, Open};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Instant;
use vaglio_core::{
    Answer, Branch, Certificate, Error, Feature, Health, Journal, Observer, Result, Score, StopReason, StopSign,
    Subset, Watch,
};
use vaglio_kernels::tolerance::SCORE_ROUNDING;

/// The most subsets between two questions to the observer.
const ASK_EVERY: u64 = 4096;

/// Where a search was, with all that it knew: it goes on at the last child of the trail.
#[derive(Serialize, Deserialize)]
struct Known {
    /// What is still to be entered.
    open: Frontier,
    /// The node that is being searched depth first, and the group by which each node below it continues, by its place.
    within: Option<Open>,
    trail: Vec<usize>,
    start: Best,
    found: Best,
    visited: u64,
    pruned: u64,
    #[serde(default)]
    health: Option<Health>,
}

/// Of all subsets, the part that is searched depth first, and how many are in any case.
const SUBTREES: u64 = 1024;
const LEAST_SUBTREE: u64 = 64;

/// Nodes between two looks at the clock.
const LOOK_EVERY: u64 = 8;

/// The search, and where it is.
pub(crate) struct Tree<'a> {
    order: &'a Order,
    observer: &'a mut dyn Observer,
    /// By a greedy search and exchanges, before the tree is entered.
    start: Best,
    /// In the tree.
    found: Best,
    /// The subset of the node.
    subset: Vec<Feature>,
    total: u64,
    visited: u64,
    pruned: u64,
    asked: u64,
    stopped: Option<StopReason>,
    /// The lowest bound of what a stop has left out.
    left: f64,
    /// What is still to be entered, and what is being searched depth first.
    open: Frontier,
    within: Option<Open>,
    /// Subtrees of so many subsets are searched depth first.
    small: u64,
    /// The group by which each node on the way from there continues.
    trail: Vec<usize>,
    /// The same of an earlier run, from the first that has not been gone to again.
    ahead: std::vec::IntoIter<usize>,
    /// Where branches note their health, and that of what was done before.
    watch: Watch,
    before: Option<Health>,
    /// What the bounds of branches rest on.
    bound_by: Option<&'static str>,
    journal: Journal,
    sign: StopSign,
    /// How often the search was kept, and when last.
    kept: (usize, Instant),
    nodes: u64,
}

impl<'a> Tree<'a> {
    pub fn new(order: &'a Order, observer: &'a mut dyn Observer) -> Self {
        let base = order.forced.len();
        let total = order.count_below(0, base).saturating_add(u64::from(base > 0 && base >= order.least));
        let (journal, sign) = (observer.journal().within("tree"), observer.sign());
        Tree {
            order,
            observer,
            start: Best::new(order.most),
            found: Best::new(order.most),
            subset: order.forced.clone(),
            total,
            visited: 0,
            pruned: 0,
            asked: 0,
            stopped: None,
            left: f64::INFINITY,
            open: Frontier::default(),
            within: None,
            small: (total / SUBTREES).max(LEAST_SUBTREE),
            trail: Vec::new(),
            ahead: Vec::new().into_iter(),
            watch: Watch::default(),
            before: None,
            bound_by: None,
            journal,
            sign,
            kept: (0, Instant::now()),
            nodes: 0,
        }
    }

    /// Visits every subset that is not proven worse, or all until the observer stops it.
    pub fn search(&mut self, space: &Space<'_>, subset: &mut Subset<'_>) -> Result<()> {
        match self.visit(space, subset) {
            Err(Error::Stopped(reason)) => {
                // In the middle of a node, where nothing is known of what is left.
                (self.stopped, self.left) = (Some(reason), f64::NEG_INFINITY);
                Ok(())
            }
            done => done,
        }
    }

    fn visit(&mut self, space: &Space<'_>, subset: &mut Subset<'_>) -> Result<()> {
        let order = self.order;
        let is_known = self.recall();
        if !is_known {
            self.begin(space, subset)?;
        }
        subset.reset(&order.forced)?;
        if !is_known && !order.forced.is_empty() && order.forced.len() >= order.least {
            self.found.offer(&order.forced, &[], subset.score()?.loss);
            self.visited += 1;
        }
        if !is_known {
            self.before = subset.health();
        }
        (self.watch, self.bound_by) = (subset.watch(), subset.engine().bound);
        self.watch.take();
        let mut root = subset.tree(&order.features)?;
        let done = self.best_first(&mut *root, is_known);
        drop(root);
        subset.recall_health(self.health());
        done.map_err(|error| subset.blame(error, &self.subset))
    }

    /// The health of all trials so far.
    fn health(&self) -> Option<Health> {
        Health::of([self.before, self.watch.health()])
    }

    /// Takes up what an earlier run kept last.
    fn recall(&mut self) -> bool {
        let mut last: Option<Known> = None;
        while let Some(known) = self.journal.recall(self.kept.0 + 1) {
            (last, self.kept.0) = (Some(known), self.kept.0 + 1);
        }
        let Some(Known { open, within, trail, start, found, visited, pruned, health }) = last else { return false };
        self.before = health;
        (self.open, self.within) = (open, within);
        (self.start, self.found, self.visited, self.pruned) = (start, found, visited, pruned);
        (self.asked, self.ahead) = (visited + pruned, trail.into_iter());
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
        self.nodes += 1;
        if !self.nodes.is_multiple_of(LOOK_EVERY) || !self.journal.is_worth(self.kept.1, 1 + self.open.len() / 4) {
            return;
        }
        let known = Known {
            open: self.open.clone(),
            within: self.within.clone(),
            trail: self.trail.iter().copied().chain([child]).collect(),
            start: self.start.clone(),
            found: self.found.clone(),
            visited: self.visited,
            pruned: self.pruned,
            health: self.health(),
        };
        self.kept = (self.kept.0 + 1, Instant::now());
        self.journal.keep(self.kept.0, &known);
    }

    /// What was found, what is proven of it, and why the search ended.
    pub fn finish(self) -> (Best, Certificate, StopReason) {
        let Tree { start, mut found, visited, pruned, stopped, left, bound_by, .. } = self;
        for (size, known) in start.0.into_iter().enumerate() {
            let Some((subset, loss)) = known else { continue };
            // What the tree has found counts; the greedy search fills in after a stop.
            if loss < found.loss(size) - SCORE_ROUNDING * loss.abs() {
                found.offer(&subset, &[], loss);
            }
        }
        let optimal = stopped.is_none();
        let gap = (found.lowest() - left).max(0.0);
        let gap = if optimal { Some(0.0) } else { gap.is_finite().then_some(gap) };
        let bound = bound_by.filter(|_| pruned > 0).map(Cow::Borrowed);
        (found, Certificate { optimal, visited, pruned, gap, bound }, stopped.unwrap_or(StopReason::AllSubsets))
    }

    /// A greedy search, and exchanges where subtrees can be proven worse by what they find.
    fn begin(&mut self, space: &Space<'_>, subset: &mut Subset<'_>) -> Result<()> {
        let order = self.order;
        let bounded = subset.tree(&order.features)?.bound(0, self.room())? > f64::NEG_INFINITY;
        let exchanges = bounded && self.total > (space.features() as u64).pow(3);
        let mut at = Selected::new(space, order.forced.clone());
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
                self.exchange(space, subset, at.clone(), chosen.score.loss)?;
                subset.reset(&at.features)?;
            }
        }
        Ok(())
    }

    /// Exchanges groups while that lowers the score.
    fn exchange(&mut self, space: &Space<'_>, subset: &mut Subset<'_>, mut at: Selected, mut loss: f64) -> Result<()> {
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
        self.asked = self.visited + self.pruned;
        if let Answer::Stop(reason) = self.observer.visited(self.asked as f64, self.total as f64) {
            self.stopped = Some(reason);
        }
        self.stopped.is_some()
    }

    /// Scores the subsets with one group more from `place` on, then enters those with something below them. The later
    /// features of the node are those of the groups from `place` on.
    fn node(&mut self, node: &mut dyn Branch, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        if order.below(place, size).next().is_none() {
            return Ok(());
        }
        let bound = node.bound(0, self.room())?;
        let next = self.ahead.next();
        if next.is_none() && self.is_ruled_out(bound, place, size) {
            self.pruned = self.pruned.saturating_add(order.count_below(place, size));
            return Ok(());
        }
        let scored = self.score_children(node, place)?;
        match next {
            None => self.offer(scored),
            // What an earlier run noted of this node is known.
            Some(_) => {
                self.watch.take();
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
            if self.ahead.len() == 0 {
                if !self.is_ruled_out(bound, child + 1, larger) {
                    bound = node.bound(at, self.room())?;
                }
                if self.is_ruled_out(bound, child + 1, larger) {
                    self.pruned = self.pruned.saturating_add(order.count_below(child + 1, larger));
                    continue;
                }
            }
            // Children of nodes on the trail of an earlier run were gone into then.
            if self.ahead.len() == 0 {
                let due = size == order.forced.len() || self.visited + self.pruned >= self.asked + ASK_EVERY;
                if (due || self.sign.reason().is_some()) && self.ask() {
                    return self.leave_open(node, place, child);
                }
                self.keep(child);
            }
            self.subset.extend(group);
            self.trail.push(child);
            self.descend(node, at, group.len(), child + 1, None)?;
            self.trail.pop();
            self.subset.truncate(size);
            if self.stopped.is_some() {
                return self.leave_open(node, place, child + 1);
            }
        }
        Ok(())
    }

    /// What a bound must be above to prove that there is nothing to find of a size.
    fn threshold(&self, size: usize) -> f64 {
        let start = self.start.loss(size);
        self.found.loss(size).min(start + SCORE_ROUNDING * start.abs())
    }

    /// The groups from `place` on that make a result, with what they make of the node's score.
    fn score_children(&self, node: &mut dyn Branch, place: usize) -> Result<Vec<(usize, Score)>> {
        let (order, size) = (self.order, self.subset.len());
        let recorded = |child: &usize| (order.least..=order.most).contains(&(size + order.group(*child).len()));
        let children = (place..order.places()).filter(recorded);
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

    fn offer(&mut self, scored: Vec<(usize, Score)>) {
        for (child, score) in scored {
            self.found.offer(&self.subset, self.order.group(child), score.loss);
            self.visited += 1;
        }
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
            self.left = self.left.min(node.bound(self.order.between(place, from), self.room())?);
        }
        Ok(())
    }
}
