//! Cholesky factor with row updates and downdates.
//!
//! P. Gill, G. Golub, W. Murray and M. Saunders, *Methods for modifying matrix factorizations*, Mathematics of
//! Computation 28 (1974).

use crate::sums::{axpy, dot};
use ndarray::Array2;

/// The lower triangle L of a positive definite matrix L·Lᵀ, row by row; at first without rows.
#[derive(Debug, Default)]
pub struct LowerFactor {
    rows: Vec<Vec<f64>>,
    /// Whether a row was removed since the factor was created.
    pub updated: bool,
}

impl LowerFactor {
    /// L⁻¹b. Cost O(s²).
    pub fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut y = b.to_vec();
        for (i, row) in self.rows.iter().enumerate() {
            y[i] = (y[i] - dot(&row[..i], &y[..i])) / row[i];
        }
        y
    }

    /// (L·Lᵀ)⁻¹b. Cost O(s²).
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        for (i, row) in self.rows.iter().enumerate().rev() {
            x[i] /= row[i];
            let (before, rest) = x.split_at_mut(i);
            axpy(-rest[0], &row[..i], before);
        }
        x
    }

    /// Schur complement q − ‖w‖² of a new diagonal entry q, and w = L⁻¹b of the new row. Cost O(s²).
    pub fn left_over(&self, b: &[f64], diagonal: f64) -> (f64, Vec<f64>) {
        let w = self.forward(b);
        (diagonal - dot(&w, &w), w)
    }

    /// Appends the row w with pivot √`left`, both from [`LowerFactor::left_over`].
    pub fn push(&mut self, left: f64, mut w: Vec<f64>) {
        w.push(left.sqrt());
        self.rows.push(w);
    }

    /// Removes a row and column of the matrix by Givens rotations. Cost O(s²).
    pub fn remove(&mut self, place: usize) {
        self.rows.remove(place);
        for i in place..self.rows.len() {
            let (a, b) = (self.rows[i][i], self.rows[i][i + 1]);
            let length = a.hypot(b);
            let (cos, sin) = (a / length, b / length);
            for row in &mut self.rows[i..] {
                let (x, y) = (row[i], row[i + 1]);
                row[i] = cos * x + sin * y;
                row[i + 1] = cos * y - sin * x;
            }
            self.rows[i].truncate(i + 1);
        }
        self.updated = true;
    }

    /// L, s × s.
    pub fn matrix(&self) -> Array2<f64> {
        let s = self.rows.len();
        Array2::from_shape_fn((s, s), |(i, j)| if j <= i { self.rows[i][j] } else { 0.0 })
    }

    /// The squared pivots.
    pub fn pivots(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().filter_map(|row| row.last()).map(|pivot| pivot * pivot)
    }
}
