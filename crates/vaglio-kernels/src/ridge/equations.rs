//! Normal equations for one λ with iterative refinement by residuals from the rows.

use crate::linalg::Cholesky;
use crate::tolerance::{CORRECTION_BESIDE, CORRECTION_LEFT, CORRECTION_MOST};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Cholesky solution of (XᵀX + λI)W = XᵀY, improved by iterative refinement.
///
/// The factor leaves a relative error of about ε·κ. κ is the condition number of the matrix scaled to a unit diagonal:
/// the square of the rows' condition, which reflections depend on. Each correction by residuals from the rows shrinks
/// the error by a factor of about ε·κ, down to the rounding of the residuals, which reflections leave too.
///
/// # Reference
/// Å. Björck, *Stability analysis of the method of seminormal equations for linear least squares problems*, Linear
/// Algebra and its Applications 88/89 (1987).
#[derive(Debug)]
pub(crate) struct RefinedCholesky {
    /// Powers of two that scale the diagonal to about 1.
    scale: Array1<f64>,
    factor: Cholesky,
    /// Weights divided by the scale: columns × outputs.
    scaled: Array2<f64>,
    correction: Correction,
}

impl RefinedCholesky {
    /// Factors XᵀX + λI; returns `None` if it is too ill-conditioned for refinement. Cost O(s³).
    pub fn new(mut gram: Array2<f64>, lambda: f64, along: &Array2<f64>) -> Option<Self> {
        let count = gram.nrows();
        gram.diag_mut().iter_mut().for_each(|d| *d += lambda);
        let scale: Array1<f64> = gram.diag().mapv(|d| (-0.5 * d.log2()).round().exp2());
        for (mut row, by) in gram.rows_mut().into_iter().zip(&scale) {
            row.iter_mut().zip(&scale).for_each(|(entry, scale)| *entry *= by * scale);
        }
        let factor = Cholesky::new(gram.view()).ok()?;
        let condition = factor.inverse_norm(count).max(1.0);
        if !Correction::can_begin(condition) {
            return None;
        }
        let scaled = factor.solve((along * &scale.view().insert_axis(Axis(1))).view());
        let correction = Correction::new(condition, scaled.view());
        Some(RefinedCholesky { scale, factor, scaled, correction })
    }

    /// Current weights, columns × outputs.
    pub fn weights(&self) -> Array2<f64> {
        &self.scaled * &self.scale.view().insert_axis(Axis(1))
    }

    /// Corrects the weights given XᵀR − λW with R = Y − XW from the rows, and returns whether they have converged.
    /// Returns `None` if corrections do not shrink. Cost O(s²·outputs).
    pub fn correct(&mut self, missing: Array2<f64>) -> Option<bool> {
        let change = self.factor.solve((missing * self.scale.view().insert_axis(Axis(1))).view());
        self.scaled += &change;
        self.correction.take(change.view(), self.scaled.view());
        (self.correction.state != RefinementStatus::Fails).then(|| self.correction.is_right())
    }
}

/// Progress of iterative refinement.
#[derive(Debug)]
pub(crate) struct Correction {
    /// Estimate of κ.
    condition: f64,
    /// Norm of the last correction by output; initially of the weights.
    last: Vec<f64>,
    rounds: usize,
    state: RefinementStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefinementStatus {
    GoesOn,
    Right,
    Fails,
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
        Correction { condition, last: sizes(weights), rounds: 0, state: RefinementStatus::GoesOn }
    }

    /// Whether another correction is needed.
    pub fn goes_on(&self) -> bool {
        self.state == RefinementStatus::GoesOn
    }

    /// Whether the weights are as accurate as those from reflections.
    pub fn is_right(&self) -> bool {
        self.state == RefinementStatus::Right
    }

    /// Records a correction that was applied.
    pub fn take(&mut self, change: ArrayView2<f64>, weights: ArrayView2<f64>) {
        let now = sizes(change);
        // NaN counts as not shrinking.
        if self.rounds == ROUNDS || !now.iter().zip(&self.last).all(|(now, last)| *now <= CORRECTION_MOST * last) {
            self.state = RefinementStatus::Fails;
            return;
        }
        let left = CORRECTION_LEFT * self.condition;
        let enough = CORRECTION_BESIDE * self.condition.sqrt();
        if now.iter().zip(sizes(weights)).all(|(now, size)| left * now <= enough * size) {
            self.state = RefinementStatus::Right;
        }
        (self.last, self.rounds) = (now, self.rounds + 1);
    }
}

fn sizes(z: ArrayView2<f64>) -> Vec<f64> {
    z.columns().into_iter().map(|z| z.dot(&z).sqrt()).collect()
}
