//! Small positive definite systems with an estimate of their least eigenvalue, which [`Cholesky`](super::Cholesky) does
//! not give.

use crate::trial::worse;
use crate::vectorize;
use ndarray::Array2;
use vaglio_columns::{sum_of_products, sum_of_squares};

/// X ← A⁻¹X for a symmetric A in its upper half, which is overwritten. Returns an estimate of the least eigenvalue, or
/// 0 if A is not positive definite.
///
/// The estimate comes from the factor: with rows of unlike sizes the least pivot may far exceed the least eigenvalue.
pub(crate) fn solve_by_rows(a: &mut Array2<f64>, x: &mut Array2<f64>) -> f64 {
    let (size, width) = x.dim();
    match (a.as_slice_mut(), x.as_slice_mut()) {
        (Some(a), Some(x)) => vectorize!(|| factor_and_solve(size, width, a, x)),
        _ => 0.0,
    }
}

/// Factors A = RᵀR, then solves RᵀZ = X and RX = Z, all by rows.
#[inline(always)]
fn factor_and_solve(size: usize, width: usize, a: &mut [f64], x: &mut [f64]) -> f64 {
    let mut least_pivot = 1.0;
    for k in 0..size {
        let (done, rest) = a.split_at_mut((k + 1) * size);
        let row = &mut done[k * size + k..];
        let pivot = row[0];
        least_pivot = worse(least_pivot, pivot);
        if least_pivot <= 0.0 {
            return 0.0;
        }
        let root = pivot.sqrt();
        row.iter_mut().for_each(|r| *r /= root);
        for (i, below) in rest.chunks_exact_mut(size).enumerate() {
            let (factor, from) = (row[i + 1], k + 1 + i);
            below[from..].iter_mut().zip(&row[i + 1..]).for_each(|(b, r)| *b -= factor * r);
        }
    }
    for k in 0..size {
        let row = &a[k * size..(k + 1) * size];
        let (done, rest) = x.split_at_mut((k + 1) * width);
        let own = &mut done[k * width..];
        own.iter_mut().for_each(|x| *x /= row[k]);
        for (below, factor) in rest.chunks_exact_mut(width).zip(&row[k + 1..]) {
            below.iter_mut().zip(&*own).for_each(|(b, x)| *b -= factor * x);
        }
    }
    for k in (0..size).rev() {
        let row = &a[k * size..(k + 1) * size];
        let (before, rest) = x.split_at_mut((k + 1) * width);
        let own = &mut before[k * width..];
        for (below, factor) in rest.chunks_exact(width).zip(&row[k + 1..]) {
            own.iter_mut().zip(below).for_each(|(x, b)| *x -= factor * b);
        }
        own.iter_mut().for_each(|x| *x /= row[k]);
    }
    if size == 0 { least_pivot } else { worse(least_pivot, least_eigenvalue(a, size)) }
}

/// Estimates the least eigenvalue of A = RᵀR from above, mostly within a factor of ten: √n/‖A⁻¹b‖ for signs b that make
/// R⁻ᵀb grow. Cost O(n²).
///
/// A. Cline, C. Moler, G. Stewart, J. Wilkinson, *An estimate for the condition number of a matrix*, SIAM J. Numer.
/// Anal. 16 (1979).
#[inline(always)]
fn least_eigenvalue(r: &[f64], size: usize) -> f64 {
    let mut x = vec![0.0; size];
    for k in 0..size {
        let row = &r[k * size + k..(k + 1) * size];
        // The sign of b_k that increases the magnitude of the sum so far.
        let own = -(x[k] + 1f64.copysign(x[k])) / row[0];
        x[k] = own;
        x[k + 1..].iter_mut().zip(&row[1..]).for_each(|(x, r)| *x += own * r);
    }
    for k in (0..size).rev() {
        let row = &r[k * size + k..(k + 1) * size];
        let below = sum_of_products(&row[1..], &x[k + 1..]);
        x[k] = (x[k] - below) / row[0];
    }
    (size as f64 / sum_of_squares(&x)).sqrt()
}
