//! Weights of pairs of rows in the estimates, which are linear in the kernel matrix of the subset.

use super::settings::{Estimator, Hsic};
use crate::kernel_matrix::{RowPairs, row_shares};
use crate::target::Target;
use vaglio_core::{Design, sum_of_products};

/// Weights W of the dependence Σ_jk W_jk K_jk of a subset with kernel matrix K.
pub(crate) struct PairWeights {
    /// 2 W_jk of every pair, W being symmetric.
    pub pairs: RowPairs,
    /// Σ W_jj, as K_jj = 1.
    pub own: f64,
}

impl PairWeights {
    /// Computes the weights from the target. Cost O(m²).
    pub fn new(hsic: &Hsic, design: &Design) -> Self {
        let rows = design.rows();
        let target = Target::new(hsic.kernel.output, hsic.kernel.bandwidth, design);
        let kernels = target.kernels(rows);
        let own: Vec<f64> = (0..rows).map(|j| target.kernel(j, j)).collect();
        match hsic.estimator {
            Estimator::Biased => biased(kernels, &own, &row_shares(design)),
            Estimator::Unbiased => unbiased(kernels, &own, &relative_weights(design)),
        }
    }

    /// Weights W_jk = `weight` of j, k and L_jk; `own` are the L_jj.
    fn from_kernels(mut kernels: RowPairs, own: &[f64], weight: impl Fn(usize, usize, f64) -> f64) -> Self {
        kernels.update(|j, k, l| 2.0 * weight(j, k, l));
        PairWeights { pairs: kernels, own: own.iter().enumerate().map(|(j, l)| weight(j, j, *l)).sum() }
    }
}

/// Weights of rows over their mean, which add up to the number of rows; 1 without weights.
pub(super) fn relative_weights(design: &Design) -> Vec<f64> {
    let rows = design.rows();
    design.weights().map_or_else(|| vec![1.0; rows], |weights| vaglio_core::relative_weights(weights, rows as f64))
}

/// Σ_k r_k L_jk of every row j.
fn sums(kernels: &RowPairs, own: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut sums: Vec<f64> = own.iter().zip(weights).map(|(l, r)| r * l).collect();
    kernels.for_each(|j, k, l| {
        sums[j] += weights[k] * l;
        sums[k] += weights[j] * l;
    });
    sums
}

/// W_jk = p_j p_k (HLHᵀ)_jk.
fn biased(kernels: RowPairs, own: &[f64], shares: &[f64]) -> PairWeights {
    let means = sums(&kernels, own, shares);
    let grand = sum_of_products(&means, shares);
    PairWeights::from_kernels(kernels, own, |j, k, l| shares[j] * shares[k] * (l - means[j] - means[k] + grand))
}

/// With l = L̃1: W_jk = r_j r_k (L_jk + 1ᵀL̃1/((n−1)(n−2)) − (l_j + l_k)/(n−2))/(n(n−3)); for a row and its copies,
/// r_j(r_j − 1) replaces r_j r_k.
fn unbiased(kernels: RowPairs, own: &[f64], weights: &[f64]) -> PairWeights {
    let n: f64 = weights.iter().sum();
    let sums: Vec<f64> = sums(&kernels, own, weights).iter().zip(own).map(|(sum, own)| sum - own).collect();
    let level = sum_of_products(&sums, weights) / ((n - 1.0) * (n - 2.0));
    let inner = |j: usize, k: usize, l: f64| (l + level - (sums[j] + sums[k]) / (n - 2.0)) / (n * (n - 3.0));
    let copies = |j: usize, k: usize| if j == k { weights[k] - 1.0 } else { weights[k] };
    PairWeights::from_kernels(kernels, own, |j, k, l| weights[j] * copies(j, k) * inner(j, k, l))
}
