//! Depth-first search of a subtree.

use super::SubsetSquares;
use super::node::{SearchBuffers, SubtreeNode};
use super::node_fit::NodeFit;
use super::open_subtree::OpenSubtree;
use vaglio_core::checkpoint;

/// Result of exploring a subtree.
#[derive(Default)]
pub struct SearchOutcome {
    /// Subsets that are not ruled out, with lower bounds of their residual sums of squares.
    pub candidates: Vec<(f64, Vec<usize>)>,
    /// Subtrees that were not explored.
    pub open: Vec<OpenSubtree>,
}

/// Budget of a subtree in nodes and steps times columns, and its minimum in nodes and steps.
const PART: usize = 1 << 25;
const LEAST_PART: usize = 1 << 17;

impl SubsetSquares {
    /// Explores an open subtree for subsets whose residual sum of squares may be at most `limits[size]`; −∞ skips a
    /// size. After `budget` nodes the rest stays open. `may` tells whether a subset that contains the first columns, and
    /// otherwise only some of the second, may be admissible; false is certain.
    pub fn explore(
        &self,
        open: &OpenSubtree,
        limits: &[f64],
        budget: usize,
        may: &dyn Fn(&[usize], &[usize]) -> bool,
    ) -> SearchOutcome {
        let limits = limits.iter().map(|&limit| self.safe(limit)).collect();
        let mut buffers = SearchBuffers::default();
        let mut root = SubtreeNode::at(self, open, limits, &mut buffers);
        let mut search = DepthFirst { budget, may, found: SearchOutcome::default(), nodes: 0, next_ask: 0, buffers };
        search.below(&mut root);
        search.found
    }

    /// Number of nodes that makes a subtree large enough for one task.
    pub fn part(&self) -> usize {
        (PART / self.columns()).max(LEAST_PART)
    }
}

impl SubtreeNode<'_> {
    fn open(&self) -> OpenSubtree {
        let mut open = OpenSubtree::new(self.fixed.clone());
        (open.squares_bound, open.excluded, open.begun) = (self.bound, self.excluded.clone(), self.begun);
        open
    }
}

struct DepthFirst<'s, 'm> {
    budget: usize,
    may: &'m dyn Fn(&[usize], &[usize]) -> bool,
    buffers: SearchBuffers<'s>,
    found: SearchOutcome,
    /// Number of nodes visited, plus coefficient steps in them.
    nodes: usize,
    /// Count of nodes and steps at the next check for cancellation.
    next_ask: usize,
}

/// Nodes and steps between two checks for cancellation.
const ASK_EVERY: usize = 64;

impl<'s> DepthFirst<'s, '_> {
    fn below(&mut self, node: &mut SubtreeNode<'s>) {
        if self.nodes >= self.budget {
            self.found.open.push(node.open());
            return;
        }
        if !node.begun {
            node.is_alive();
            node.raise_bound(&mut self.buffers);
            self.offer_blocks(node);
            node.begun = true;
        }
        while node.is_alive() && (self.may)(&node.fixed, &node.free) {
            if self.nodes >= self.budget {
                self.found.open.push(node.open());
                return;
            }
            self.nodes += 1 + std::mem::take(&mut node.steps);
            if self.nodes >= self.next_ask {
                checkpoint();
                self.next_ask = self.nodes + ASK_EVERY;
            }
            let Some(column) = node.branch() else { return };
            if node.is_last() {
                let mut fit = std::mem::take(&mut self.buffers.last);
                fit.copy_from(&node.fit);
                fit.add(node.squares, column, &mut self.buffers.levels);
                self.offer_pairs(node, &fit, column);
                self.buffers.last = fit;
            } else {
                let mut child = self.buffers.copy(node);
                node.squares.blocks[column].iter().for_each(|&column| child.include(column, &mut self.buffers));
                self.below(&mut child);
                self.buffers.spare.push(child);
            }
            node.squares.blocks[column].iter().for_each(|&column| node.exclude(column));
        }
        self.nodes += node.steps;
    }

    /// Adds the fixed columns with each free block to the candidates, unless they exceed their limit.
    fn offer_blocks(&mut self, node: &SubtreeNode<'s>) {
        let mut fit = std::mem::take(&mut self.buffers.last);
        for block in node.squares.blocks_of(node.free.iter().copied()) {
            let squares = node.fit.with_block(node.squares, block, &mut fit, &mut self.buffers.levels);
            self.offer(squares, node.limit(node.fixed.len() + block.len()), || [&node.fixed, block].concat());
        }
        self.buffers.last = fit;
    }

    /// Adds the columns of a fit, the fixed ones and `column`, with each other free column to the candidates.
    fn offer_pairs(&mut self, node: &SubtreeNode<'s>, fit: &NodeFit, column: usize) {
        let limit = node.limit(node.fixed.len() + 2);
        for &other in node.free.iter().filter(|&&other| other != column) {
            self.offer(fit.with(other), limit, || [&node.fixed[..], &[column, other]].concat());
        }
    }

    fn offer(&mut self, squares: f64, limit: f64, subset: impl FnOnce() -> Vec<usize>) {
        if squares > limit || squares.is_nan() {
            return;
        }
        let subset = subset();
        if (self.may)(&subset, &[]) {
            self.found.candidates.push((squares, subset));
        }
    }
}
