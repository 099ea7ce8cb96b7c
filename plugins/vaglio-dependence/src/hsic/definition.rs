//! Definition of the criterion by m × m kernel matrices, as in the formulas.

use super::settings::{Estimator, Hsic};
use super::weights::relative_weights;
use crate::kernel_matrix::{shares, standardized};
use crate::target::Target;
use vaglio_core::{Design, Feature, Result, Score};

type Matrix = Vec<Vec<f64>>;

/// Minus the dependence between a subset and the target.
pub(super) fn evaluate(hsic: &Hsic, design: &Design, subset: &[Feature]) -> Result<Score> {
    let shares = shares(design.rows(), design.weights());
    let unit = |&feature: &Feature| standardized(&design.column(feature).values(), &shares);
    let columns: Vec<Vec<f64>> = subset.iter().filter_map(unit).collect();
    if columns.is_empty() {
        return Ok(Score::new(0.0));
    }
    let scale = hsic.kernel.scale(columns.len());
    let apart = |j: usize, k: usize| columns.iter().map(|x| (x[j] - x[k]).powi(2)).sum::<f64>();
    let kernel = matrix(design.rows(), |j, k| (scale * apart(j, k)).exp());
    let target = Target::new(hsic.kernel.output, hsic.kernel.bandwidth, design, &shares);
    let target = matrix(design.rows(), |j, k| target.kernel(j, k));
    let dependence = match hsic.estimator {
        Estimator::Biased => biased(&kernel, &target, &shares),
        Estimator::Unbiased => unbiased(&kernel, &target, &relative_weights(design)),
    };
    Score::new(-dependence).checked()
}

fn matrix(rows: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
    (0..rows).map(|j| (0..rows).map(|k| entry(j, k)).collect()).collect()
}

/// Σ_jk p_j p_k K_jk (HLHᵀ)_jk with H = I − 1pᵀ.
fn biased(kernel: &Matrix, target: &Matrix, shares: &[f64]) -> f64 {
    let mean = |row: &Vec<f64>| row.iter().zip(shares).map(|(v, p)| p * v).sum::<f64>();
    let means: Vec<f64> = target.iter().map(mean).collect();
    let grand = mean(&means);
    let of_row = |j: usize| -> f64 {
        let entry = |k: usize| shares[k] * kernel[j][k] * (target[j][k] - means[j] - means[k] + grand);
        shares[j] * (0..shares.len()).map(entry).sum::<f64>()
    };
    (0..shares.len()).map(of_row).sum()
}

/// Unbiased estimate, in which a row of weight r counts as r rows, and no row is paired with itself.
fn unbiased(kernel: &Matrix, target: &Matrix, weights: &[f64]) -> f64 {
    let rows = 0..weights.len();
    let n: f64 = weights.iter().sum();
    // K̃1, where a row pairs with its r − 1 copies.
    let sums = |of: &Matrix| -> Vec<f64> {
        let sum = |j: usize| of[j].iter().zip(weights).map(|(v, r)| r * v).sum::<f64>() - of[j][j];
        rows.clone().map(sum).collect()
    };
    let (k, l) = (sums(kernel), sums(target));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let both = |j: usize| -> f64 {
        let entry = |k: usize| weights[k] * kernel[j][k] * target[j][k];
        weights[j] * (rows.clone().map(entry).sum::<f64>() - kernel[j][j] * target[j][j])
    };
    let trace: f64 = rows.clone().map(both).sum();
    let along: f64 = rows.clone().map(|j| weights[j] * k[j] * l[j]).sum();
    let totals = dot(weights, &k) * dot(weights, &l);
    (trace + totals / ((n - 1.0) * (n - 2.0)) - 2.0 * along / (n - 2.0)) / (n * (n - 3.0))
}
