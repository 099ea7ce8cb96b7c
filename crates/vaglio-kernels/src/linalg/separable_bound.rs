//! Diagonal matrices below a positive definite one, for separable lower bounds of quadratic forms.

use super::Cholesky;
use crate::sums::{dot, times};
use crate::tolerance::ILL_CONDITIONED;
use ndarray::ArrayView2;
use vaglio_columns::sum_of_squares;

/// Number of power iterations for the largest eigenvalue, and of factors s that [`largest_factor`] tries.
pub const POWERS: usize = 30;
/// Factor s that [`largest_factor`] tries first, as a share of the inverse of the largest eigenvalue.
const PART_TRIED: f64 = 0.97;

/// Inverts a Gram matrix of unit columns and bounds its condition number; returns `None` if the bound is too large.
///
/// Gauss–Jordan elimination in place. The condition number is at most the trace of the matrix times the trace of its
/// inverse. Cost O(size³).
pub fn inverse_of_unit(mut gram: Vec<f64>, size: usize) -> Option<(Vec<f64>, f64)> {
    for at in 0..size {
        let pivot = gram[at * size + at];
        if pivot.is_nan() || pivot * ILL_CONDITIONED <= 1.0 {
            return None;
        }
        // Substitutes x_b = (y_b − Σ a_bj x_j)/a_bb into the other equations.
        let mut row: Vec<f64> = gram[at * size..(at + 1) * size].to_vec();
        row[at] = -1.0;
        for (k, own) in gram.chunks_mut(size.max(1)).enumerate() {
            let step = own[at] / pivot;
            if k == at {
                own.iter_mut().zip(&row).for_each(|(own, row)| *own = -row / pivot);
            } else {
                own[at] = 0.0;
                own.iter_mut().zip(&row).for_each(|(own, row)| *own -= step * row);
            }
        }
    }
    let trace: f64 = (0..size).map(|at| gram[at * size + at]).sum();
    let condition = trace * size as f64;
    (condition <= ILL_CONDITIONED).then_some((gram, condition))
}

/// Diagonal D ⪰ 0 with H − D positive semidefinite, for a positive definite row-major H; zeros if H is nearly singular.
/// Cost O(n³).
pub fn separable_part(mut gram: Vec<f64>, size: usize) -> Vec<f64> {
    let own: Vec<f64> = (0..size).map(|k| gram[k * size + k]).collect();
    for k in 0..size {
        (0..size).for_each(|l| gram[k * size + l] /= (own[k] * own[l]).sqrt());
    }
    let unit = inverse_of_unit(gram.clone(), size).map(|(inverse, _)| separable(&gram, &inverse, size));
    unit.map_or_else(|| vec![0.0; size], |unit| times(&unit, &own))
}

/// D = s·diag(1/(H⁻¹)_jj) with H − D positive definite, verified by a factorization. Cost O(n³).
pub fn separable(gram: &[f64], inverse: &[f64], size: usize) -> Vec<f64> {
    let own: Vec<f64> = (0..size).map(|k| 1.0 / inverse[k * size + k]).collect();
    let roots: Vec<f64> = own.iter().map(|own| own.sqrt()).collect();
    let mut v: Vec<f64> = (0..size).map(|k| 1.0 + (k % 7) as f64 / 16.0).collect();
    let mut largest = 1.0;
    for _ in 0..POWERS {
        let scaled = times(&v, &roots);
        let row = |k: usize| dot(&inverse[k * size..(k + 1) * size], &scaled) * roots[k];
        let next: Vec<f64> = (0..size).map(row).collect();
        let norm = sum_of_squares(&next).sqrt();
        let before = sum_of_squares(&v).sqrt();
        largest = norm / before;
        v = next.into_iter().map(|v| v / norm).collect();
    }
    let is_below = |part: f64| {
        let mut rest = gram.to_vec();
        (0..size).for_each(|k| rest[k * size + k] -= part * own[k]);
        ArrayView2::from_shape((size, size), &rest).is_ok_and(|rest| Cholesky::new(rest).is_ok())
    };
    match largest_factor(largest, is_below) {
        Some(part) => own.iter().map(|own| part * own).collect(),
        None => vec![0.0; size],
    }
}

/// Tries factors s in decreasing order, from a little below 1/`largest` on, and returns the first that `is_below`
/// verifies; `None` if it verifies none.
pub fn largest_factor(largest: f64, mut is_below: impl FnMut(f64) -> bool) -> Option<f64> {
    let mut part = PART_TRIED / largest;
    for _ in 0..POWERS {
        if is_below(part) {
            return Some(part);
        }
        part *= 0.9;
    }
    None
}
