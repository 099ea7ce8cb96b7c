//! A part of the tree, searched depth first.

use super::SubsetSquares;
use super::fit::SubsetFit;
use super::node::SubtreeNode;

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
        let mut search = DepthFirst { budget, may, found: Explored::default() };
        search.below(SubtreeNode::at(self, open, limits));
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

struct DepthFirst<'m> {
    budget: usize,
    may: Option<May<'m>>,
    found: Explored,
}

impl DepthFirst<'_> {
    fn may(&self, fixed: &[usize], free: &[usize]) -> bool {
        self.may.is_none_or(|may| may(fixed, free))
    }

    fn below(&mut self, mut node: SubtreeNode<'_>) {
        if self.found.nodes >= self.budget {
            self.found.open.push(node.open());
            return;
        }
        if !node.begun {
            node.is_alive();
            node.raise();
            self.offer_all(&node.fit, &node.fixed, &node.free, node.limit(node.fixed.len() + 1));
            node.begun = true;
        }
        while node.is_alive() && self.may(&node.fixed, &node.free) {
            if self.found.nodes >= self.budget {
                self.found.open.push(node.open());
                return;
            }
            self.found.nodes += 1 + std::mem::take(&mut node.steps);
            let Some(column) = node.branch() else { return };
            if node.is_last() {
                let others: Vec<usize> = node.free.iter().copied().filter(|&k| k != column).collect();
                let fixed = [&node.fixed[..], &[column]].concat();
                self.offer_all(&node.fit_with(column), &fixed, &others, node.limit(fixed.len() + 1));
            } else {
                let mut child = node.clone();
                child.include(column);
                self.below(child);
            }
            node.exclude(column);
        }
        self.found.nodes += node.steps;
    }

    /// A fit's columns with each of some others.
    fn offer_all(&mut self, fit: &SubsetFit, fixed: &[usize], others: &[usize], limit: f64) {
        for &k in others {
            let squares = fit.with(k);
            if squares > limit || squares.is_nan() {
                continue;
            }
            let subset = [fixed, &[k]].concat();
            if self.may(&subset, &[]) {
                self.found.candidates.push((squares, subset));
            }
        }
    }
}
