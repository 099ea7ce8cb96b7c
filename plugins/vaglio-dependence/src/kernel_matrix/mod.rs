//! Hilbert–Schmidt independence of columns: centered kernel matrices by thin factors, and non-negative least squares.
//!
//! A column with standardized entries u has the kernel matrix K_jk = exp(−(u_j − u_k)²/2σ²). Rows count with shares p_j
//! = r_j/Σr of the row weights: a row of weight 2 equals two such rows. With P = diag(p), the centered matrix is K̄ =
//! P^{½}HKHᵀP^{½}, H = I − 1pᵀ. Every K̄ is stored as F·Fᵀ with a thin F: <K̄_k, K̄_l> = ‖F_kᵀF_l‖²_F.

mod cholesky;
mod factor;
mod full_kernel;
mod landmarks;
mod levels;
mod pairs;
mod quadratic_form;

pub use cholesky::gaussian;
pub use factor::ThinFactor;
pub use full_kernel::full_products;
pub use landmarks::Landmarks;
pub use levels::{FactorRows, LEAST_BANDWIDTH, LevelColumn, LevelGrid, TOGETHER};
pub use pairs::{PaddedColumn, RowPairs};
pub use quadratic_form::Quadratic;

use vaglio_core::{Design, Feature, magnitude, max_abs};
use vaglio_kernels::f64x8::F64x8;
use vaglio_kernels::sums::center;
use vaglio_kernels::tolerance::TRACE_ROUNDING;

/// Entries of eight rows.
type Chunk = [f64; F64x8::WIDTH];

/// Row weights of a design divided by their sum; equal shares without weights.
pub fn row_shares(design: &Design) -> Vec<f64> {
    shares(design.rows(), design.weights())
}

/// Standardizes a column by the [shares](row_shares) of the rows; `None` if it is constant.
pub fn standardized_column(design: &Design, feature: Feature, shares: &[f64]) -> Option<Vec<f64>> {
    standardize(&design.column(feature).values(), shares)
}

/// Weights divided by their sum; equal shares without weights.
pub fn shares(rows: usize, weights: Option<&[f64]>) -> Vec<f64> {
    match weights {
        None => vec![1.0 / rows as f64; rows],
        Some(weights) => {
            let largest = max_abs(weights);
            let total: f64 = weights.iter().map(|w| w / largest).sum();
            weights.iter().map(|w| w / largest / total).collect()
        }
    }
}

/// Roots of the shares p_j.
fn square_roots(shares: &[f64]) -> Vec<f64> {
    shares.iter().map(|p| p.sqrt()).collect()
}

/// Standardizes entries to mean 0 and population standard deviation 1, weighted by their shares. Returns `None` if
/// entries are equal in all rows except for some of negligible total share.
pub fn standardize(values: &[f64], shares: &[f64]) -> Option<Vec<f64>> {
    let first = *values.first()?;
    if values.iter().all(|v| *v == first) {
        return None;
    }
    // Scaling by a power of two is exact, which matters next to a large mean.
    let size = magnitude(values);
    let mut scaled: Vec<f64> = values.iter().map(|v| v / size).collect();
    center((&mut scaled[..]).into(), |j| shares[j], 1.0);
    let largest = max_abs(&scaled);
    scaled.iter_mut().for_each(|v| *v /= largest);
    let variance = scaled.iter().zip(shares).map(|(v, p)| p * v * v).sum::<f64>();
    if variance <= TRACE_ROUNDING {
        return None;
    }
    let deviation = variance.sqrt();
    scaled.iter_mut().for_each(|v| *v /= deviation);
    scaled.iter().all(|v| v.is_finite()).then_some(scaled)
}
