//! A node of the tree: fixed columns, free columns, and bounds of subsets by the perspective relaxation.
//!
//! With P = H − D positive semidefinite, ‖y − Xw‖² = yᵀy − 2gᵀw + wᵀPw + wᵀDw, where wᵀPw is at least its tangent at
//! any v. So with p = g − Pv, every subset S that contains the fixed columns has a residual sum of squares of at least
//!
//! yᵀy − vᵀPv − Σ_{j fixed} p_j²/D_j − the sum of the |S| − |fixed| largest p_j²/D_j of free columns,
//!
//! for all sizes at once. The best v minimizes yᵀy − 2gᵀv + vᵀPv + Σ D_j v_j²/z_j over 0 ≤ z ≤ 1, Σ z_j ≤ |S|, z_j = 1
//! for fixed columns, by coordinate descent. With ν the price (dual variable) of a column, the term of a free one is
//! 2√(D_jν)|v_j| while D_j v_j² ≤ ν, and D_j v_j² + ν beyond. No inverse is needed, and v is sparse.
//!
//! # Reference
//! J. Liu, S. Shafiee, A. Lodi, *Scalable first-order method for certifying optimal k-sparse GLMs*, ICML 2025, for
//! bounds of this relaxation by first-order steps.

use super::SubsetSquares;
use super::held_out_bound::{LossTangent, PartSystem};
use super::node_fit::{LevelRows, NodeFit};
use super::open_subtree::OpenSubtree;
use vaglio_core::{checkpoint, minimum, sum_of_squares};
use vaglio_kernels::sums::{axpy, dot};

/// Maximum passes over the columns for the bound of one size.
const PASSES: usize = 6;
/// Share of the gap between a bound and its limit that is not worth another pass.
const CLOSE: f64 = 0.05;

/// Buffers shared by the nodes on one path down the tree: a step copies little and allocates nothing.
#[derive(Default)]
pub(super) struct SearchBuffers<'s> {
    pub levels: Vec<LevelRows>,
    /// Residuals of each output.
    residuals: Vec<Vec<f64>>,
    deltas: Vec<Vec<f64>>,
    systems: Vec<PartSystem>,
    /// Fit of a node with one more column.
    pub last: NodeFit,
    /// Discarded nodes.
    pub spare: Vec<SubtreeNode<'s>>,
}

impl<'s> SearchBuffers<'s> {
    /// Copies a node, reusing the memory of a discarded one.
    pub fn copy(&mut self, node: &SubtreeNode<'s>) -> SubtreeNode<'s> {
        let Some(mut copy) = self.spare.pop() else { return node.clone() };
        copy.copy_from(node);
        copy
    }
}

#[derive(Clone)]
pub(super) struct SubtreeNode<'s> {
    pub squares: &'s SubsetSquares,
    pub fixed: Vec<usize>,
    pub free: Vec<usize>,
    pub excluded: Vec<usize>,
    /// Largest admissible residual sum of squares by size; −∞ for sizes that are ruled out.
    limits: Vec<f64>,
    /// v and p = g − Pv, of each output.
    v: Vec<Vec<f64>>,
    p: Vec<Vec<f64>>,
    along: Vec<Vec<f64>>,
    total: f64,
    pub fit: NodeFit,
    tangent: Option<LossTangent>,
    /// Whether v has changed, or columns were fixed or excluded, since the last test.
    is_moved: bool,
    /// Whether the fixed columns with one more were already examined.
    pub begun: bool,
    /// Lower bound over all remaining sizes.
    pub bound: f64,
    /// Lower bound of the residual sum of squares at v, by size.
    bounds: Vec<f64>,
    /// Largest p_j²/D_j of free columns at v, one more than a subset can contain.
    worths: Vec<f64>,
    /// Value of the relaxation at v without the terms of free columns.
    value: f64,
    /// Roots of D_j v_j² of free columns, a buffer for finding a price.
    roots: Vec<f64>,
    /// Number of coordinate steps.
    pub steps: usize,
}

