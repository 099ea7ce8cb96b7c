//! Best-first search of large subtrees, in the order of bounds.

use super::{OpenNode, SubsetTree};
use vaglio_core::{Evaluator, Result};

impl SubsetTree<'_> {
    /// Enters open nodes, lowest bound first, until none can contain a better subset.
    pub fn best_first(&mut self, root: &mut dyn Evaluator, is_known: bool) -> Result<()> {
        let order = self.order;
        if !is_known {
            let bound = self.bound(root, 0)?;
            self.open.push(OpenNode::new(bound, Vec::new()));
        }
        while self.stop.reason.is_none() && !self.ask() {
            let within = self.within.take();
            let Some(open) = within.or_else(|| self.open.pop()) else { return Ok(()) };
            let (place, size) = open.at(order);
            if !self.record.is_behind() && self.is_ruled_out(open.bound(), place, size) {
                self.pruned = self.pruned.saturating_add(order.count_below(place, size));
                continue;
            }
            self.within = Some(open.clone());
            self.enter(root, open.way(), 0)?;
            self.within = None;
        }
        self.stop.left = self
            .open
            .least()
            .into_iter()
            .chain(self.within.as_ref().map(OpenNode::bound))
            .fold(self.stop.left, f64::min);
        Ok(())
    }

    /// Follows `way` from a node that groups from `place` on may extend, and searches the node that it leads to.
    pub fn enter(&mut self, node: &mut dyn Evaluator, way: &[usize], place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        let Some((&child, rest)) = way.split_first() else {
            return if order.count_below(place, size) > self.small {
                self.part(node, place)
            } else {
                self.node(node, place)
            };
        };
        self.descend(node, child, Some(rest))
    }

    /// Scores the children by groups from `place` on, and opens those with subsets below them.
    fn part(&mut self, node: &mut dyn Evaluator, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        if self.is_ruled_out(self.bound(node, place)?, place, size) {
            self.pruned = self.pruned.saturating_add(order.count_below(place, size));
            return Ok(());
        }
        let scored = self.score_children(node, place)?;
        self.offer(scored, place)?;
        let way = self.within.as_ref().map_or_else(Vec::new, |open| open.way().to_vec());
        for child in place..order.places() {
            let larger = size + order.group(child).len();
            if larger <= order.most && order.below(child + 1, larger).next().is_some() {
                if self.is_forbidden(child) {
                    self.pruned = self.pruned.saturating_add(order.count_below(child + 1, larger));
                    continue;
                }
                let bound = self.bound(node, child)?;
                let way = way.iter().copied().chain([child]).collect();
                self.open.push(OpenNode::new(bound, way));
            }
        }
        Ok(())
    }
}
