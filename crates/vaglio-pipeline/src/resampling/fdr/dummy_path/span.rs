//! Directions of the remaining residuals of the targets.

use vaglio_core::sum_of_products;
use vaglio_kernels::sums::{axpy, dot};
use vaglio_kernels::tolerance::OUTSIDE_SPAN;

/// Orthonormal basis of vectors r_i − w_i, with its coefficients.
pub(super) struct DifferenceBasis {
    /// Basis vectors; dependent ones are left out.
    pub vectors: Vec<Vec<f64>>,
    /// Coefficients of each basis vector in the original vectors.
    coefficients: Vec<Vec<f64>>,
}

impl DifferenceBasis {
    pub fn new(residuals: &[Vec<f64>], projected: Option<&[Vec<f64>]>) -> Self {
        let mut outer = DifferenceBasis { vectors: Vec::new(), coefficients: Vec::new() };
        for (place, residual) in residuals.iter().enumerate() {
            let mut vector = residual.clone();
            if let Some(projected) = projected {
                axpy(-1.0, &projected[place], &mut vector);
            }
            let mut weights = vec![0.0; residuals.len()];
            weights[place] = 1.0;
            let before = dot(&vector, &vector).sqrt();
            for _ in 0..2 {
                for (f, coefficients) in outer.vectors.iter().zip(&outer.coefficients) {
                    let along = dot(f, &vector);
                    axpy(-along, f, &mut vector);
                    weights
                        .iter_mut()
                        .zip(coefficients)
                        .for_each(|(weight, coefficient)| *weight -= along * coefficient);
                }
            }
            let norm = dot(&vector, &vector).sqrt();
            if norm > OUTSIDE_SPAN && norm > OUTSIDE_SPAN * before {
                vector.iter_mut().for_each(|v| *v /= norm);
                weights.iter_mut().for_each(|weight| *weight /= norm);
                outer.vectors.push(vector);
                outer.coefficients.push(weights);
            }
        }
        outer
    }

    /// Products of the basis with a vector.
    pub fn coordinates(&self, vector: &[f64]) -> Vec<f64> {
        self.vectors.iter().map(|f| dot(f, vector)).collect()
    }

    /// Coefficients of Σ_i ρ_i f_i in the original vectors, with basis vectors f_i and ρ = `along`.
    pub fn weights(&self, along: &[f64]) -> Vec<f64> {
        let count = self.coefficients.first().map_or(0, Vec::len);
        (0..count)
            .map(|place| self.coefficients.iter().zip(along).map(|(made, along)| made[place] * along).sum())
            .collect()
    }

    /// Products of the basis with a vector, given its products with the original vectors.
    pub fn known(&self, products: &[f64]) -> Vec<f64> {
        self.coefficients.iter().map(|made| sum_of_products(made, products)).collect()
    }
}

/// Orthogonalizes a vector to an orthonormal basis, twice.
pub fn orthogonalize(basis: &[Vec<f64>], vector: &mut [f64]) {
    for e in basis.iter().chain(basis) {
        let along = dot(e, vector);
        axpy(-along, e, vector);
    }
}

/// Orthogonalizes a vector to a basis and normalizes it; returns whether anything remains.
pub(super) fn outside_of(basis: &[Vec<f64>], vector: &mut [f64]) -> bool {
    let before = dot(vector, vector).sqrt();
    orthogonalize(basis, vector);
    let norm = dot(vector, vector).sqrt();
    let is_new = norm > OUTSIDE_SPAN * before;
    if is_new {
        vector.iter_mut().for_each(|v| *v /= norm);
    }
    is_new
}
