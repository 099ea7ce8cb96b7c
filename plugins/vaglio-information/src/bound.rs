//! Lower bounds of the training error over many subsets.

use crate::data::CenteredData;
use ndarray::Array1;
use vaglio_core::{Feature, max_abs};
use vaglio_kernels::linalg;
use vaglio_kernels::tolerance::{EIGENVALUE_ROUNDING, TRAINING_ROUNDING};

/// Maximum number of columns for the bound.
const MOST: usize = 64;

/// Lower bound of Σ ‖e‖² over outputs for every subset of some columns, for each λ; `None` for too many columns. Cost
/// O(s³).
///
/// No fit of fewer columns leaves less than J₀ of the least-squares fit of all. Dependent columns have directions with
/// an eigenvalue of 0 up to rounding, at most ε. Weights are at most ‖y‖/(2√λ) long, so a fit has at most ‖y‖√(ε/4λ)
/// along these directions, and ‖e‖ is at least √J₀ of the others less that. With λ, the penalized error J = ‖e‖² +
/// λ‖w‖² falls with every column, and ‖e‖² = λ² yᵀ(K + λ)⁻²y ≥ (λ yᵀ(K + λ)⁻¹y)²/‖y‖² = J²/‖y‖² for the kernel matrix K
/// of any subset.
pub(crate) fn lowest(data: &CenteredData, members: &[Feature], lambdas: &[f64]) -> Option<Vec<f64>> {
    if members.len() > MOST {
        return None;
    }
    let (values, vectors) = linalg::eigh(data.gram(members).view()).ok()?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let is_kept = |value: f64| value > TRAINING_ROUNDING * largest;
    let lost = max_abs(values.iter().filter(|value| !is_kept(**value)));
    let lost =
        if values.iter().all(|value| is_kept(*value)) { 0.0 } else { 2.0 * lost + EIGENVALUE_ROUNDING * largest };
    let explained = |along: &Vec<f64>, lambda: f64| -> f64 {
        let b: Array1<f64> = members.iter().map(|&feature| along[feature]).collect();
        let terms = vectors.t().dot(&b).into_iter().zip(&values).filter(|(_, value)| lambda > 0.0 || is_kept(**value));
        terms.map(|(z, value)| z * z / (value.max(0.0) + lambda)).sum()
    };
    let lambda_bound = |&lambda: &f64| -> f64 {
        let output_bound = |(along, &square): (&Vec<f64>, &f64)| {
            let left = (square - explained(along, 0.0)).max(0.0).sqrt() - (square * lost / (4.0 * lambda)).sqrt();
            let least = left.max(0.0).powi(2);
            let penalized = (square - explained(along, lambda)).max(0.0);
            let shrunk = if square > 0.0 { penalized * penalized / square } else { 0.0 };
            (least.max(shrunk) - TRAINING_ROUNDING * square).max(0.0)
        };
        data.along.iter().zip(&data.target_squares).map(output_bound).sum()
    };
    let all: Vec<f64> = lambdas.iter().map(lambda_bound).collect();
    all.iter().all(|bound| bound.is_finite()).then_some(all)
}
