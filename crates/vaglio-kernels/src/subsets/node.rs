//! A node of the tree: columns that are fixed, columns that are free, and the fit of all of them.

use super::fit::SubsetFit;
use super::held_out::Lift;
use super::{OpenSubtree, SubsetSquares};
use crate::sums::{axpy, dot};
use std::borrow::Cow;
use std::rc::Rc;

/// Rank-one updates after which a node with few columns left has an inverse of its own.
const MANY_UPDATES: usize = 12;

#[derive(Clone)]
pub(super) struct SubtreeNode<'s> {
    of: &'s SubsetSquares,
    base: Rc<Base<'s>>,
    /// What the inverse of the base loses: H⁻¹ = R − Σ r rᵀ.
    updates: Vec<Rc<Vec<f64>>>,
    /// Places in the base.
    pub fixed: Vec<usize>,
    pub free: Vec<usize>,
    excluded: Vec<usize>,
    inverse_diagonal: Vec<f64>,
    coefficients: Vec<Vec<f64>>,
    along: Vec<Vec<f64>>,
    total: f64,
    /// What the fit of all columns leaves over.
    pub squares: f64,
    pub fit: SubsetFit,
    lift: Option<Lift>,
}

/// Columns with the inverse of their Gram matrix.
struct Base<'s> {
    members: Vec<usize>,
    inverse: Cow<'s, [f64]>,
}

impl Base<'_> {
    fn row(&self, place: usize) -> &[f64] {
        let size = self.members.len();
        &self.inverse[place * size..(place + 1) * size]
    }
}

impl<'s> SubtreeNode<'s> {
    pub fn root(of: &'s SubsetSquares) -> Self {
        let size = of.columns();
        let base = Rc::new(Base { members: (0..size).collect(), inverse: Cow::Borrowed(&of.inverse) });
        let mut node = SubtreeNode {
            of,
            base,
            updates: Vec::new(),
            fixed: Vec::new(),
            free: (0..size).collect(),
            excluded: Vec::new(),
            inverse_diagonal: (0..size).map(|k| of.inverse[k * size + k]).collect(),
            coefficients: Vec::new(),
            along: of.along.clone(),
            total: of.total,
            squares: of.total,
            fit: SubsetFit::new(&of.along, of.total),
            lift: of.held_out.as_ref().map(Lift::new),
        };
        node.solve();
        node.raise();
        node
    }

    /// The node that an open subtree names.
    pub fn at(of: &'s SubsetSquares, open: &OpenSubtree) -> Self {
        let mut node = SubtreeNode::root(of);
        for &column in &open.excluded {
            node.exclude(node.place(column));
        }
        for &column in &open.fixed {
            node.include(node.place(column));
        }
        node.raise();
        node
    }

    fn place(&self, column: usize) -> usize {
        self.base.members.iter().position(|&member| member == column).unwrap_or(0)
    }

    pub fn column(&self, place: usize) -> usize {
        self.base.members[place]
    }

    pub fn open(&self, bound: f64) -> OpenSubtree {
        let fixed = self.fixed.iter().map(|&place| self.column(place)).collect();
        OpenSubtree { bound, fixed, excluded: self.excluded.clone() }
    }

    /// The columns of the node's subset, with one more.
    pub fn subset_with(&self, place: usize) -> Vec<usize> {
        self.fixed.iter().chain([&place]).map(|&place| self.column(place)).collect()
    }

    /// c = H⁻¹Xᵀy and f. Cost O(n²).
    fn solve(&mut self) {
        let level = self.of.level;
        let mut squares = self.total;
        let mut all = Vec::with_capacity(self.along.len());
        for along in &self.along {
            let mut b = vec![0.0; along.len()];
            let active = || self.fixed.iter().chain(&self.free);
            active().for_each(|&k| b[k] = along[k]);
            let mut c = vec![0.0; along.len()];
            active().for_each(|&k| c[k] = dot(level, self.base.row(k), &b));
            for update in &self.updates {
                axpy(level, -dot(level, update, &b), update, &mut c);
            }
            squares -= active().map(|&k| along[k] * c[k]).sum::<f64>();
            all.push(c);
        }
        (self.coefficients, self.squares) = (all, squares);
    }

    /// What removing a free column costs.
    #[inline]
    pub fn cost(&self, place: usize) -> f64 {
        self.square(place) / self.inverse_diagonal[place]
    }

