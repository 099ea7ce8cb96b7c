//! Inverse Cholesky factor of moments: a triangle P with PᵀP = (A + λ)⁻¹ that grows by a row with every column.
//!
//! Bordering: G. Golub and C. Van Loan, *Matrix Computations*, 4.2.

use crate::f64x8::F64x8;
use crate::vectorize;
use std::hint::black_box;

/// Rows p_k of P: row k has k + 1 entries, padded with zeros to a multiple of eight.
#[derive(Debug, Clone, Default)]
pub(crate) struct InverseFactor {
    eights: Vec<F64x8>,
    rows: usize,
}

impl InverseFactor {
    /// Appends a row, one entry longer than the last.
    pub fn push(&mut self, row: &[f64]) {
        self.eights.extend(wide(row));
        self.rows += 1;
    }

    /// (A + λ)⁻¹a = Σ_k p_k(p_kᵀa). Cost O(s²).
    pub fn solve(&self, a: &[f64]) -> Vec<f64> {
        let a_wide: Vec<F64x8> = wide(a).collect();
        let mut out = vec![F64x8::ZERO; a_wide.len()];
        vectorize!(|| {
            let (mut eights, out) = (&self.eights[..], &mut out[..]);
            for k in 0..self.rows {
                let (row, rest) = eights.split_at(k / F64x8::WIDTH + 1);
                eights = rest;
                let mut along = F64x8::ZERO;
                row.iter().zip(&a_wide).for_each(|(p, a)| along = along + *black_box(p) * *a);
                let along = F64x8::splat(along.sum());
                out.iter_mut().zip(row).for_each(|(out, p)| *out = *out + *black_box(p) * along);
            }
        });
        let mut doubles = vec![0.0; out.len() * F64x8::WIDTH];
        out.iter().zip(doubles.as_chunks_mut().0).for_each(|(from, to)| from.store(to));
        doubles.truncate(a.len());
        doubles
    }
}

/// Splits a vector into eights, the last padded with zeros.
fn wide(x: &[f64]) -> impl Iterator<Item = F64x8> {
    x.chunks(F64x8::WIDTH).map(|x| F64x8::part(x, 0.0))
}
