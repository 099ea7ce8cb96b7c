//! Update of all trials after adding a column, for several λ in one read of the moments.
//!
//! The sums are derived in the book, *Cross-validation without refitting*, "Moments: forward".

use super::Moments;
use crate::f64x8::F64x8;
use crate::linalg::InverseFactor;
use crate::vectorize;

/// Update of the vectors of one fold and λ by an added column.
#[derive(Debug)]
pub(super) struct ForwardStep {
    /// Direction p over the selected columns and the new one.
    pub p: Vec<f64>,
    /// H(A_v p) over the selected columns without the new one.
    pub u: Vec<f64>,
    /// pᵀA_v p.
    pub pi: f64,
    /// γ = g_b/√d_b and η = h_b/√d_b of each output.
    pub scalars: Vec<(f64, f64)>,
}

/// Eights of columns processed together.
const EIGHTS: usize = 4;
/// Number of λ that share the load of an entry.
const SHARE: usize = 4;

/// State of one fold and λ: vectors over all columns, output after output.
#[derive(Debug, Clone)]
pub(super) struct ForwardPair {
    pub lambda: f64,
    pub diagonal: Vec<f64>,
    pub gradient: Vec<f64>,
    pub square: Vec<f64>,
    pub along: Vec<f64>,
    pub loss: f64,
    /// Smallest share of any pivot.
    pub conditioning: f64,
    pub factor: InverseFactor,
}

/// Computes r = A_t p and x = A_v p − A_t u over all columns, and updates d ← d − r², g ← g − γr, h ← h − rη + γ(x −
/// rπ) and q ← q − 2rx + r²π. Cost O(R·n·s).
pub(super) fn apply(moments: &Moments, fold: usize, rows: &[usize], steps: &[ForwardStep], pairs: &mut [ForwardPair]) {
    let eights = moments.stride / F64x8::WIDTH;
    let interleave = |vector: fn(&ForwardStep) -> &[f64]| {
        steps.chunks(SHARE).map(|steps| interleave(steps, rows.len(), vector)).collect::<Vec<_>>()
    };
    let (p, u) = (interleave(|step| &step.p), interleave(|step| &step.u));
    let matrices: Vec<[&[f64]; 2]> = rows.iter().map(|&row| moments.rows(fold, row)).collect();
    let mut packed = vec![[F64x8::ZERO; EIGHTS]; 2 * rows.len()];
    for start in (0..eights).step_by(EIGHTS) {
        let here = EIGHTS.min(eights - start);
        let (a, v) = packed.split_at_mut(rows.len());
        for (packed, which) in [(a, 0), (v, 1)] {
            for (packed, row) in packed.iter_mut().zip(&matrices) {
                let chunks = &row[which].as_chunks().0[start..start + here];
                packed.iter_mut().zip(chunks).for_each(|(to, from)| *to = F64x8::load(from));
            }
        }
        let (a, v) = packed.split_at(rows.len());
        for (((p, u), steps), pairs) in p.iter().zip(&u).zip(steps.chunks(SHARE)).zip(pairs.chunks_mut(SHARE)) {
            vectorize!(|| {
                let (r, back, along) = (sums(a, p), sums(a, u), sums(v, p));
                for (l, (step, pair)) in steps.iter().zip(pairs.iter_mut()).enumerate() {
                    for k in 0..here {
                        pair.take_in(step, start + k, r[l][k], along[l][k] - back[l][k]);
                    }
                }
            });
        }
    }
}

/// A vector of up to [`SHARE`] steps, entry by entry, padded with zeros.
fn interleave(steps: &[ForwardStep], rows: usize, vector: fn(&ForwardStep) -> &[f64]) -> Vec<[f64; SHARE]> {
    let mut out = vec![[0.0; SHARE]; rows];
    for (l, step) in steps.iter().enumerate() {
        out.iter_mut().zip(vector(step)).for_each(|(out, entry)| out[l] = *entry);
    }
    out
}

/// Σ_k c_k a_k: λ × eights.
#[inline(always)]
fn sums(rows: &[[F64x8; EIGHTS]], coefficients: &[[f64; SHARE]]) -> [[F64x8; EIGHTS]; SHARE] {
    let mut sums = [[F64x8::ZERO; EIGHTS]; SHARE];
    for (row, coefficients) in rows.iter().zip(coefficients) {
        // An opaque address keeps the compiler from vectorizing along the rows, which would gather.
        let row = *std::hint::black_box(row);
        for l in 0..SHARE {
            let c = F64x8::splat(coefficients[l]);
            for e in 0..EIGHTS {
                sums[l][e] = sums[l][e] + row[e] * c;
            }
        }
    }
    sums
}

impl ForwardPair {
    #[inline(always)]
    fn take_in(&mut self, step: &ForwardStep, at: usize, r: F64x8, x: F64x8) {
        let stride = self.diagonal.len() / F64x8::WIDTH;
        let (pi, two) = (F64x8::splat(step.pi), F64x8::splat(2.0));
        let d = &mut self.diagonal.as_chunks_mut().0[at];
        (F64x8::load(d) - r * r).store(d);
        let q = &mut self.square.as_chunks_mut().0[at];
        (F64x8::load(q) - two * r * x + r * r * pi).store(q);
        for (o, &(gamma, eta)) in step.scalars.iter().enumerate() {
            let (gamma, eta) = (F64x8::splat(gamma), F64x8::splat(eta));
            let g = &mut self.gradient.as_chunks_mut().0[o * stride + at];
            (F64x8::load(g) - gamma * r).store(g);
            let h = &mut self.along.as_chunks_mut().0[o * stride + at];
            (F64x8::load(h) - r * eta + gamma * (x - r * pi)).store(h);
        }
    }
}
