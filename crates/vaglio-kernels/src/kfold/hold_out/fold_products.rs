//! Kernels over rows in fold order; each fold starts in the first lane.
//!
//! The sums are derived in the book, *Cross-validation without refitting*, "Rows held out".

use super::chain::{ColumnUpdate, HeldOutColumn};
use crate::f64x8::{F64x8, fold_eights};
use crate::vectorize;

/// Σ_j a_j b_j of each fold; fold k has the rows from `starts[k]` to `starts[k + 1]`. Cost O(m).
pub(super) fn products(starts: &[usize], a: &[f64], b: &[f64]) -> Vec<f64> {
    vectorize!(move || starts.windows(2).map(|at| along(&a[at[0]..at[1]], &b[at[0]..at[1]])).collect())
}

/// out_j ← out_j − step_k e_j over the rows from `first`, with k the fold of row j. Cost O(rows).
pub(super) fn subtract(starts: &[usize], first: usize, step: impl Fn(usize) -> f64, e: &[f64], out: &mut [f64]) {
    vectorize!(move || {
        let last = first + out.len();
        let mut fold = starts.partition_point(|s| *s <= first).saturating_sub(1);
        let mut row = first;
        while row < last {
            let end = starts[fold + 1].min(last);
            let step = step(fold);
            out[row - first..end - first].iter_mut().zip(&e[row..end]).for_each(|(out, e)| *out -= step * e);
            (row, fold) = (end, fold + 1);
        }
    });
}

/// E ← E − (h/σ_b) E_b, σ ← σ − h²/σ_b, q ← q − (h/σ_b) q_b of each fold, for an update b.
///
/// `products` are the column's [`ColumnUpdate::products`], which this replaces by the steps h/σ_b.
pub(super) fn apply_update(starts: &[usize], column: &mut HeldOutColumn, update: &ColumnUpdate, products: &mut [f64]) {
    vectorize!(|| fold_pass::<true, false>(starts, column, Some(update), products, &[]));
}

/// Applies an update, if any, and sums the squares of r − E q/σ in the same pass, for one output.
pub(super) fn squares(
    starts: &[usize],
    column: &mut HeldOutColumn,
    update: Option<&ColumnUpdate>,
    products: &mut [f64],
    r: &[f64],
) -> f64 {
    match update {
        Some(_) => vectorize!(|| fold_pass::<true, true>(starts, column, update, products, r)),
        None => vectorize!(|| fold_pass::<false, true>(starts, column, None, products, r)),
    }
}

#[inline(always)]
fn fold_pass<const UPDATE: bool, const TRY: bool>(
    starts: &[usize],
    column: &mut HeldOutColumn,
    update: Option<&ColumnUpdate>,
    products: &mut [f64],
    r: &[f64],
) -> f64 {
    let HeldOutColumn { e, sigma, q, .. } = column;
    let folds = sigma.len();
    let outputs = q.len() / folds.max(1);
    let mut sums = F64x8::ZERO;
    for fold in 0..folds {
        let (start, end) = (starts[fold], starts[fold + 1]);
        let (e, mut b, mut step) = (&mut e[start..end], [].as_slice(), 0.0);
        if let Some(update) = update {
            let h = match update.tau {
                Some(_) => products[fold] - along(&update.residual[start..end], e),
                None => products[fold],
            };
            step = h / update.column.sigma[fold];
            products[fold] = step;
            sigma[fold] -= h * step;
            let at = fold * outputs..(fold + 1) * outputs;
            q[at.clone()].iter_mut().zip(&update.column.q[at]).for_each(|(q, b)| *q -= step * b);
            b = &update.column.e[start..end];
        }
        let (r, f) = if TRY { (&r[start..end], q[fold] / sigma[fold]) } else { (r, 0.0) };
        update_and_square::<UPDATE, TRY>(e, b, r, [step, f], &mut sums);
    }
    sums.sum()
}

#[inline(always)]
fn along(a: &[f64], b: &[f64]) -> f64 {
    fold_eights!([a, b], [0.0; 2], F64x8::ZERO, |sum, [a, b]| sum + a * b).sum()
}

/// e ← e − step·b if `UPDATE`, then sums ← sums + (r − f·e)² if `TRY`.
#[inline(always)]
fn update_and_square<const UPDATE: bool, const TRY: bool>(
    e: &mut [f64],
    b: &[f64],
    r: &[f64],
    [step, f]: [f64; 2],
    sums: &mut F64x8,
) {
    let rows = e.len();
    if !TRY {
        // Written in eights, this would compile to gathers.
        return e.iter_mut().zip(b).for_each(|(e, b)| *e -= step * b);
    }
    let (e, e_rest) = e.as_chunks_mut::<{ F64x8::WIDTH }>();
    let (b, b_rest) = b[..if UPDATE { rows } else { 0 }].as_chunks();
    let (r, r_rest) = r[..rows].as_chunks();
    let (wide_step, wide_f) = (F64x8::splat(step), F64x8::splat(f));
    for j in 0..e.len() {
        let mut x = F64x8::load(&e[j]);
        if UPDATE {
            x = x - wide_step * F64x8::load(&b[j]);
            x.store(&mut e[j]);
        }
        let error = F64x8::load(&r[j]) - wide_f * x;
        *sums = *sums + error * error;
    }
    for (l, e) in e_rest.iter_mut().enumerate() {
        if UPDATE {
            *e -= step * b_rest[l];
        }
        let error = r_rest[l] - f * *e;
        sums.update(l, |sum| sum + error * error);
    }
}