impl<'s> SubtreeNode<'s> {
    /// Creates the node of an open subtree.
    pub fn at(
        squares: &'s SubsetSquares,
        open: &OpenSubtree,
        limits: Vec<f64>,
        buffers: &mut SearchBuffers<'s>,
    ) -> Self {
        let size = squares.columns();
        let mut node = SubtreeNode {
            squares,
            fixed: Vec::new(),
            free: (0..size).filter(|k| !open.excluded.contains(k)).collect(),
            excluded: open.excluded.clone(),
            limits,
            v: vec![vec![0.0; size]; squares.along.len()],
            p: squares.along.clone(),
            along: squares.along.clone(),
            total: squares.total,
            fit: NodeFit::new(&squares.along, squares.total),
            tangent: squares.held_out.as_ref().map(LossTangent::new),
            is_moved: true,
            begun: false,
            bound: open.squares_bound,
            bounds: Vec::new(),
            worths: Vec::new(),
            value: 0.0,
            roots: Vec::new(),
            steps: 0,
        };
        open.fixed.iter().for_each(|&column| node.include(column, buffers));
        if open.begun {
            node.raise_bound(buffers);
            node.begun = true;
        }
        node
    }

    /// Copies another node, except for values that are tested anew.
    pub fn copy_from(&mut self, other: &Self) {
        self.fixed.clone_from(&other.fixed);
        self.free.clone_from(&other.free);
        self.excluded.clone_from(&other.excluded);
        self.limits.clone_from(&other.limits);
        self.v.clone_from(&other.v);
        self.p.clone_from(&other.p);
        self.along.clone_from(&other.along);
        self.fit.copy_from(&other.fit);
        match &other.tangent {
            None => self.tangent = None,
            Some(tangent) => self.tangent.get_or_insert_default().copy_from(tangent),
        }
        (self.total, self.bound, self.steps) = (other.total, other.bound, other.steps);
        (self.is_moved, self.begun) = (other.is_moved, other.begun);
    }

