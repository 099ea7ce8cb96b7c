//! Definition of the criterion by m × m kernel matrices, as in the formulas.

use super::settings::{Estimator, Hsic};
use super::weights::relative_weights;
use crate::kernel_matrix::{row_shares, standardized_column};
use crate::target::Target;
use ndarray::{Array1, Array2};
use vaglio_core::{Design, Feature, Result, Score};

/// Minus the dependence between a subset and the target.
pub(super) fn evaluate(hsic: &Hsic, design: &Design, subset: &[Feature]) -> Result<Score> {
    let shares = row_shares(design);
    let columns = subset.iter().filter_map(|&feature| standardized_column(design, feature, &shares));
    let columns: Vec<Vec<f64>> = columns.collect();
    if columns.is_empty() {
        return Ok(Score::new(0.0));
    }
    let scale = hsic.kernel.scale(columns.len());
    let pairs = (design.rows(), design.rows());
    let distance = |j: usize, k: usize| columns.iter().map(|x| (x[j] - x[k]).powi(2)).sum::<f64>();
    let kernel = Array2::from_shape_fn(pairs, |(j, k)| (scale * distance(j, k)).exp());
    let target = Target::new(hsic.kernel.output, hsic.kernel.bandwidth, design);
    let target = Array2::from_shape_fn(pairs, |(j, k)| target.kernel(j, k));
    let dependence = match hsic.estimator {
        Estimator::Biased => biased(&kernel, &target, &Array1::from(shares)),
        Estimator::Unbiased => unbiased(&kernel, &target, &Array1::from(relative_weights(design))),
    };
    Score::new(-dependence).checked()
}

/// Σ_jk p_j p_k K_jk (HLHᵀ)_jk with H = I − 1pᵀ.
fn biased(kernel: &Array2<f64>, target: &Array2<f64>, shares: &Array1<f64>) -> f64 {
    let means = target.dot(shares);
    let mean = means.dot(shares);
    let entry = |(j, k): (usize, usize)| kernel[[j, k]] * (target[[j, k]] - means[j] - means[k] + mean);
    Array2::from_shape_fn(target.dim(), entry).dot(shares).dot(shares)
}

/// Unbiased estimate, in which a row of weight r counts as r rows, and no row is paired with itself.
fn unbiased(kernel: &Array2<f64>, target: &Array2<f64>, weights: &Array1<f64>) -> f64 {
    let n = weights.sum();
    // K̃1, where a row pairs with its r − 1 copies.
    let sums = |matrix: &Array2<f64>| matrix.dot(weights) - matrix.diag();
    let (k, l) = (sums(kernel), sums(target));
    let trace = weights.dot(&sums(&(kernel * target)));
    let totals = weights.dot(&k) * weights.dot(&l);
    let along = (weights * &k).dot(&l);
    (trace + totals / ((n - 1.0) * (n - 2.0)) - 2.0 * along / (n - 2.0)) / (n * (n - 3.0))
}
