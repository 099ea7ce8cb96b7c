//! Effective degrees of freedom of ridge regression.

use crate::linalg::{self, FactorizationError};
use ndarray::{Array2, ArrayView2};

/// Degrees of freedom d = Σ σᵢ²/(σᵢ² + λ), with σᵢ the singular values of `x`. Needs λ > 0, or rows ≥ columns.
///
/// With Q R = (X over √λ I), the rows of √λ I have the part Q₂ = √λ R⁻¹, and d = s − ‖Q₂‖². Columns are scaled to one
/// length first, so that short ones are not lost to rounding. Cost O((m + s) s²).
///
/// # Errors
/// [`FactorizationError::NoConvergence`] if entries are not finite.
///
/// # Reference
/// T. Hastie, R. Tibshirani, J. Friedman, *The Elements of Statistical Learning*, 2009, equation 3.50.
pub fn ridge(x: ArrayView2<f64>, lambda: f64) -> Result<f64, FactorizationError> {
    let ((m, size), root) = (x.dim(), lambda.sqrt());
    let lengths: Vec<f64> =
        x.columns().into_iter().map(|column| column.iter().fold(root, |length, x| length.hypot(*x))).collect();
    let entry = |(row, k): (usize, usize)| match row < m {
        true => x[[row, k]] / lengths[k],
        false if row - m == k => root / lengths[k],
        false => 0.0,
    };
    let r = linalg::triangle(Array2::from_shape_fn((m + size, size), entry).view())?;
    let inverse = linalg::inverse_of_triangle(r.view());
    let lost: f64 = inverse.indexed_iter().map(|((i, _), value)| (root / lengths[i] * value).powi(2)).sum();
    Ok((size as f64 - lost).max(0.0))
}
