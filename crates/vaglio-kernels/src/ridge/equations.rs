//! Normal equations for one λ, and their solutions refined by residuals from the rows.

use crate::linalg::Cholesky;
use crate::tolerance::{CORRECTION_BESIDE, CORRECTION_LEFT, CORRECTION_MOST};
use ndarray::{Array1, Array2, Axis};

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
    /// An estimate of κ.
    condition: f64,
    /// Weights over the scale: columns × outputs.
    scaled: Array2<f64>,
    /// The sizes of the last correction, at first of the weights, by output.
    last: Vec<f64>,
    rounds: usize,
}

/// Rounds after which something is amiss.
const ROUNDS: usize = 6;

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
        if (CORRECTION_LEFT * f64::EPSILON * condition).is_nan()
            || CORRECTION_LEFT * f64::EPSILON * condition > CORRECTION_MOST
        {
            return None;
        }
        let scaled = factor.solve((along * &scale.view().insert_axis(Axis(1))).view());
        let last = sizes(&scaled);
        Some(Equations { scale, factor, condition, scaled, last, rounds: 0 })
    }

    /// Columns × outputs.
    pub fn weights(&self) -> Array2<f64> {
        &self.scaled * &self.scale.view().insert_axis(Axis(1))
    }

    /// Corrects the weights by XᵀR − λW with R = Y − XW from the rows; whether they are right, `None` where corrections do not
    /// get smaller. Cost O(s²·outputs).
    pub fn correct(&mut self, missing: Array2<f64>) -> Option<bool> {
        let correction = self.factor.solve((missing * self.scale.view().insert_axis(Axis(1))).view());
        let now = sizes(&correction);
        // What is not a number is not smaller.
        if self.rounds == ROUNDS || !now.iter().zip(&self.last).all(|(now, last)| *now <= CORRECTION_MOST * last) {
            return None;
        }
        self.scaled += &correction;
        let left = CORRECTION_LEFT * self.condition;
        let enough = CORRECTION_BESIDE * self.condition.sqrt();
        let are_right = now.iter().zip(sizes(&self.scaled)).all(|(now, size)| left * now <= enough * size);
        (self.last, self.rounds) = (now, self.rounds + 1);
        Some(are_right)
    }
}

fn sizes(z: &Array2<f64>) -> Vec<f64> {
    z.columns().into_iter().map(|z| z.dot(&z).sqrt()).collect()
}
