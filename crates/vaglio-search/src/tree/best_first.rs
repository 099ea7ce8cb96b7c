//! Best-first search of large subtrees, in the order of bounds.

use super::{OpenNode, SearchState, SubsetTree};
use std::cmp::Reverse;
use vaglio_core::{Evaluator, Result};

impl SubsetTree<'_> {
    /// Enters open nodes, lowest bound first, until none can contain a better subset.
    pub fn best_first(&mut self, root: &mut dyn Evaluator, is_known: bool) -> Result<()> {
        let order = self.order;
        if !is_known {
            let bound = self.bound(root, 0)?;
            self.known.open.push(Reverse(OpenNode::new(bound, Vec::new())));
        }
        while self.stopped.is_none() && !self.ask() {
            let within = self.known.within.take();
            let Some(Reverse(open)) = within.map(Reverse).or_else(|| self.known.open.pop()) else { return Ok(()) };
            let (place, size) = open.at(order);
            if !self.record.is_behind() && self.is_ruled_out(open.bound(), place, size) {
                self.prune(place, size);
                continue;
            }
            self.known.within = Some(open.clone());
            self.enter(root, open.way(), 0)?;
            self.known.within = None;
        }
        let SearchState { open, within, .. } = &self.known;
        let least = open.peek().map(|Reverse(open)| open).into_iter().chain(within).map(OpenNode::bound);
        self.left = least.fold(self.left, f64::min);
        Ok(())
    }

    /// Follows `way` from a node that groups from `place` on may extend, and searches the node that it leads to.
    pub fn enter(&mut self, node: &mut dyn Evaluator, way: &[usize], place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        let Some((&child, rest)) = way.split_first() else {
            return self.node(node, place, order.count_below(place, size) <= self.small);
        };
        self.descend(node, child, Some(rest))
    }
}
