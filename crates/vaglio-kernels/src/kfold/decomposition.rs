//! Held-out residuals of one subset for every λ, from one decomposition of all rows; works for any loss.
//!
//! The book, *Cross-validation without refitting*, "Each subset decomposed"; for single rows R. Cook and S. Weisberg,
//! *Residuals and Influence in Regression* (1982), chapter 2.

use super::FoldedRows;
use crate::exclusion::{Exclusion, split_rows};
use crate::f64x8::{F64x8, fold_eights};
use crate::is_unreliable;
use crate::linalg::{self, FactorizationError};
use crate::parallel;
use crate::trial::worse;
use crate::vectorize;
use ndarray::{Array2, ArrayView1, Axis, concatenate, s};
use std::sync::OnceLock;
use vaglio_columns::get_or_make;

/// X_S = U·diag(s)·Vᵀ of all rows, scaled and centered: gives held-out residuals for any λ and any fold.
///
/// Let v̂ be the direction of the intercept and G(λ) = I − v̂v̂ᵀ − U·diag(s²/(s² + λ))·Uᵀ. The residuals of held-out
/// fold v are (G_vv)⁻¹(G y)_v. For a fold with more rows than columns, G_vv = I − BBᵀ is inverted as I + B(I −
/// BᵀB)⁻¹Bᵀ; for a single row G_vv is 1 − leverage. Memory 8·m·min(m, s) bytes, and as much again for folds of many
/// rows.
#[derive(Debug)]
pub struct Decomposition<'r, 'd> {
    rows: &'r FoldedRows<'d>,
    subset: Vec<usize>,
    /// U followed by v̂: rows × directions.
    directions: Array2<f64>,
    /// Singular values.
    values: Vec<f64>,
    /// V: columns × directions without v̂.
    loadings: Array2<f64>,
    /// Uᵀy: directions without v̂ × outputs.
    along: Array2<f64>,
    /// [U v̂]ᵀ[U v̂] over the rows of each fold with more rows than directions.
    grams: Vec<Option<Array2<f64>>>,
    /// Rows of leverage near 1, excluded on first use.
    excluded: OnceLock<Option<Vec<Exclusion>>>,
}

/// Number of single-row folds that a thread processes at a time.
const CHUNK: usize = 1024;

