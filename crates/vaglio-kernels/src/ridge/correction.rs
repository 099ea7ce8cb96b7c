//! Iterative refinement by residuals from the rows.

use crate::tolerance::{CORRECTION_BESIDE, CORRECTION_LEFT, CORRECTION_MOST};
use ndarray::ArrayView2;

/// Progress of iterative refinement of solutions of (XᵀX + λI)W = XᵀY.
///
/// A factorization of XᵀX + λI leaves a relative error of about ε·κ. κ is the condition number of the matrix scaled to
/// a unit diagonal: the square of the rows' condition, which reflections depend on. Each correction by residuals from
/// the rows shrinks the error by a factor of about ε·κ. Rounding of the residuals remains, as after reflections.
///
/// # Reference
/// Å. Björck, *Stability analysis of the method of seminormal equations for linear least squares problems*, Linear
/// Algebra and its Applications 88/89 (1987).
#[derive(Debug)]
pub(crate) struct Correction {
    /// Estimate of κ.
    condition: f64,
    /// Norm of the last correction by output; initially of the weights.
    last: Vec<f64>,
    rounds: usize,
    /// Whether the weights are as accurate as those from reflections; `None` while corrections are needed.
    pub is_right: Option<bool>,
}

/// Maximum number of corrections.
const ROUNDS: usize = 6;

impl Correction {
    /// Whether a correction removes most of the error at this condition number.
    pub fn can_begin(condition: f64) -> bool {
        CORRECTION_LEFT * f64::EPSILON * condition <= CORRECTION_MOST
    }

    /// Starts from uncorrected weights.
    pub fn new(condition: f64, weights: ArrayView2<f64>) -> Self {
        Correction { condition, last: sizes(weights), rounds: 0, is_right: None }
    }

    /// Records a correction that was applied.
    pub fn take(&mut self, change: ArrayView2<f64>, weights: ArrayView2<f64>) {
        let now = sizes(change);
        // NaN counts as not shrinking.
        if self.rounds == ROUNDS || !now.iter().zip(&self.last).all(|(now, last)| *now <= CORRECTION_MOST * last) {
            self.is_right = Some(false);
            return;
        }
        let left = CORRECTION_LEFT * self.condition;
        let enough = CORRECTION_BESIDE * self.condition.sqrt();
        if now.iter().zip(sizes(weights)).all(|(now, size)| left * now <= enough * size) {
            self.is_right = Some(true);
        }
        (self.last, self.rounds) = (now, self.rounds + 1);
    }
}

fn sizes(z: ArrayView2<f64>) -> Vec<f64> {
    z.columns().into_iter().map(|z| z.dot(&z).sqrt()).collect()
}
