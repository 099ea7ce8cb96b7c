//! Downdating of the matrices H and V by removed rows and columns, sixteen removals at once.
//!
//! The book, *Cross-validation without refitting*, "Moments: backward"; postponed rank-one changes as in the compact
//! forms of R. Byrd, J. Nocedal and R. Schnabel, Mathematical Programming 63 (1994).

use crate::f64x8::F64x8;
use crate::vectorize;
use std::hint::black_box;

/// Lower triangles of H and V: row i has ⌈(i + 1)/8⌉ eights, rows one after the other.
///
/// The represented matrices are H − Σ_k h_k r_kᵀ and V − Σ_k (r_k ṽ_kᵀ + ṽ_k r_kᵀ) over pending downdates. The stored
/// matrices and the pending vectors suffice for any column of the represented ones.
#[derive(Debug, Clone, Default)]
pub(super) struct DowndatedTriangles {
    size: usize,
    h: Vec<F64x8>,
    v: Vec<F64x8>,
    pending: Vec<PendingDowndate>,
}

/// A pending downdate: r, ṽ, and c with h = c·r, over all rows.
#[derive(Debug, Clone)]
struct PendingDowndate {
    r: Vec<F64x8>,
    v: Vec<F64x8>,
    c: f64,
}

/// Entry k of a vector in eights.
#[inline(always)]
pub(super) fn lane(x: &[F64x8], k: usize) -> f64 {
    x[k / F64x8::WIDTH].lane(k % F64x8::WIDTH)
}

/// Start of row i, in eights: Σ_{k<i} (⌊k/8⌋ + 1).
fn start(i: usize) -> usize {
    let (whole, rest) = (i / F64x8::WIDTH, i % F64x8::WIDTH);
    F64x8::WIDTH * whole * (whole + 1) / 2 + rest * (whole + 1)
}

