//! A part of the tree, searched depth first.

use super::SubsetSquares;
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
}

/// What a part of the tree holds.
#[derive(Debug, Default)]
pub struct Explored {
    /// Subsets that are not ruled out, with what they leave over at least.
    pub candidates: Vec<(f64, Vec<usize>)>,
    /// What was not gone into.
    pub open: Vec<OpenSubtree>,
    /// Nodes that were gone into.
    pub nodes: usize,
}

/// Free columns from which on a node weighs its residuals anew.
const WORTH_RAISING: usize = 4;

impl SubsetSquares {
    /// Everything below an open subtree that may leave no more over than `limits` say of its size, from 0 columns on; −∞
    /// for sizes that are not asked for. After `budget` nodes the rest stays open.
    pub fn explore(&self, open: &OpenSubtree, limits: &[f64], budget: usize) -> Explored {
        let limits = limits.iter().map(|&limit| self.safe(limit)).collect();
        let mut search = DepthFirst { limits, budget, found: Explored::default(), costs: Vec::new(), sums: Vec::new() };
        search.below(SubtreeNode::at(self, open));
        search.found
    }

    /// The whole tree above the columns that are fixed from the start.
    pub fn root(&self, fixed: Vec<usize>) -> OpenSubtree {
        OpenSubtree { bound: f64::NEG_INFINITY, fixed, excluded: Vec::new() }
    }
}

struct DepthFirst {
    limits: Vec<f64>,
    budget: usize,
    found: Explored,
    costs: Vec<f64>,
    sums: Vec<f64>,
}

impl DepthFirst {
    fn limit(&self, size: usize) -> f64 {
        self.limits.get(size).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// The largest size at which something below a node is not ruled out, with the least bound of all sizes.
    fn alive(&mut self, node: &SubtreeNode<'_>) -> Option<(usize, f64)> {
        let (fixed, free) = (node.fixed.len(), node.free.len());
        let most = (fixed + free).min(self.limits.len() - 1);
        // Quick: the fit of all columns.
        if (fixed + 1..=most).all(|size| node.squares > self.limit(size)) {
            return None;
        }
        self.costs.clear();
        self.costs.extend(node.free.iter().map(|&k| node.cost(k)));
        self.costs.sort_unstable_by(f64::total_cmp);
        self.sums.clear();
        self.sums.extend(node.free.iter().map(|&k| node.separate_cost(k)));
        self.sums.sort_unstable_by(f64::total_cmp);
        let mut sum = 0.0;
        self.sums.iter_mut().for_each(|s| {
            sum += *s;
            *s = sum;
        });
        let (mut largest, mut least) = (None, f64::INFINITY);
        for size in fixed + 1..=most {
            let dropped = fixed + free - size;
            let more = if dropped == 0 { 0.0 } else { self.costs[dropped - 1].max(self.sums[dropped - 1]) };
            if node.squares + more <= self.limit(size) {
                (largest, least) = (Some(size), least.min(node.squares + more));
            }
        }
        largest.map(|size| (size, least))
    }

    fn below(&mut self, mut node: SubtreeNode<'_>) {
        loop {
            let Some((largest, bound)) = self.alive(&node) else { return };
            if self.found.nodes >= self.budget {
                self.found.open.push(node.open(bound));
                return;
            }
            self.found.nodes += 1;
            let size = node.fixed.len() + 1;
            if largest == size {
                for k in 0..node.free.len() {
                    self.offer(&node, node.free[k]);
                }
                return;
            }
            let dearest = |a: &&usize, b: &&usize| node.cost(**a).total_cmp(&node.cost(**b)).then(b.cmp(a));
            let Some(&place) = node.free.iter().max_by(dearest) else { return };
            self.offer(&node, place);
            let mut child = node.clone();
            child.include(place);
            if child.free.len() >= WORTH_RAISING {
                child.raise();
            }
            self.below(child);
            node.exclude(place);
            if node.free.is_empty() {
                return;
            }
        }
    }

    fn offer(&mut self, node: &SubtreeNode<'_>, place: usize) {
        let squares = node.fit.with(place);
        if squares <= self.limit(node.fixed.len() + 1) {
            self.found.candidates.push((squares, node.subset_with(place)));
        }
    }
}