    pub fn limit(&self, size: usize) -> f64 {
        self.limits.get(size).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Fixes a free column. Cost O(n·s).
    pub fn include(&mut self, column: usize, buffers: &mut SearchBuffers<'s>) {
        self.free.retain(|&k| k != column);
        self.fixed.push(column);
        self.fit.add(self.squares, column, &mut buffers.levels);
        if let (Some(tangent), Some(held_out)) = (&mut self.tangent, &self.squares.held_out) {
            tangent.add(self.squares, held_out, &mut buffers.levels);
        }
        (self.is_moved, self.begun) = (true, false);
    }

    /// Excludes a free column. Cost O(n).
    pub fn exclude(&mut self, column: usize) {
        self.free.retain(|&k| k != column);
        self.excluded.push(column);
        self.set(column, |_, _| 0.0);
    }

    /// Sets v_j of each output to a function of the output and p_j + P_jj v_j. Cost O(n).
    fn set(&mut self, column: usize, to: impl Fn(usize, f64) -> f64) {
        let own = self.squares.diagonal[column];
        for (output, (v, p)) in self.v.iter_mut().zip(&mut self.p).enumerate() {
            let next = to(output, p[column] + (1.0 - own) * v[column]);
            let step = next - v[column];
            if step != 0.0 {
                axpy(-step, self.squares.row(column), p);
                p[column] += step * own;
                v[column] = next;
                (self.is_moved, self.steps) = (true, self.steps + 1);
            }
        }
    }

    /// p_j²/D_j.
    fn worth(&self, column: usize) -> f64 {
        square(&self.p, column) / self.squares.diagonal[column]
    }

    /// D_j v_j².
    fn cost(&self, column: usize) -> f64 {
        square(&self.v, column) * self.squares.diagonal[column]
    }

    /// Sizes that may occur below the node.
    fn sizes(&self) -> std::ops::RangeInclusive<usize> {
        let (fixed, most) = (self.fixed.len(), self.limits.len() - 1);
        fixed + 1 + usize::from(self.begun)..=most.min(fixed + self.free.len())
    }

    /// Computes the bounds of every size at the current v.
    fn test(&mut self) {
        let most = (self.limits.len() - 1).saturating_sub(self.fixed.len());
        let mut worths = std::mem::take(&mut self.worths);
        worths.clear();
        worths.extend(self.free.iter().map(|&k| self.worth(k)));
        if most + 1 < worths.len() {
            worths.select_nth_unstable_by(most, |a, b| b.total_cmp(a));
            worths.truncate(most + 1);
        }
        worths.sort_unstable_by(|a, b| b.total_cmp(a));
        let (mut bound, mut value) = (self.total, self.total);
        for ((v, p), g) in self.v.iter().zip(&self.p).zip(&self.along) {
            let (along, rest) = (dot(v, g), dot(v, p));
            (bound, value) = (bound - (along - rest), value - (along + rest));
        }
        for &k in &self.fixed {
            (bound, value) = (bound - self.worth(k), value + self.cost(k));
        }
        let bounds = &mut self.bounds;
        bounds.clear();
        bounds.resize(self.limits.len(), f64::NEG_INFINITY);
        for (count, place) in bounds.iter_mut().skip(self.fixed.len()).enumerate() {
            bound -= if count == 0 { 0.0 } else { worths.get(count - 1).copied().unwrap_or(0.0) };
            *place = bound;
        }
        (self.worths, self.value) = (worths, value);
    }

    /// Rules out sizes by the bounds at v.
    fn rule_out(&mut self) {
        self.test();
        let mut least = f64::MAX;
        for size in self.sizes() {
            let bound = self.bounds[size];
            if bound > self.limits[size] {
                self.limits[size] = f64::NEG_INFINITY;
            } else if self.limits[size] > f64::NEG_INFINITY {
                least = least.min(bound);
            }
        }
        self.bound = self.bound.max(least);
    }

    /// Excludes free columns that are in no remaining subset: including one displaces the column of least p_j²/D_j.
    fn thin_out(&mut self) {
        let size_bound = |size: usize| {
            let last = self.worths.get(size - self.fixed.len() - 1).copied().unwrap_or(0.0);
            last - (self.limits[size] - self.bounds[size])
        };
        let least = minimum(self.sizes().filter(|&size| self.is_open(size)).map(size_bound));
        if least > 0.0 && least < f64::INFINITY {
            let mut free = std::mem::take(&mut self.free);
            free.retain(|&k| self.squares.blocks[k].iter().all(|&k| self.worth(k) >= least));
            self.free = free;
        }
    }

    fn is_open(&self, size: usize) -> bool {
        self.limits[size] > f64::NEG_INFINITY
    }

    /// Price of a column at v for `count` free ones, and an upper bound of the relaxation.
    fn price(&mut self, count: usize) -> (f64, f64) {
        let mut roots = std::mem::take(&mut self.roots);
        roots.clear();
        roots.extend(self.free.iter().map(|&k| self.cost(k)).filter(|cost| *cost > 0.0).map(f64::sqrt));
        let price = self.price_of(&mut roots, count);
        self.roots = roots;
        price
    }

    /// Price and upper bound, given the roots of D_j v_j².
    fn price_of(&self, roots: &mut [f64], count: usize) -> (f64, f64) {
        if roots.len() <= count {
            let next = self.worths.get(count).copied().unwrap_or(0.0);
            return (next, self.value + sum_of_squares(&*roots));
        }
        roots.sort_unstable_by(|a, b| b.total_cmp(a));
        let (mut rest, mut whole): (f64, f64) = (roots.iter().sum(), 0.0);
        for (at, &root) in roots.iter().enumerate().take(count) {
            let price = rest / (count - at) as f64;
            if root <= price {
                return (price * price, self.value + whole + price * rest);
            }
            (rest, whole) = (rest - root, whole + root * root);
        }
        (0.0, f64::INFINITY)
    }

    /// One pass of coordinate descent at a price.
    fn pass(&mut self, price: f64) {
        let (fixed, free) = (std::mem::take(&mut self.fixed), std::mem::take(&mut self.free));
        fixed.iter().for_each(|&column| self.set(column, |_, along| along));
        for &column in &free {
            let own = self.squares.diagonal[column];
            let moved = |(p, v): (&Vec<f64>, &Vec<f64>)| (p[column] + (1.0 - own) * v[column]).powi(2);
            let square: f64 = self.p.iter().zip(&self.v).map(moved).sum();
            if square <= price * own {
                self.set(column, |_, _| 0.0);
                continue;
            }
            let (norm, kink) = (square.sqrt(), (price / own).sqrt());
            let length = if norm > kink { norm } else { ((norm - (price * own).sqrt()) / (1.0 - own)).min(kink) };
            self.set(column, |_, along| length / norm * along);
        }
        (self.fixed, self.free) = (fixed, free);
    }

    /// Improves v for one size while that may rule it out.
    fn tighten(&mut self, size: usize) {
        for _ in 0..PASSES {
            let (price, most) = self.price(size - self.fixed.len());
            let (limit, bound) = (self.limits[size], self.bounds[size]);
            if !self.is_open(size) || most <= limit || most - bound <= CLOSE * (most - limit) {
                return;
            }
            self.pass(price);
            self.rule_out();
        }
    }

    /// Whether any size below the node remains.
    pub fn is_alive(&mut self) -> bool {
        self.rule_out();
        if self.is_moved {
            for size in self.sizes().rev() {
                if self.is_open(size) {
                    self.tighten(size);
                }
            }
            self.is_moved = false;
        }
        if self.begun {
            self.thin_out();
        }
        self.sizes().any(|size| self.is_open(size))
    }

    /// Whether only subsets with two more columns remain. False with blocks or held-out bounds.
    pub fn is_last(&self) -> bool {
        let has_blocks = self.squares.blocks.iter().any(|block| block.len() > 1);
        self.tangent.is_none() && !has_blocks && !self.sizes().skip(1).any(|size| self.is_open(size))
    }

    /// Free column with the largest D_j v_j², on which to branch; `None` without free columns.
    pub fn branch(&self) -> Option<usize> {
        let compare = |a: &usize, b: &usize| {
            let by_cost = self.cost(*a).total_cmp(&self.cost(*b));
            by_cost.then_with(|| self.worth(*a).total_cmp(&self.worth(*b))).then(b.cmp(a))
        };
        self.free.iter().copied().max_by(compare)
    }

    /// Weights the residuals by the leverage of the fixed columns if that raises the bound. Cost O(m·n).
    pub fn raise_bound(&mut self, buffers: &mut SearchBuffers<'s>) {
        let (Some(tangent), Some(held_out)) = (&self.tangent, &self.squares.held_out) else { return };
        let squares = self.squares;
        buffers.residuals.clone_from(&squares.targets);
        for (e, v) in buffers.residuals.iter_mut().zip(&self.v) {
            (0..v.len()).filter(|&k| v[k] != 0.0).for_each(|k| axpy(-v[k], &squares.x[k], e));
        }
        checkpoint();
        let SearchBuffers { levels, residuals, deltas, systems, .. } = buffers;
        let mut total = 0.0;
        deltas.resize_with(residuals.len(), Vec::new);
        for ((e, y), u) in residuals.iter().zip(&squares.targets).zip(deltas) {
            let Some(()) = tangent.delta_residuals(held_out, e, levels, systems, u) else { return };
            total += 2.0 * dot(u, y) - dot(u, e);
        }
        if !total.is_finite() {
            return;
        }
        let mut raised = buffers.copy(self);
        raised.total = squares.total + total;
        for (output, delta) in buffers.deltas.iter().enumerate() {
            for &k in self.fixed.iter().chain(&self.free) {
                let along = squares.along[output][k] + dot(&squares.x[k], delta);
                raised.p[output][k] += along - raised.along[output][k];
                raised.along[output][k] = along;
            }
        }
        raised.test();
        self.test();
        let least = *self.sizes().start();
        if raised.bounds.get(least) > self.bounds.get(least) {
            raised.fit.refit(&raised.along, raised.total, &buffers.levels);
            raised.is_moved = true;
            std::mem::swap(self, &mut raised);
        }
        buffers.spare.push(raised);
    }
}

fn square(values: &[Vec<f64>], column: usize) -> f64 {
    values.iter().map(|values| values[column] * values[column]).sum()
}
