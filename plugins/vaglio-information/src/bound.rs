//! The lowest error that any of many subsets can have.

use crate::data::CenteredData;
use ndarray::{Array1, Array2};
use vaglio_core::Feature;
use vaglio_kernels::linalg;
use vaglio_kernels::tolerance::TRAINING_ROUNDING;

/// Columns of which the bound is computed, at most.
const MOST: usize = 64;

/// For each λ a lower bound of Σ ‖e‖² over outputs, of every subset of some columns; `None` of too many. Cost O(s³).
///
/// No fit of fewer columns leaves less than the least-squares fit of all, J₀. With λ the penalized error J = ‖e‖² + λ‖w‖²
/// falls with every column, and ‖e‖² = λ² yᵀ(K + λ)⁻²y ≥ (λ yᵀ(K + λ)⁻¹y)²/‖y‖² = J²/‖y‖² for the kernel matrix K of any
/// subset.
pub(crate) fn lowest(data: &CenteredData, members: &[Feature], lambdas: &[f64]) -> Option<Vec<f64>> {
    let size = members.len();
    if size > MOST {
        return None;
    }
    let products: Vec<_> = members.iter().map(|&feature| data.products(feature)).collect();
    let a = Array2::from_shape_fn((size, size), |(i, k)| products[i.min(k)][members[i.max(k)]]);
    let (values, vectors) = linalg::eigh(a.view()).ok()?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let has_rank = values.iter().all(|value| *value > TRAINING_ROUNDING * largest);
    let explained = |along: &Vec<f64>, lambda: f64| -> f64 {
        let b: Array1<f64> = members.iter().map(|&feature| along[feature]).collect();
        vectors.t().dot(&b).iter().zip(&values).map(|(z, value)| z * z / (value.max(0.0) + lambda)).sum()
    };
    let of_lambda = |&lambda: &f64| -> f64 {
        let of_output = |(along, &square): (&Vec<f64>, &f64)| {
            let least = if has_rank { square - explained(along, 0.0) } else { 0.0 };
            let penalized = (square - explained(along, lambda)).max(0.0);
            let shrunk = if square > 0.0 { penalized * penalized / square } else { 0.0 };
            (least.max(shrunk) - TRAINING_ROUNDING * square).max(0.0)
        };
        data.along.iter().zip(&data.target_squares).map(of_output).sum()
    };
    let all: Vec<f64> = lambdas.iter().map(of_lambda).collect();
    all.iter().all(|bound| bound.is_finite()).then_some(all)
}
