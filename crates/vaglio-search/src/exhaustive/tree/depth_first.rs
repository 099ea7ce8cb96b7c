//! Nodes of the tree, each with a copy of the evaluator.

use super::{ASK_EVERY, LEAST_SUBTREE, SUBTREES, SubsetTree};
use crate::subset_scorer::score_with;
use vaglio_core::{Action, Evaluator, Feature, Result, Score, refuse_nan};

impl SubsetTree<'_> {
    /// A lower bound of the scores of the subset extended by groups from `place` on.
    pub fn bound(&self, node: &mut dyn Evaluator, place: usize) -> Result<f64> {
        let order = self.progress.order;
        node.bound(&self.subset, order.later(place), order.most - self.subset.len())
    }

    /// Follows `way` from a node that groups from `place` on may extend, and searches the node that it leads to.
    /// Afterwards the node is as before.
    pub fn enter(&mut self, node: &mut dyn Evaluator, way: &[usize], place: usize) -> Result<()> {
        let Some((&child, rest)) = way.split_first() else { return self.node(node, place) };
        let size = self.subset.len();
        if let Some(mut fork) = node.fork(&self.subset, self.progress.order.later(child))? {
            self.add(&mut *fork, child)?;
            self.enter(&mut *fork, rest, child + 1)?;
            self.subset.truncate(size);
            return Ok(());
        }
        self.add(node, child)?;
        self.enter(node, rest, child + 1)?;
        self.subset.truncate(size);
        node.reset(&self.subset)
    }

    fn add(&mut self, node: &mut dyn Evaluator, child: usize) -> Result<()> {
        for &feature in self.progress.order.group(child) {
            node.apply(Action::Add, &self.subset, feature)?;
            self.subset.push(feature);
        }
        Ok(())
    }

    /// Scores the children by groups from `place` on. Enters those with subsets below them if the subtree is small,
    /// otherwise opens them.
    fn node(&mut self, node: &mut dyn Evaluator, place: usize) -> Result<()> {
        let (order, size) = (self.progress.order, self.subset.len());
        if order.below(place, size).next().is_none() {
            return Ok(());
        }
        let mut bound = self.bound(node, place)?;
        if self.is_ruled_out(bound, place, size) {
            self.prune(place, size);
            return Ok(());
        }
        let scored = self.score_children(node, place)?;
        self.offer(scored)?;
        let is_small = order.count_below(place, size) <= (self.progress.total / SUBTREES).max(LEAST_SUBTREE);
        for child in place..order.places() {
            let larger = size + order.group(child).len();
            if larger > order.most || order.below(child + 1, larger).next().is_none() {
                continue;
            }
            // Bounds only rise from child to child, so a bound that rules a child out is kept for later children.
            if is_small && !self.is_ruled_out(bound, child + 1, larger) {
                bound = self.bound(node, child)?;
            }
            if is_small && self.is_ruled_out(bound, child + 1, larger) || self.is_forbidden(child) {
                self.prune(child + 1, larger);
                continue;
            }
            if !is_small {
                self.open(node, child, [&self.way[..], &[child]].concat())?;
                continue;
            }
            let done = self.progress.state.visited + self.progress.state.pruned;
            let is_due = size == order.forced.len() || done >= self.asked + ASK_EVERY;
            if (is_due || self.progress.monitor.stop.reason().is_some()) && self.ask() {
                return self.leave_open(node, child);
            }
            self.enter(node, &[child], place)?;
            if self.progress.stopped.is_some() {
                return self.leave_open(node, child + 1);
            }
        }
        Ok(())
    }

    /// The groups from `place` on that form a result with the node, with the scores of these results. Results that break
    /// a constraint count as ruled out.
    fn score_children(&mut self, node: &mut dyn Evaluator, place: usize) -> Result<Vec<(usize, Score)>> {
        let (order, size) = (self.progress.order, self.subset.len());
        let is_result = |child: &usize| (order.least..=order.most).contains(&(size + order.group(*child).len()));
        let rules = self.progress.space.rules();
        let is_allowed =
            |child: &usize| rules.is_none_or(|rules| rules.allows(&[&self.subset, order.group(*child)].concat()));
        let results = (place..order.places()).filter(is_result);
        let (children, refused): (Vec<usize>, Vec<usize>) = results.partition(is_allowed);
        let (alone, blocks): (Vec<usize>, Vec<usize>) =
            children.into_iter().partition(|&child| order.group(child).len() == 1);
        let columns: Vec<Feature> = alone.iter().map(|&child| order.group(child)[0]).collect();
        let mut scores = match columns[..] {
            [] => Vec::new(),
            _ => node.scores(Action::Add, &self.subset, &columns)?,
        };
        refuse_nan(Action::Add, &columns, &scores)?;
        for &child in &blocks {
            scores.push(score_with(node, &self.subset, order.group(child))?);
        }
        let pruned = &mut self.progress.state.pruned;
        *pruned = pruned.saturating_add(refused.len() as u64);
        Ok(alone.into_iter().chain(blocks).zip(scores).collect())
    }

    /// Offers the scored children.
    fn offer(&mut self, scored: Vec<(usize, Score)>) -> Result<()> {
        let (order, size) = (self.progress.order, self.subset.len());
        for (child, score) in scored {
            let group = order.group(child);
            let state = &mut self.progress.state;
            if score.loss > state.found.loss(size + group.len()) {
                state.visited += 1;
            } else {
                self.progress.visit(&[&self.subset, group].concat(), score)?;
            }
        }
        Ok(())
    }

    /// Whether no subset with the group at `child`, extended by any later groups, keeps the constraints.
    fn is_forbidden(&self, child: usize) -> bool {
        let Some(rules) = self.progress.space.rules() else { return false };
        let (order, later) = (self.progress.order, self.progress.order.later(child + 1));
        !rules.may_grow(&[&self.subset, order.group(child)].concat(), |f| later.contains(&f))
    }

    /// Records the bound of the subtree from the group at `from` on, which a stop leaves out.
    fn leave_open(&mut self, node: &mut dyn Evaluator, from: usize) -> Result<()> {
        if self.progress.order.below(from, self.subset.len()).next().is_some() {
            self.left = self.left.min(self.bound(node, from)?);
        }
        Ok(())
    }
}
