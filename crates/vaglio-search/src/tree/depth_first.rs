//! Nodes of the tree: small subtrees are searched depth first, by copies of the evaluator.

use super::{ASK_EVERY, OpenNode, SearchState, SubsetTree};
use std::cmp::Reverse;
use vaglio_core::{Action, Error, Evaluator, Feature, Result, Score, score_with};

impl SubsetTree<'_> {
    /// A lower bound of the scores of the subset extended by groups from `place` on.
    pub fn bound(&self, node: &mut dyn Evaluator, place: usize) -> Result<f64> {
        node.bound(&self.subset, self.order.later(place), self.room())
    }

    /// Scores the children by groups from `place` on, then enters those with subsets below them, or opens them unless
    /// the subtree `is_small`.
    pub fn node(&mut self, node: &mut dyn Evaluator, place: usize, is_small: bool) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        if order.below(place, size).next().is_none() {
            return Ok(());
        }
        let bound = self.bound(node, place)?;
        let next = self.record.ahead.next();
        if next.is_none() && self.is_ruled_out(bound, place, size) {
            self.prune(place, size);
            return Ok(());
        }
        let scored = self.score_children(node, place)?;
        match next {
            None => self.offer(scored, place)?,
            // The diagnostics of this node are known from an earlier run.
            Some(_) => {
                self.recorder.take();
            }
        }
        let mut bound = bound;
        for child in next.unwrap_or(place)..order.places() {
            let group = order.group(child);
            let larger = size + group.len();
            if larger > order.most || order.below(child + 1, larger).next().is_none() {
                continue;
            }
            if !is_small {
                if self.is_forbidden(child) {
                    self.prune(child + 1, larger);
                    continue;
                }
                let way = self.known.within.iter().flat_map(OpenNode::way).copied().chain([child]).collect();
                self.known.open.push(Reverse(OpenNode::new(self.bound(node, child)?, way)));
                continue;
            }
            // Bounds only rise from child to child, so a bound that rules a child out is kept for later children.
            if !self.record.is_behind() {
                if !self.is_ruled_out(bound, child + 1, larger) {
                    bound = self.bound(node, child)?;
                }
                if self.is_ruled_out(bound, child + 1, larger) || self.is_forbidden(child) {
                    self.prune(child + 1, larger);
                    continue;
                }
            }
            // An earlier run has entered the children of nodes on its trail.
            if !self.record.is_behind() {
                let SearchState { visited, pruned, .. } = self.known;
                let due = size == order.forced.len() || visited + pruned >= self.asked + ASK_EVERY;
                if (due || self.monitor.stop.reason().is_some()) && self.ask() {
                    return self.leave_open(node, child);
                }
                self.keep(child);
            }
            self.known.trail.push(child);
            self.descend(node, child, None)?;
            self.known.trail.pop();
            if self.stopped.is_some() {
                return self.leave_open(node, child + 1);
            }
        }
        Ok(())
    }

    /// Score that a bound must exceed to rule out a size.
    pub fn threshold(&self, size: usize) -> f64 {
        self.known.found.threshold(&self.known.start, size)
    }

    /// The groups from `place` on that form a result with the node, with the scores of these results.
    pub fn score_children(&self, node: &mut dyn Evaluator, place: usize) -> Result<Vec<(usize, Score)>> {
        let (order, size) = (self.order, self.subset.len());
        let recorded = |child: &usize| (order.least..=order.most).contains(&(size + order.group(*child).len()));
        let at = self.space.rules().map(|rules| (rules, self.subset.clone()));
        let allowed = |child: &usize| {
            at.as_ref().is_none_or(|(rules, subset)| rules.allows(&[subset, order.group(*child)].concat()))
        };
        let children = (place..order.places()).filter(recorded).filter(allowed);
        let (alone, blocks): (Vec<usize>, Vec<usize>) = children.partition(|&child| order.group(child).len() == 1);
        let columns: Vec<Feature> = alone.iter().map(|&child| order.group(child)[0]).collect();
        let mut scores = vec![Score::WORST; columns.len()];
        if !columns.is_empty() {
            node.scores(Action::Add, &self.subset, &columns, &mut scores)?;
            if let Some((column, _)) = columns.iter().zip(&scores).find(|(_, score)| score.loss.is_nan()) {
                return Err(Error::Numerical(format!("with column {column} added, the score is not a number")));
            }
        }
        for &child in &blocks {
            scores.push(score_with(node, &self.subset, order.group(child))?);
        }
        Ok(alone.into_iter().chain(blocks).zip(scores).collect())
    }

    /// Offers the scored children from `place` on that keep the constraints.
    pub fn offer(&mut self, scored: Vec<(usize, Score)>, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        let sizes = (place..order.places()).map(|child| size + order.group(child).len());
        let all = sizes.filter(|size| (order.least..=order.most).contains(size)).count();
        self.known.pruned = self.known.pruned.saturating_add((all - scored.len()) as u64);
        for (child, score) in scored {
            let group = order.group(child);
            self.known.visited += 1;
            if score.loss > self.known.found.loss(size + group.len()) {
                continue;
            }
            if self.space.features_keep_signs(&[&self.subset, group].concat(), score)? {
                self.known.found.offer(&self.subset, group, score.loss);
            }
        }
        Ok(())
    }

    /// Whether no subset with the group at `child`, extended by any later groups, keeps the constraints.
    pub fn is_forbidden(&self, child: usize) -> bool {
        let Some(rules) = self.space.rules() else { return false };
        let (order, later) = (self.order, self.order.later(child + 1));
        !rules.may_grow(&[&self.subset, order.group(child)].concat(), |f| later.contains(&f))
    }

    /// Enters the child with the group at `child`; later groups may follow. From there it follows a `way`, or searches
    /// depth first. Afterwards the node is as before.
    pub fn descend(&mut self, node: &mut dyn Evaluator, child: usize, way: Option<&[usize]>) -> Result<()> {
        let size = self.subset.len();
        if let Some(mut fork) = node.fork(&self.subset, self.order.later(child))? {
            self.add(&mut *fork, child)?;
            self.go_on(&mut *fork, child + 1, way)?;
            self.subset.truncate(size);
            return Ok(());
        }
        self.add(node, child)?;
        self.go_on(node, child + 1, way)?;
        self.subset.truncate(size);
        node.reset(&self.subset)
    }

    fn add(&mut self, node: &mut dyn Evaluator, child: usize) -> Result<()> {
        for &feature in self.order.group(child) {
            node.apply(Action::Add, &self.subset, feature)?;
            self.subset.push(feature);
        }
        Ok(())
    }

    fn go_on(&mut self, node: &mut dyn Evaluator, place: usize, way: Option<&[usize]>) -> Result<()> {
        match way {
            Some(way) => self.enter(node, way, place),
            None => self.node(node, place, true),
        }
    }

    /// Records the bound of the subtree from the group at `from` on, which a stop leaves out.
    fn leave_open(&mut self, node: &mut dyn Evaluator, from: usize) -> Result<()> {
        if self.order.below(from, self.subset.len()).next().is_some() {
            self.left = self.left.min(self.bound(node, from)?);
        }
        Ok(())
    }
}
