//! Relations of columns to the target and to each other, for least-angle searches.

use crate::{Design, Feature, Result, max_abs, row_weights, sum_of_squares};

/// Relevance and Gram matrix of the columns, read one column at a time.
///
/// As λ falls, a least-angle path follows the minimizer of ½ αᵀQα − cᵀα + λ‖α‖₁. It keeps α ≥ 0 unless the geometry
/// [is linear](Geometry::is_linear).
pub trait Geometry: Send + Sync {
    /// For each output o, the relevance c_io of every column of the design, in order. One list if all targets are
    /// treated as one, as in a kernel. 0 for a column that takes no part.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`].
    fn relevances(&self) -> Result<Vec<Vec<f64>>>;

    /// Gram entries Q_ij of column `feature` with every column j, in order; Q_ii is 1 in a normalized geometry.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`].
    fn gram(&self, feature: Feature) -> Result<Vec<f64>>;

    /// Whether Q is the correlation of the columns, so that the coefficients form a linear model and have any sign.
    fn is_linear(&self) -> bool {
        false
    }

    /// The coefficients at the minimum that defines a criterion's score of a subset, in its order. `None` if the score
    /// is no such minimum.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`].
    fn minimizer(&self, _subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }
}

/// Standardizes a column of a design. Cost O(m).
pub fn standardize_column(design: &Design, feature: Feature) -> Vec<f64> {
    standardize(&design.column(feature).values(), design.weights())
}

/// Standardizes the outputs of a design, one by one. Cost O(m · outputs).
pub fn standardize_outputs(design: &Design) -> Vec<Vec<f64>> {
    design.targets().rows().into_iter().map(|y| standardize(&y.to_vec(), design.weights())).collect()
}

/// Standardizes a column with row weights r (1 when absent) to √r_j (x_j − mean)/norm. Inner products are then
/// correlations.
///
/// Empty for a constant column, so that its correlation with any is 0. No square or sum over- or underflows. Cost O(m).
pub fn standardize(values: &[f64], weights: Option<&[f64]>) -> Vec<f64> {
    let weight = row_weights(weights);
    let Some(&first) = values.first() else { return Vec::new() };
    if values.iter().all(|v| *v == first) {
        return Vec::new();
    }
    let total: f64 = (0..values.len()).map(weight).sum();
    let unit = magnitude(values);
    let mut scaled: Vec<f64> = values.iter().map(|v| v / unit).collect();
    vaglio_columns::center((&mut scaled[..]).into(), weight, total);
    let largest = max_abs(&scaled);
    scaled.iter_mut().enumerate().for_each(|(j, v)| *v = weight(j).sqrt() * (*v / largest));
    let norm = sum_of_squares(&scaled).sqrt();
    scaled.iter_mut().for_each(|v| *v /= norm);
    scaled
}

/// The largest power of two not above the largest absolute value. Dividing by it is exact and keeps squares from
/// overflowing.
pub fn magnitude<'v>(values: impl IntoIterator<Item = &'v f64>) -> f64 {
    max_abs(values).clamp(f64::MIN_POSITIVE, f64::MAX / 2.0).log2().floor().exp2()
}
