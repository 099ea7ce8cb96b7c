//! State for removing any selected column, for one λ.
//!
//! Derived in the book: explanation/leave-one-out.md, "Taking a column out"; D_b there is C_b here.

use super::basis::{RankOneUpdate, UpdateKind};
use super::orthonormal_basis::OrthonormalBasis;
use crate::parallel;
use crate::ridge::reduce;
use crate::sums::{axpy, dot};
use crate::tolerance::{CANCELLED_SUM, FALLEN_INVERSE};
use crate::{Data, linalg};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, concatenate, s};
use std::ops::Range;

/// C_b = X_S H e_b and the weights w_b = C_bᵀy of every selected column, with H = (X_SᵀX_S + λI)⁻¹.
///
/// Removing column b gives G + C_b C_bᵀ/H_bb, so a + C_b w_b/H_bb and d + C_b∘C_b/H_bb; nothing is divided by λ.
#[derive(Debug, Clone)]
pub(crate) struct RemovalState {
    features: Vec<usize>,
    c: Vec<Vec<f64>>,
    /// Weights of each output, by column.
    w: Vec<Vec<f64>>,
    h: Array2<f64>,
}

impl RemovalState {
    /// Computes the state from an orthogonal decomposition of the columns, or with `one_by_one` from an orthonormal
    /// basis; `None` if that fails. Cost O(m·s² + s³).
    pub fn new(data: &Data<'_>, lambda: f64, features: Vec<usize>, one_by_one: bool) -> Option<Self> {
        let (h, c) = match one_by_one {
            true => OrthonormalBasis::new(data, lambda, &features).removable(data),
            false => decompose(data, lambda, &features)?,
        };
        let weights = |c: &Vec<f64>| data.centered.iter().map(|y| dot(c, y)).collect();
        let w = c.iter().map(weights).collect();
        Some(RemovalState { features, c, w, h })
    }

    /// Adds a column, given the update by its addition. Cost O(m·s).
    ///
    /// With u_i = xᵀC_i: C_i −= (u_i/τ)c, w_i −= u_i t/τ, H_ij += u_i u_j/τ, H_ib = −u_i/τ, H_bb = 1/τ.
    pub fn add(&mut self, data: &Data<'_>, feature: usize, update: &RankOneUpdate) {
        let (x, RankOneUpdate { c, t, .. }, tau) = (data.scaled_column(feature), update, update.tau);
        let take_in = |_, (own, w): &mut (&mut Vec<f64>, &mut Vec<f64>)| {
            let u = dot(&x, own);
            axpy(-u / tau, c, own);
            w.iter_mut().zip(t).for_each(|(w, t)| *w -= u * t / tau);
            u
        };
        let mut columns: Vec<_> = self.c.iter_mut().zip(&mut self.w).collect();
        let u: Vec<f64> = parallel::map_mut(&mut columns, take_in);
        self.h = linalg::with_border(&self.h, &u, tau);
        self.features.push(feature);
        self.c.push(c.iter().map(|c| c / tau).collect());
        self.w.push(t.iter().map(|t| t / tau).collect());
    }

    /// Removes a column. Returns the update of G, and whether cancellation makes the remaining columns unreliable; `None`
    /// if the column is not selected or its H_bb is unreliable. Cost O(m·s).
    ///
    /// With r_i = H_ib/H_bb: C_i −= r_i C_b, w_i −= r_i w_b, H ← H − H_b H_bᵀ/H_bb.
    pub fn remove(&mut self, data: &Data<'_>, feature: usize) -> Option<(RankOneUpdate, bool)> {
        let at = self.place(feature)?;
        let column = self.h.column(at).to_owned();
        let own = column[at];
        if !(own.is_finite() && own > 0.0) {
            return None;
        }
        let mut parts: Vec<(usize, f64)> = self.features.iter().copied().zip(column.iter().copied()).collect();
        self.features.remove(at);
        let (c, w) = (self.c.remove(at), self.w.remove(at));
        let old = |i: usize| i + usize::from(i >= at);
        let mut columns: Vec<_> = self.c.iter_mut().zip(&mut self.w).collect();
        parallel::each_mut(&mut columns, |i, (other, weights)| {
            let ratio = column[old(i)] / own;
            axpy(-ratio, &c, other);
            axpy(-ratio, &w, weights);
        });
        let after = linalg::without_border(&self.h, at);
        let before = std::mem::replace(&mut self.h, after);
        let is_fallen = |(i, h): (usize, &f64)| h.is_nan() || *h <= FALLEN_INVERSE * before[[old(i), old(i)]];
        let is_unreliable = self.h.diag().iter().enumerate().any(is_fallen);
        let lengths: f64 = parts.iter().map(|(feature, part)| part.abs() * data.squares(*feature).sqrt()).sum();
        if lengths > CANCELLED_SUM * dot(&c, &c).sqrt() {
            parts.clear();
        }
        Some((RankOneUpdate { kind: UpdateKind::Exit(parts), c, tau: -own, t: w }, is_unreliable))
    }

