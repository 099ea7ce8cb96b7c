//! Weights w = 1/d² of the rows, by which squared leave-one-out errors exceed squared residuals.

use super::RidgeState;
use crate::f64x8::{F64x8, fold_eights};
use crate::tolerance::{UNRELIABLE, WEIGHT_ROUNDING};
use crate::{is_unreliable, vectorize};

/// Sums over rows with w = 1/d²; w is 0 where d is unreliable, which adds nothing to the bound.
#[derive(Debug)]
pub(super) struct RowWeights {
    /// The smallest w.
    pub least: f64,
    /// Σ a², Σ v a² and Σ v² a² of each output, with v = w − 1: small if leverages are, so that differences keep their
    /// digits.
    outputs: Vec<[f64; 3]>,
}

impl RowWeights {
    /// Computes the sums. Cost O(m · outputs).
    pub fn new(basis: &RidgeState<'_>) -> Self {
        let (outputs, least): (Vec<[f64; 3]>, Vec<f64>) = basis.a.iter().map(|a| sums(a, &basis.d)).unzip();
        RowWeights { least: least.first().copied().unwrap_or(0.0), outputs }
    }

    /// Σ w a² over all outputs.
    pub fn squares(&self) -> f64 {
        self.outputs.iter().map(|[squares, above, _]| squares + above).sum()
    }

    /// The mean w̄ of w weighted by a² over all outputs, an upper bound of ‖(w − w̄)∘a‖ for each output, and the sum of
    /// these squares relative to Σ a².
    pub fn deviations(&self) -> (f64, Vec<f64>, f64) {
        let total: f64 = self.outputs.iter().map(|[squares, ..]| squares).sum();
        let mean = self.outputs.iter().map(|[_, above, _]| above).sum::<f64>() / total;
        let square = |[squares, above, squares_above]: &[f64; 3]| {
            let gained = squares_above + mean * mean * squares;
            (gained - 2.0 * mean * above).max(0.0) + WEIGHT_ROUNDING * gained
        };
        let squares: Vec<f64> = self.outputs.iter().map(square).collect();
        let part = squares.iter().sum::<f64>() / total;
        (1.0 + mean, squares.into_iter().map(f64::sqrt).collect(), part)
    }
}

/// w of each row.
pub(super) fn weights(basis: &RidgeState<'_>) -> Vec<f64> {
    basis.d.iter().map(|&d| if is_unreliable(d) { 0.0 } else { 1.0 / (d * d) }).collect()
}

/// Sums of an output, and the smallest w. Cost O(m).
fn sums(a: &[f64], d: &[f64]) -> ([f64; 3], f64) {
    // Lanes without a row repeat a d and have no residual.
    let (one, pads) = (F64x8::splat(1.0), [d.first().copied().unwrap_or_default(), 0.0]);
    let (sums, least) = vectorize!(move || {
        fold_eights!([d, a], pads, ([F64x8::ZERO; 3], F64x8::INFINITY), |(sums, least), [d, a]| {
            let w = (one / (d * d)).where_at_most(F64x8::splat(UNRELIABLE), d);
            let (v, square) = (w - one, a * a);
            let above = v * square;
            ([sums[0] + square, sums[1] + above, sums[2] + v * above], least.min(w))
        })
    });
    (sums.map(F64x8::sum), least.least())
}
