//! Orthonormal directions of nearly dependent columns.
//!
//! Adding columns one by one, as [`super::RidgeState::add`] does, loses digits by the square of their condition number:
//! xᵀG x of a near copy is a difference of numbers 1/δ² times as large. With [X; √λI] = QR and Q₁ the rows of Q
//! that belong to X, G = I − v̂v̂ᵀ − Q₁Q₁ᵀ. Orthogonalizing twice keeps Q orthonormal to rounding, so that only the
//! condition number itself is lost.
//!
//! # Reference
//! L. Giraud, J. Langou, M. Rozložník, J. van den Eshof, *Rounding error analysis of the classical Gram-Schmidt
//! orthogonalization process*, Numerische Mathematik 101 (2005): twice is enough.

use crate::Data;
use crate::linalg;
use crate::sums::{axpy, dot};
use crate::tolerance::ORTHOGONALIZED;
use ndarray::Array2;

/// Q₁ and R of [X; √λI], for columns in their order.
pub(super) struct OrthonormalBasis {
    /// Q₁, one direction for each column.
    pub q: Vec<Vec<f64>>,
    /// Smallest share of λ + ‖x‖² that remains of a column given those before it.
    pub share: f64,
    /// R, by columns: entries up to the diagonal.
    r: Vec<Vec<f64>>,
}

/// Maximum rounds of orthogonalization.
const MOST_ROUNDS: usize = 4;

impl OrthonormalBasis {
    /// Orthogonalizes the columns. Cost O(m·s²).
    pub fn new(data: &Data<'_>, lambda: f64, features: &[usize]) -> Self {
        let (root, size) = (lambda.sqrt(), features.len());
        let mut directions: Vec<(Vec<f64>, Vec<f64>)> = Vec::with_capacity(size);
        let (mut share, mut r) = (1.0f64, Vec::with_capacity(size));
        for (k, &feature) in features.iter().enumerate() {
            let (mut upper, mut lower) = (data.scaled_column(feature), vec![0.0; size]);
            lower[k] = root;
            let mut along = vec![0.0; k + 1];
            let squares = |upper: &[f64], lower: &[f64]| dot(upper, upper) + dot(lower, lower);
            let whole = squares(&upper, &lower);
            let mut left = whole;
            for _ in 0..MOST_ROUNDS {
                for ((q, below), along) in directions.iter().zip(&mut along) {
                    let g = dot(q, &upper) + dot(below, &lower);
                    axpy(-g, q, &mut upper);
                    axpy(-g, below, &mut lower);
                    *along += g;
                }
                let before = std::mem::replace(&mut left, squares(&upper, &lower));
                if left > ORTHOGONALIZED * before {
                    break;
                }
            }
            share = share.min(left / whole);
            along[k] = left.sqrt();
            let inverse = if left > 0.0 { 1.0 / along[k] } else { 0.0 };
            upper.iter_mut().chain(&mut lower).for_each(|x| *x *= inverse);
            directions.push((upper, lower));
            r.push(along);
        }
        OrthonormalBasis { q: directions.into_iter().map(|(upper, _)| upper).collect(), share, r }
    }

    /// H = (XᵀX + λI)⁻¹ = R⁻¹R⁻ᵀ, and the columns X H e_b = Q₁R⁻ᵀe_b. Cost O(m·s²).
    pub fn removable(&self, data: &Data<'_>) -> (Array2<f64>, Vec<Vec<f64>>) {
        let entry = |(i, k): (usize, usize)| self.r[k].get(i).copied().unwrap_or(0.0);
        let inverse = linalg::inverse_of_triangle(Array2::from_shape_fn((self.r.len(), self.r.len()), entry).view());
        let column = |b: usize| {
            let mut c = vec![0.0; data.rows()];
            self.q.iter().enumerate().skip(b).for_each(|(k, q)| axpy(inverse[[b, k]], q, &mut c));
            c
        };
        (inverse.dot(&inverse.t()), (0..self.r.len()).map(column).collect())
    }
}