    /// Smallest remaining share of λ + ‖x_b‖² of a column given all others.
    pub fn remaining_share(&self, data: &Data<'_>, lambda: f64) -> f64 {
        let share = |(&feature, h): (&usize, &f64)| 1.0 / (h * (lambda + data.squares(feature)));
        self.features.iter().zip(self.h.diag()).map(share).fold(1.0, f64::min)
    }

    /// Residuals y − Σ_b x_b w_b of each output, and 1 − leverage of each row, reduced by Σ_b x_b∘C_b. Cost O(m·s).
    pub fn residuals(&self, data: &Data<'_>) -> (Vec<Vec<f64>>, Vec<f64>) {
        let (mut a, mut d) = (data.centered.clone(), data.empty_diagonal());
        let along: Vec<f64> = parallel::map_slice(&self.features, |&feature| data.along_ones(feature));
        parallel::map_spans(a.iter_mut().chain([&mut d]), data.rows(), TILE, |tile, parts| {
            let Some((d, a)) = parts.split_last_mut() else { return };
            let (rows, mut x) = (tile * TILE..tile * TILE + d.len(), vec![0.0; d.len()]);
            for (k, &feature) in self.features.iter().enumerate() {
                data.scaled_rows(feature, along[k], rows.clone(), &mut x);
                a.iter_mut().zip(&self.w[k]).for_each(|(a, w)| axpy(-w, &x, a));
                let c = &self.c[k][rows.clone()];
                d.iter_mut().zip(&x).zip(c).for_each(|((d, x), c)| *d -= x * c);
            }
        });
        (a, d)
    }

    /// C_b, w_b and H_bb of a selected column.
    pub fn column(&self, feature: usize) -> Option<(&[f64], &[f64], f64)> {
        self.place(feature).map(|at| (&*self.c[at], &*self.w[at], self.h[[at, at]]))
    }

    fn place(&self, feature: usize) -> Option<usize> {
        self.features.iter().position(|&f| f == feature)
    }
}

/// Rows decomposed at a time, so that X is never materialized.
const TILE: usize = 2048;
/// Number of blocks of rows decomposed in parallel, whatever the number of threads.
const PARTS: usize = 8;

/// H and the columns X H e_b.
fn decompose(data: &Data<'_>, lambda: f64, features: &[usize]) -> Option<(Array2<f64>, Vec<Vec<f64>>)> {
    let (rows, size) = (data.rows(), features.len());
    let features: Vec<(usize, f64)> = parallel::map_slice(features, |&f| (f, data.along_ones(f)));
    let height = TILE.max(8 * size);
    let part = rows.div_ceil(PARTS).max(height);
    let ends = |start: usize, step: usize, end: usize| (start..end).step_by(step).map(move |at| at..end.min(at + step));
    // Writes some rows of the scaled columns, each with its component along the ones removed.
    let write = |rows: Range<usize>, mut to: ArrayViewMut2<f64>| {
        for (mut to, &(feature, along)) in to.columns_mut().into_iter().zip(&features) {
            if let Some(to) = to.as_slice_mut() {
                data.scaled_rows(feature, along, rows.clone(), to);
            }
        }
    };
    let reduced = |part: &Range<usize>| reduce(size, ends(part.start, height, part.end), Range::len, write);
    let parts: Vec<Range<usize>> = ends(0, part, rows).collect();
    let parts: Vec<Array2<f64>> = parallel::map_slice(&parts, reduced).into_iter().collect::<Result<_, _>>().ok()?;
    let parts: Vec<ArrayView2<f64>> = parts.iter().map(Array2::view).collect();
    let together = linalg::triangle(concatenate(Axis(0), &parts).ok()?.view()).ok()?;
    let mut triangle = Array2::zeros((size, size));
    triangle.slice_mut(s![..together.nrows(), ..]).assign(&together);

    let (_, d, v) = linalg::svd(triangle.view()).ok()?;
    let weighed = &v * &d.mapv(|d| 1.0 / (d * d + lambda)).insert_axis(Axis(0));
    let h = linalg::gemm(weighed.view(), v.t());
    let mut c = vec![vec![0.0; rows]; size];
    parallel::map_spans(&mut c, rows, height, |tile, parts| {
        let rows = tile * height..rows.min((tile + 1) * height);
        let mut x = Array2::zeros((rows.len(), size).f());
        write(rows, x.view_mut());
        let product = linalg::gemm(linalg::gemm(x.view(), weighed.view()).view(), v.t());
        for (c, product) in parts.iter_mut().zip(product.columns()) {
            c.iter_mut().zip(product).for_each(|(to, from)| *to = *from);
        }
    });
    Some((h, c))
}
