//! A part of the tree, searched depth first.

use super::SubsetSquares;
use super::descent::Descent;
use super::fit::SubsetFit;
use super::node::SubtreeNode;
use crate::checkpoint;

/// What is below a node: subsets with the columns that are fixed, without those that are excluded.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSubtree {
    /// No subset below it leaves less over.
    pub bound: f64,
    /// In the order in which they were fixed.
    pub fixed: Vec<usize>,
    /// In the order in which they were excluded.
    pub excluded: Vec<usize>,
    /// Whether the fixed columns with one more were seen to, so that only larger subsets are left.
    pub begun: bool,
}

/// What a part of the tree holds.
#[derive(Debug, Default)]
pub struct Explored {
    /// Subsets that are not ruled out, with what they leave over at least.
    pub candidates: Vec<(f64, Vec<usize>)>,
    /// What was not gone into.
    pub open: Vec<OpenSubtree>,
    /// Nodes that were gone into, and steps of coefficients there.
    pub nodes: usize,
}

/// Whether a subset that holds the first columns, and others of the second alone, may be taken; false is certain.
pub type May<'m> = &'m (dyn Fn(&[usize], &[usize]) -> bool + Sync);

/// Nodes and steps times columns of a part of the tree, and nodes and steps at least.
const PART: usize = 1 << 25;
const LEAST_PART: usize = 1 << 17;

impl SubsetSquares {
    /// Everything below an open subtree that may leave no more over than `limits` say of its size, from 0 columns on; −∞
    /// for sizes that are not asked for. After `budget` nodes the rest stays open. Where not every subset may be taken, only those
    /// that may are looked at.
    pub fn explore(&self, open: &OpenSubtree, limits: &[f64], budget: usize, may: Option<May<'_>>) -> Explored {
        let limits = limits.iter().map(|&limit| self.safe(limit)).collect();
        let mut room = Descent::default();
        let mut root = SubtreeNode::at(self, open, limits, &mut room);
        let mut search = DepthFirst { budget, may, found: Explored::default(), next_ask: 0, room };
        search.below(&mut root);
        search.found
    }

    /// The nodes after which a part of the tree is large enough.
    pub fn part(&self) -> usize {
        (PART / self.columns()).max(LEAST_PART)
    }

    /// The whole tree above the columns that are fixed from the start.
    pub fn root(&self, fixed: Vec<usize>) -> OpenSubtree {
        OpenSubtree { bound: f64::NEG_INFINITY, fixed, excluded: Vec::new(), begun: false }
    }
}

struct DepthFirst<'s, 'm> {
    budget: usize,
    may: Option<May<'m>>,
    room: Descent<'s>,
    found: Explored,
    /// Nodes and steps after which it is asked whether to go on.
    next_ask: usize,
}

/// Nodes and steps between two questions.
const ASK_EVERY: usize = 64;

impl<'s> DepthFirst<'s, '_> {
    fn may(&self, fixed: &[usize], free: &[usize]) -> bool {
        self.may.is_none_or(|may| may(fixed, free))
    }

    fn below(&mut self, node: &mut SubtreeNode<'s>) {
        if self.found.nodes >= self.budget {
            self.found.open.push(node.open());
            return;
        }
        if !node.begun {
            node.is_alive();
            node.raise(&mut self.room);
            self.offer_all(&node.fit, (&node.fixed, None), &node.free, node.limit(node.fixed.len() + 1));
            node.begun = true;
        }
        while node.is_alive() && self.may(&node.fixed, &node.free) {
            if self.found.nodes >= self.budget {
                self.found.open.push(node.open());
                return;
            }
            self.found.nodes += 1 + std::mem::take(&mut node.steps);
            if self.found.nodes >= self.next_ask {
                checkpoint();
                self.next_ask = self.found.nodes + ASK_EVERY;
            }
            let Some(column) = node.branch() else { return };
            if node.is_last() {
                let mut fit = std::mem::take(&mut self.room.last);
                fit.copy_from(&node.fit);
                fit.add(node.of, column, &mut self.room.levels);
                self.offer_all(&fit, (&node.fixed, Some(column)), &node.free, node.limit(node.fixed.len() + 2));
                self.room.last = fit;
            } else {
                let mut child = self.room.copied(node);
                child.include(column, &mut self.room);
                self.below(&mut child);
                self.room.spare.push(child);
            }
            node.exclude(column);
        }
        self.found.nodes += node.steps;
    }

    /// A fit's columns, of which one may be beside the fixed ones, with each of some others.
    fn offer_all(&mut self, fit: &SubsetFit, (fixed, last): (&[usize], Option<usize>), others: &[usize], limit: f64) {
        for &k in others {
            let squares = fit.with(k);
            if squares > limit || squares.is_nan() || last == Some(k) {
                continue;
            }
            let subset: Vec<usize> = fixed.iter().copied().chain(last).chain([k]).collect();
            if self.may(&subset, &[]) {
                self.found.candidates.push((squares, subset));
            }
        }
    }
}