impl<'r, 'd> Decomposition<'r, 'd> {
    /// Decomposes the columns of `subset`, each listed once. Cost O(m·s·min(m, s)).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn new(rows: &'r FoldedRows<'d>, subset: &[usize]) -> Result<Self, FactorizationError> {
        let data = &rows.data;
        let (u, d, v) = linalg::svd(data.matrix(subset).view())?;
        let along = data.along_targets(&u);
        let count = d.len();
        let mut directions = Array2::zeros((data.rows(), count + usize::from(data.has_intercept())));
        directions.slice_mut(s![.., ..count]).assign(&u);
        if let Some(unit) = &data.unit {
            directions.column_mut(count).assign(&ArrayView1::from(unit));
        }
        let (subset, values) = (subset.to_vec(), d.to_vec());
        let (grams, excluded) = (Vec::new(), OnceLock::new());
        let mut out = Decomposition { rows, subset, directions, values, loadings: v, along, grams, excluded };
        let gram = |fold: usize| {
            let own = rows.folds.held_out(fold);
            (own.len() > out.directions.ncols()).then(|| linalg::gram(out.part(fold).view()))
        };
        out.grams = parallel::map(rows.folds.count(), gram);
        Ok(out)
    }

    /// Held-out residuals of `folds`, scaled like the rows: outputs × rows in original order, 0 elsewhere; and their
    /// conditioning, for [`is_unreliable`].
    ///
    /// The conditioning is the least eigenvalue of any G_vv times the singular values' conditioning. Single-row folds
    /// of leverage near 1 are refitted here. Cost O(Σ_v m_v·s·(min(m_v, s) + outputs)).
    pub fn residuals(&self, lambda: f64, folds: &[usize]) -> (Vec<Vec<f64>>, f64) {
        let (shares, weights) = self.shrink(lambda);
        let mut out = vec![vec![0.0; self.rows.folds.rows()]; self.rows.data.outputs()];
        let held_out = |fold: &usize| self.rows.folds.held_out(*fold);
        let (alone, together): (Vec<usize>, Vec<usize>) = folds.iter().partition(|fold| held_out(fold).len() == 1);
        let fold_residuals = |&fold: &usize| {
            let part = self.part(fold);
            let mut residuals = self.in_sample(fold, &part, &weights);
            let conditioning = self.hold_out(fold, part, &shares, &mut residuals);
            (residuals, conditioning)
        };
        let all_residuals: Vec<(Array2<f64>, f64)> = parallel::map_slice(&together, fold_residuals);
        let alone: Vec<usize> = alone.iter().flat_map(held_out).copied().collect();
        let mut conditioning =
            if alone.is_empty() { 1.0 } else { self.leave_out(&alone, lambda, &shares, &weights, &mut out) };
        for (fold, (residuals, fold_conditioning)) in together.iter().zip(all_residuals) {
            conditioning = worse(conditioning, fold_conditioning);
            for (&row, residual) in held_out(fold).iter().zip(residuals.rows()) {
                out.iter_mut().zip(residual).for_each(|(out, e)| out[row] = *e);
            }
        }
        (out, conditioning * linalg::conditioning(&self.values, lambda))
    }

    /// Leave-one-out residuals (G y)_j/G_jj. Returns their conditioning: 1 if all of them are reliable.
    fn leave_out(
        &self,
        rows: &[usize],
        lambda: f64,
        shares: &[f64],
        weights: &Array2<f64>,
        out: &mut [Vec<f64>],
    ) -> f64 {
        let (data, width) = (&self.rows.data, 1 + out.len());
        let Some(directions) = self.directions.as_slice() else { return 0.0 };
        let weights: Vec<Vec<f64>> = weights.columns().into_iter().map(|w| w.to_vec()).collect();
        let mut sums = vec![0.0; rows.len() * width];
        parallel::chunks_mut(&mut sums, CHUNK * width, |at, sums| {
            let rows = &rows[at * CHUNK..][..sums.len() / width];
            vectorize!(|| left_out(directions, rows, shares, &weights, sums));
        });
        let (mut unreliable, mut lowest) = (Vec::new(), 1.0);
        for (&row, sums) in rows.iter().zip(sums.chunks_exact(width)) {
            let complement = 1.0 - sums[0];
            for ((o, out), fitted) in out.iter_mut().enumerate().zip(&sums[1..]) {
                out[row] = (data.centered[o][row] - fitted) / complement;
            }
            if is_unreliable(complement) {
                unreliable.push(row);
                lowest = worse(lowest, complement);
            }
        }
        if unreliable.is_empty() || is_unreliable(linalg::conditioning(&self.values, lambda)) {
            return lowest;
        }
        unreliable.sort_unstable();
        let exclude = |rows: &Vec<usize>| Exclusion::new(data, &self.subset, &[], rows).ok();
        let exclude = || split_rows(data, &self.leverage_one_rows()).iter().map(exclude).collect::<Option<_>>();
        let Some(parts) = get_or_make(&self.excluded, exclude) else { return 0.0 };
        for excluded in parts {
            let Ok(fit) = excluded.fit(lambda, None) else { return 0.0 };
            for (&row, exact) in excluded.places.iter().zip(fit.left_out().rows()) {
                if unreliable.binary_search(&row).is_ok() {
                    out.iter_mut().zip(exact).for_each(|(out, e)| out[row] = *e);
                }
            }
        }
        1.0
    }

    /// Rows that can have leverage near 1: those that have it without a penalty, since a larger λ lowers leverage.
    fn leverage_one_rows(&self) -> Vec<usize> {
        let is_near = |(_, row): &(usize, ArrayView1<'_, f64>)| is_unreliable(1.0 - row.dot(row));
        self.directions.rows().into_iter().enumerate().filter(is_near).map(|(row, _)| row).collect()
    }

    /// Loss, by `score`, of the held-out residuals of all rows for each column removed alone; and their conditioning: a
    /// removal lowers no eigenvalue of G_vv.
    ///
    /// Removing column j adds qqᵀ to G, with q = U·diag(s/(s² + λ))·Vᵀe_j/√h and h the diagonal entry of (XᵀX + λ)⁻¹.
    /// With z = (G_vv)⁻¹q_v, the residuals e_v become e_v + z(qᵀy − q_vᵀe_v)/(1 + q_vᵀz). Cost O(m·s·(s + outputs)).
    pub fn removals(&self, lambda: f64, score: impl Fn(&[Vec<f64>]) -> f64 + Sync) -> (Vec<f64>, f64) {
        let (shares, weights) = self.shrink(lambda);
        let outputs = self.rows.data.outputs();
        let mut q = self.loadings.t().to_owned();
        for (k, mut q) in q.columns_mut().into_iter().enumerate() {
            let loading = self.loadings.row(k);
            // Directions beyond the singular vectors have the eigenvalue λ.
            let others = if self.values.len() < self.subset.len() { 1.0 - loading.dot(&loading) } else { 0.0 };
            let terms = loading.iter().zip(&self.values).map(|(v, d)| v * v / (d * d + lambda));
            let h = terms.sum::<f64>() + others.max(0.0) / lambda;
            q.iter_mut().zip(&self.values).for_each(|(q, d)| *q *= d / (d * d + lambda) / h.sqrt());
        }
        let along = linalg::gemm(q.t(), self.along.view());
        let fold_residuals = |fold: usize| {
            let part = self.part(fold);
            let q = linalg::gemm(part.slice(s![.., ..self.values.len()]), q.view());
            let mut both = concatenate![Axis(1), self.in_sample(fold, &part, &weights), q];
            let conditioning = self.hold_out(fold, part, &shares, &mut both);
            let (residuals, z) = both.view().split_at(Axis(1), outputs);
            let mut factors = &along - &linalg::gemm(q.t(), residuals);
            for ((mut factor, q), z) in factors.rows_mut().into_iter().zip(q.columns()).zip(z.columns()) {
                factor /= 1.0 + q.dot(&z);
            }
            (both, factors, conditioning)
        };
        let all_residuals: Vec<_> = parallel::map(self.rows.folds.count(), fold_residuals);
        let conditioning = all_residuals.iter().map(|(.., fold_conditioning)| *fold_conditioning).fold(1.0, worse);
        let loss = |k: usize| {
            let mut removed = vec![vec![0.0; self.rows.folds.rows()]; outputs];
            for (fold, (both, factors, _)) in all_residuals.iter().enumerate() {
                for (row, &at) in both.rows().into_iter().zip(self.rows.folds.held_out(fold)) {
                    for (o, removed) in removed.iter_mut().enumerate() {
                        removed[at] = row[o] + row[outputs + k] * factors[[k, o]];
                    }
                }
            }
            score(&removed)
        };
        (parallel::map(self.subset.len(), loss), conditioning * linalg::conditioning(&self.values, lambda))
    }

    /// Shrinkage at one λ: s²/(s² + λ) of each direction, 1 for v̂; and s²/(s² + λ)·Uᵀy, directions without v̂ × outputs.
    fn shrink(&self, lambda: f64) -> (Vec<f64>, Array2<f64>) {
        let mut shares: Vec<f64> = self.values.iter().map(|d| d * (d / (d * d + lambda))).collect();
        let mut weights = self.along.clone();
        weights.rows_mut().into_iter().zip(&shares).for_each(|(mut row, share)| row *= *share);
        shares.resize(self.directions.ncols(), 1.0);
        (shares, weights)
    }

    /// Directions at the rows of a fold.
    fn part(&self, fold: usize) -> Array2<f64> {
        self.directions.select(Axis(0), self.rows.folds.held_out(fold))
    }

    /// In-sample residuals (G y)_v of a fold: rows × outputs.
    fn in_sample(&self, fold: usize, part: &Array2<f64>, weights: &Array2<f64>) -> Array2<f64> {
        let (own, data) = (self.rows.folds.held_out(fold), &self.rows.data);
        let fitted = linalg::gemm(part.slice(s![.., ..self.values.len()]), weights.view());
        Array2::from_shape_fn((own.len(), data.outputs()), |(j, o)| data.centered[o][own[j]] - fitted[[j, o]])
    }

    /// Replaces `right` by (G_vv)⁻¹·`right` for a fold's rows and returns the least eigenvalue.
    fn hold_out(&self, fold: usize, part: Array2<f64>, shares: &[f64], right: &mut Array2<f64>) -> f64 {
        let mut along = part;
        let roots: Vec<f64> = shares.iter().map(|share| share.sqrt()).collect();
        along *= &ArrayView1::from(&roots);
        match &self.grams[fold] {
            None => linalg::solve_by_rows(&mut complement(linalg::gemm(along.view(), along.t())), right),
            Some(gram) => {
                let scaled = Array2::from_shape_fn(gram.dim(), |(i, j)| gram[[i, j]] * (roots[i] * roots[j]));
                let mut inner = standard(linalg::gemm(along.t(), right.view()));
                let least = linalg::solve_by_rows(&mut complement(scaled), &mut inner);
                *right += &linalg::gemm(along.view(), inner.view());
                least
            }
        }
    }
}

/// Computes for each row Σ_k share_k·u_k² over its directions, then uᵀw of each output over those with weights.
#[inline(always)]
fn left_out(directions: &[f64], rows: &[usize], shares: &[f64], weights: &[Vec<f64>], sums: &mut [f64]) {
    for (&row, sums) in rows.iter().zip(sums.chunks_exact_mut(1 + weights.len())) {
        let own = &directions[row * shares.len()..][..shares.len()];
        sums[0] = fold_eights!([own, shares], [0.0; 2], F64x8::ZERO, |sum, [u, share]| sum + u * u * share).sum();
        for (sum_of, weights) in sums[1..].iter_mut().zip(weights) {
            *sum_of = fold_eights!([weights, own], [0.0; 2], F64x8::ZERO, |sum, [w, u]| sum + u * w).sum();
        }
    }
}

/// I − A, row-major.
fn complement(a: Array2<f64>) -> Array2<f64> {
    let mut out = standard(-a);
    out.diag_mut().mapv_inplace(|d| 1.0 + d);
    out
}

fn standard(a: Array2<f64>) -> Array2<f64> {
    if a.is_standard_layout() { a } else { a.as_standard_layout().into_owned() }
}