/// Packs the lower triangle of a matrix given by entries.
fn pack(size: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<F64x8> {
    let mut out = Vec::with_capacity(start(size));
    for i in 0..size {
        for first in (0..=i).step_by(F64x8::WIDTH) {
            let lane = |l: usize| if first + l <= i { entry(i, first + l) } else { 0.0 };
            out.push(F64x8::load(&std::array::from_fn(lane)));
        }
    }
    out
}

impl DowndatedTriangles {
    /// Packs the lower triangles of two matrices given by entries.
    pub fn new(size: usize, h: impl Fn(usize, usize) -> f64, v: impl Fn(usize, usize) -> f64) -> Self {
        DowndatedTriangles { size, h: pack(size, h), v: pack(size, v), pending: Vec::new() }
    }

    /// Bytes for `size` rows.
    pub fn bytes(size: usize) -> usize {
        2 * start(size) * size_of::<F64x8>()
    }

    /// Columns b of the represented H and V. Cost O(s·pending).
    pub fn columns(&self, b: usize) -> (Vec<F64x8>, Vec<F64x8>) {
        let gather = |from: &[F64x8]| {
            let mut out = vec![F64x8::ZERO; self.size.div_ceil(F64x8::WIDTH)];
            let row = &from[start(b)..start(b + 1)];
            out[..row.len()].copy_from_slice(row);
            for i in b + 1..self.size {
                let value = lane(&from[start(i)..], b);
                out[i / F64x8::WIDTH].update(i % F64x8::WIDTH, |_| value);
            }
            out
        };
        let (mut h, mut v) = (gather(&self.h), gather(&self.v));
        let by = |p: &PendingDowndate| [lane(&p.r, b) * p.c, lane(&p.r, b), lane(&p.v, b)];
        let by: Vec<[f64; 3]> = self.pending.iter().map(by).collect();
        vectorize!(|| subtract_changes(&self.pending, &by, &mut h, &mut v));
        (h, v)
    }

    /// Adds a pending downdate.
    pub fn push(&mut self, r: Vec<F64x8>, v: Vec<F64x8>, c: f64) {
        self.pending.push(PendingDowndate { r, v, c });
    }

    /// Applies all downdates and keeps the rows and columns `kept`, in increasing order. Cost O(s²·pending).
    pub fn flush(&mut self, kept: &[usize]) {
        vectorize!(|| take_changes(self.size, &self.pending, &mut self.h, &mut self.v));
        self.pending.clear();
        for matrix in [&mut self.h, &mut self.v] {
            vectorize!(|| compact(kept, matrix));
            matrix.truncate(start(kept.len()));
            matrix.shrink_to_fit();
        }
        self.size = kept.len();
    }
}

/// Subtracts the pending downdates from one column: h −= r·(h_b), v −= r·ṽ_b + ṽ·r_b.
#[inline(always)]
fn subtract_changes(changes: &[PendingDowndate], by: &[[f64; 3]], h: &mut [F64x8], v: &mut [F64x8]) {
    for (change, by) in changes.iter().zip(by) {
        let [h_b, r_b, v_b] = by.map(F64x8::splat);
        for (((h, v), r), t) in h.iter_mut().zip(v.iter_mut()).zip(&change.r).zip(&change.v) {
            // An opaque address keeps the compiler from gathering across eights.
            let (r, t) = (*black_box(r), *black_box(t));
            *h = *h - r * h_b;
            *v = *v - (r * v_b + t * r_b);
        }
    }
}

/// Rows that share the load of a downdate.
const ROWS: usize = 4;

/// Subtracts all downdates from both matrices, by blocks of rows and eights.
#[inline(always)]
fn take_changes(size: usize, changes: &[PendingDowndate], h: &mut [F64x8], v: &mut [F64x8]) {
    let whole = size / ROWS * ROWS;
    for first in (0..whole).step_by(ROWS) {
        rows_less::<ROWS>(first, changes, h, v);
    }
    for row in whole..size {
        rows_less::<1>(row, changes, h, v);
    }
}

/// Subtracts all downdates from `R` rows of one block of eight, which have equal length.
#[inline(always)]
fn rows_less<const R: usize>(first: usize, changes: &[PendingDowndate], h: &mut [F64x8], v: &mut [F64x8]) {
    let length = first / F64x8::WIDTH + 1;
    let [h, v] = [h, v].map(|matrix| &mut matrix[start(first)..][..R * length]);
    let lanes = |x: &[F64x8], c: f64| -> [f64; R] { std::array::from_fn(|l| lane(x, first + l) * c) };
    let by = |change: &PendingDowndate| [lanes(&change.r, change.c), lanes(&change.r, 1.0), lanes(&change.v, 1.0)];
    let by: Vec<[[f64; R]; 3]> = changes.iter().map(by).collect();
    for k in 0..length {
        let mut now: [F64x8; R] = std::array::from_fn(|l| h[l * length + k]);
        for (by, change) in by.iter().zip(changes) {
            // An opaque address keeps the compiler from gathering across changes.
            let r = *black_box(&change.r[k]);
            for l in 0..R {
                now[l] = now[l] - r * F64x8::splat(by[0][l]);
            }
        }
        (0..R).for_each(|l| h[l * length + k] = now[l]);
        let mut now: [F64x8; R] = std::array::from_fn(|l| v[l * length + k]);
        for (by, change) in by.iter().zip(changes) {
            let (r, t) = (*black_box(&change.r[k]), *black_box(&change.v[k]));
            for l in 0..R {
                now[l] = now[l] - (r * F64x8::splat(by[2][l]) + t * F64x8::splat(by[1][l]));
            }
        }
        (0..R).for_each(|l| v[l * length + k] = now[l]);
    }
}

/// Moves the kept rows and columns to the front.
#[inline(always)]
fn compact(kept: &[usize], matrix: &mut [F64x8]) {
    for (i, &from) in kept.iter().enumerate() {
        let (to, from) = (start(i), start(from));
        for (k, columns) in kept[..=i].chunks(F64x8::WIDTH).enumerate() {
            let mut eight = F64x8::ZERO;
            for (l, &j) in columns.iter().enumerate() {
                let value = lane(&matrix[from..], j);
                eight.update(l, |_| value);
            }
            matrix[to + k] = eight;
        }
    }
}
