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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_with_rows_removed_is_that_of_the_smaller_matrix() {
        let entry = |i: usize, j: usize| if i == j { 3.0 } else { 1.0 / (1.0 + (i * j) as f64 + i.abs_diff(j) as f64) };
        let made = |of: &[usize]| {
            let mut factor = LowerFactor::default();
            for (k, &i) in of.iter().enumerate() {
                let row: Vec<f64> = of[..k].iter().map(|&j| entry(i, j)).collect();
                let (left, w) = factor.left_over(&row, entry(i, i));
                factor.push(left, w);
            }
            factor
        };
        for out in 0..6 {
            let mut updated = made(&[0, 1, 2, 3, 4, 5]);
            updated.remove(out);
            let rest: Vec<usize> = (0..6).filter(|i| *i != out).collect();
            let b: Vec<f64> = rest.iter().map(|&i| (i as f64).cos()).collect();
            let x = updated.solve(&b);
            for (a, b) in x.iter().zip(made(&rest).solve(&b)) {
                assert!((a - b).abs() < 1e-14);
            }
            for (k, &i) in rest.iter().enumerate() {
                let product: f64 = rest.iter().zip(&x).map(|(&j, x)| entry(i.max(j), i.min(j)) * x).sum();
                assert!((product - b[k]).abs() < 1e-14);
            }
        }
    }
}
