//! What is below a node, depth first, by copies of the evaluator.

use super::{ASK_EVERY, SubsetTree};
use vaglio_core::{Error, Evaluator, Feature, Result, Score, SubsetChange, score_with};

impl SubsetTree<'_> {
    /// A lower bound of the subset with groups from `place` on.
    pub(super) fn bound(&self, node: &mut dyn Evaluator, place: usize) -> Result<f64> {
        node.bound(&self.subset, self.order.later(place), self.room())
    }

    /// Scores the subsets with one group more from `place` on, then enters those with something below them.
    pub(super) fn node(&mut self, node: &mut dyn Evaluator, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        if order.below(place, size).next().is_none() {
            return Ok(());
        }
        let bound = self.bound(node, place)?;
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
            let group = order.group(child);
            let larger = size + group.len();
            if larger > order.most || order.below(child + 1, larger).next().is_none() {
                continue;
            }
            // Bounds only rise from child to child, so one that rules a child out is kept for those after it.
            if !self.record.is_behind() {
                if !self.is_ruled_out(bound, child + 1, larger) {
                    bound = self.bound(node, child)?;
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
                    return self.leave_open(node, child);
                }
                self.keep(child);
            }
            self.trail.push(child);
            self.descend(node, child, None)?;
            self.trail.pop();
            if self.stop.reason.is_some() {
                return self.leave_open(node, child + 1);
            }
        }
        Ok(())
    }

    /// What a bound must be above to prove that there is nothing to find of a size.
    pub(super) fn threshold(&self, size: usize) -> f64 {
        self.found.threshold(&self.start, size)
    }

    /// The groups from `place` on that make a result, with what they make of the node's score.
    pub(super) fn score_children(&self, node: &mut dyn Evaluator, place: usize) -> Result<Vec<(usize, Score)>> {
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
            node.scores(SubsetChange::Addition, &self.subset, &columns, &mut scores)?;
            if let Some((column, _)) = columns.iter().zip(&scores).find(|(_, score)| score.loss.is_nan()) {
                return Err(Error::Numerical(format!("with column {column} added, the score is not a number")));
            }
        }
        for &child in &blocks {
            scores.push(score_with(node, &self.subset, order.group(child))?);
        }
        Ok(alone.into_iter().chain(blocks).zip(scores).collect())
    }

    /// Keeps those of the subsets with one group more from `place` on that keep the constraints.
    pub(super) fn offer(&mut self, scored: Vec<(usize, Score)>, place: usize) -> Result<()> {
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
    pub(super) fn is_forbidden(&self, child: usize) -> bool {
        let Some(rules) = self.space.rules() else { return false };
        let (order, later) = (self.order, self.order.later(child + 1));
        !rules.may_grow(&[&self.subset, order.group(child)].concat(), |f| later.contains(&f))
    }

    /// Enters the node with the group at `child` added; the groups after it may follow. From there it goes a `way`, or
    /// searches depth first. The node itself is left as it was.
    pub(super) fn descend(&mut self, node: &mut dyn Evaluator, child: usize, way: Option<&[usize]>) -> Result<()> {
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
            node.apply(SubsetChange::Addition, &self.subset, feature)?;
            self.subset.push(feature);
        }
        Ok(())
    }

    fn go_on(&mut self, node: &mut dyn Evaluator, place: usize, way: Option<&[usize]>) -> Result<()> {
        match way {
            Some(way) => self.enter(node, way, place),
            None => self.node(node, place),
        }
    }

    /// Notes the bound of what there is below a node from the group at `from` on, which a stop leaves out.
    fn leave_open(&mut self, node: &mut dyn Evaluator, from: usize) -> Result<()> {
        if self.order.below(from, self.subset.len()).next().is_some() {
            self.stop.left = self.stop.left.min(self.bound(node, from)?);
        }
        Ok(())
    }
}
