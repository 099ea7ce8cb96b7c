//! Normal equations for one λ, and their solutions refined by residuals from the rows.

use crate::linalg::Cholesky;
use crate::tolerance::{CORRECTION_BESIDE, CORRECTION_LEFT, CORRECTION_MOST};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// (XᵀX + λI)W = XᵀY by a Cholesky factor, with the weights that it gave and what later corrections made of them.
///
/// The factor leaves weights off by about ε·κ, where κ is the condition of the matrix with a diagonal of ones: the square of
/// what reflections suffer from. Each correction by the residuals of the rows takes off a part of about ε·κ of what is wrong,
/// down to what rounding in these leaves, and that is what reflections leave too.
///
/// # Reference
/// Å. Björck, *Stability analysis of the method of seminormal equations for linear least squares problems*, Linear Algebra
/// and its Applications 88/89 (1987).
#[derive(Debug)]
pub(crate) struct Equations {
    /// Powers of two that make the diagonal about 1.
    scale: Array1<f64>,
    factor: Cholesky,
    /// Weights over the scale: columns × outputs.
    scaled: Array2<f64>,
    correction: Correction,
}

impl Equations {
    /// From XᵀX and XᵀY; `None` where they are too ill-conditioned to be refined at once. Cost O(s³).
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
        Some(Equations { scale, factor, scaled, correction })
    }

    /// Columns × outputs.
    pub fn weights(&self) -> Array2<f64> {
        &self.scaled * &self.scale.view().insert_axis(Axis(1))
    }

    /// Corrects the weights by XᵀR − λW with R = Y − XW from the rows; whether they are right, `None` where corrections do not
    /// get smaller. Cost O(s²·outputs).
    pub fn correct(&mut self, missing: Array2<f64>) -> Option<bool> {
        let change = self.factor.solve((missing * self.scale.view().insert_axis(Axis(1))).view());
        self.scaled += &change;
        self.correction.take(change.view(), self.scaled.view());
        (self.correction.state != State::Fails).then(|| self.correction.is_right())
    }
}

/// How far corrections of weights have come.
#[derive(Debug)]
pub(crate) struct Correction {
    /// An estimate of κ.
    condition: f64,
    /// The sizes of the last correction, at first of the weights, by output.
    last: Vec<f64>,
    rounds: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    GoesOn,
    Right,
    Fails,
}

/// Rounds after which something is amiss.
const ROUNDS: usize = 6;

impl Correction {
    /// Whether a correction takes off most of what is wrong at this condition.
    pub fn can_begin(condition: f64) -> bool {
        CORRECTION_LEFT * f64::EPSILON * condition <= CORRECTION_MOST
    }

    /// Of weights that were not corrected yet.
    pub fn new(condition: f64, weights: ArrayView2<f64>) -> Self {
        Correction { condition, last: sizes(weights), rounds: 0, state: State::GoesOn }
    }

    /// Whether the weights are to be corrected again.
    pub fn goes_on(&self) -> bool {
        self.state == State::GoesOn
    }

    /// Whether the weights are as good as reflections make them.
    pub fn is_right(&self) -> bool {
        self.state == State::Right
    }

    /// Takes a change of the weights into account, which has been made.
    pub fn take(&mut self, change: ArrayView2<f64>, weights: ArrayView2<f64>) {
        let now = sizes(change);
        // What is not a number is not smaller.
        if self.rounds == ROUNDS || !now.iter().zip(&self.last).all(|(now, last)| *now <= CORRECTION_MOST * last) {
            self.state = State::Fails;
            return;
        }
        let left = CORRECTION_LEFT * self.condition;
        let enough = CORRECTION_BESIDE * self.condition.sqrt();
        if now.iter().zip(sizes(weights)).all(|(now, size)| left * now <= enough * size) {
            self.state = State::Right;
        }
        (self.last, self.rounds) = (now, self.rounds + 1);
    }
}

fn sizes(z: ArrayView2<f64>) -> Vec<f64> {
    z.columns().into_iter().map(|z| z.dot(&z).sqrt()).collect()
}