    #[inline]
    fn square(&self, place: usize) -> f64 {
        self.coefficients.iter().map(|c| c[place] * c[place]).sum()
    }

    /// D_j c_j².
    #[inline]
    pub fn separate_cost(&self, place: usize) -> f64 {
        self.of.diagonal[self.base.members[place]] * self.square(place)
    }

    /// Fixes a free column. Cost O(n·s).
    pub fn include(&mut self, place: usize) {
        self.free.retain(|&k| k != place);
        self.fixed.push(place);
        let column = self.column(place);
        let products = self.base.members.iter().map(|&member| self.of.product(column, member)).collect();
        self.fit.add(self.of, place, products);
        if let (Some(lift), Some(held_out)) = (&mut self.lift, &self.of.held_out) {
            lift.add(self.of, held_out, column);
        }
    }

    /// Weighs the residuals by what the fixed columns have for leverage, where that raises the bound. Cost O(m·n).
    pub fn raise(&mut self) {
        let (Some(lift), Some(held_out)) = (&self.lift, &self.of.held_out) else { return };
        let (level, of) = (self.of.level, self.of);
        let active = || self.fixed.iter().chain(&self.free);
        let mut residuals = of.targets.clone();
        for (e, c) in residuals.iter_mut().zip(&self.coefficients) {
            active().for_each(|&k| axpy(level, -c[k], &of.x[self.column(k)], e));
        }
        let Some(tangent) = lift.tangent(of, held_out, &residuals) else { return };
        let mut raised = self.clone();
        raised.total = of.total + tangent.total;
        for ((along, lifted), own) in raised.along.iter_mut().zip(&tangent.lifted).zip(&of.along) {
            for &k in self.fixed.iter().chain(&self.free) {
                let column = self.column(k);
                along[k] = own[column] + dot(level, &of.x[column], lifted);
            }
        }
        raised.solve();
        if raised.squares > self.squares {
            let (along, total) = (std::mem::take(&mut raised.along), raised.total);
            raised.fit.lean(of, &along, total);
            raised.along = along;
            *self = raised;
        }
    }

    /// Leaves a free column out. Cost O(n) for each column that was left out before.
    pub fn exclude(&mut self, place: usize) {
        let level = self.of.level;
        self.free.retain(|&k| k != place);
        self.excluded.push(self.column(place));
        let mut row = self.base.row(place).to_vec();
        for update in &self.updates {
            axpy(level, -update[place], update, &mut row);
        }
        let root = row[place].sqrt();
        row.iter_mut().for_each(|r| *r /= root);
        for c in &mut self.coefficients {
            let step = c[place] / root;
            self.squares += step * step;
            axpy(level, -step, &row, c);
        }
        self.inverse_diagonal.iter_mut().zip(&row).for_each(|(d, r)| *d -= r * r);
        self.updates.push(row.into());
        if self.updates.len() >= MANY_UPDATES && 4 * (self.fixed.len() + self.free.len()) < 3 * self.base.members.len()
        {
            self.rebase();
        }
    }

    /// Drops the columns that were left out from the base.
    fn rebase(&mut self) {
        let kept: Vec<usize> = self.fixed.iter().chain(&self.free).copied().collect();
        let of = |values: &[f64]| -> Vec<f64> { kept.iter().map(|&k| values[k]).collect() };
        let mut inverse = Vec::with_capacity(kept.len() * kept.len());
        let updates: Vec<Vec<f64>> = self.updates.iter().map(|update| of(update)).collect();
        for (at, &k) in kept.iter().enumerate() {
            let mut row = of(self.base.row(k));
            updates.iter().for_each(|update| axpy(self.of.level, -update[at], update, &mut row));
            inverse.extend(row);
        }
        let members = kept.iter().map(|&k| self.column(k)).collect();
        self.base = Rc::new(Base { members, inverse: Cow::Owned(inverse) });
        self.inverse_diagonal = of(&self.inverse_diagonal);
        self.coefficients.iter_mut().for_each(|c| *c = of(c));
        self.along.iter_mut().for_each(|a| *a = of(a));
        self.fit.among(&kept);
        let fixed = self.fixed.len();
        self.updates.clear();
        (self.fixed, self.free) = ((0..fixed).collect(), (fixed..kept.len()).collect());
    }
}
