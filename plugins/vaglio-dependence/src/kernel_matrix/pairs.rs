//! One Gaussian kernel on several columns: entries for pairs of rows, and sums over all pairs.
//!
//! L. Song, A. Smola, A. Gretton, J. Bedo and K. Borgwardt, *Feature selection via dependence maximization*, JMLR 13
//! (2012). The book, criteria/hsic.md.

use super::Chunk;
use std::hint::black_box;
use vaglio_kernels::elementary_functions::exp_of;
use vaglio_kernels::f64x8::F64x8;
use vaglio_kernels::vectorize;

/// Entries of a column in whole chunks, padded with zeros.
pub struct PaddedColumn(pub(super) Vec<Chunk>);

impl PaddedColumn {
    /// Copies the entries. Cost O(m).
    pub fn new(values: &[f64]) -> Self {
        let chunk = |part: &[f64]| std::array::from_fn(|l| part.get(l).copied().unwrap_or(0.0));
        PaddedColumn(values.chunks(F64x8::WIDTH).map(chunk).collect())
    }

    /// Multiplies all entries by a number. Cost O(m).
    #[cfg(feature = "hsfs")]
    pub fn times(&self, by: f64) -> Self {
        PaddedColumn(self.0.iter().map(|chunk| chunk.map(|u| u * by)).collect())
    }

    #[inline(always)]
    fn get(&self, row: usize) -> f64 {
        self.0[row / F64x8::WIDTH][row % F64x8::WIDTH]
    }
}

/// A number for every pair of rows j > k, row by row, each row padded to whole chunks; memory about 4m² bytes.
///
/// Padding is 0 if the numbers are weights of a sum, and finite otherwise.
#[derive(Clone)]
pub struct RowPairs {
    rows: usize,
    chunks: Vec<Chunk>,
}

/// Number of chunks of row j.
const fn length(row: usize) -> usize {
    row.div_ceil(F64x8::WIDTH)
}

impl RowPairs {
    /// Creates the numbers `entry(j, k)` for k < j. Cost O(m²).
    pub fn new(rows: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut chunks = Vec::with_capacity((1..rows).map(length).sum());
        for j in 1..rows {
            for start in (0..j).step_by(F64x8::WIDTH) {
                chunks.push(std::array::from_fn(|l| if start + l < j { entry(j, start + l) } else { 0.0 }));
            }
        }
        RowPairs { rows, chunks }
    }

    /// Creates zeros. Cost O(m²).
    pub fn zeros(rows: usize) -> Self {
        RowPairs::new(rows, |_, _| 0.0)
    }

    /// Calls `f` with j, k and the entry of every pair, in order. Cost O(m²).
    pub fn for_each(&self, mut f: impl FnMut(usize, usize, f64)) {
        let mut rest = &self.chunks[..];
        for j in 1..self.rows {
            let (row, later) = rest.split_at(length(j));
            row.as_flattened()[..j].iter().enumerate().for_each(|(k, value)| f(j, k, *value));
            rest = later;
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Replaces every entry by `f` of j, k and the entry. Cost O(m²).
    pub fn update(&mut self, f: impl Fn(usize, usize, f64) -> f64) {
        let mut rest = &mut self.chunks[..];
        for j in 1..self.rows {
            let (row, later) = rest.split_at_mut(length(j));
            let (pairs, filled) = row.as_flattened_mut().split_at_mut(j);
            pairs.iter_mut().enumerate().for_each(|(k, value)| *value = f(j, k, *value));
            filled.fill(0.0);
            rest = later;
        }
    }

    /// Adds (u_j − u_k)² of a column u to every entry. Cost O(m²).
    pub fn add_distances(&mut self, column: &PaddedColumn) {
        vectorize!(move || {
            let mut rest = &mut self.chunks[..];
            for j in 1..self.rows {
                let (row, later) = rest.split_at_mut(length(j));
                let own = column.get(j);
                for (chunk, u) in row.iter_mut().zip(&column.0) {
                    // An opaque address keeps the compiler from gathering across eights.
                    let u = black_box(u);
                    for l in 0..F64x8::WIDTH {
                        chunk[l] += (u[l] - own) * (u[l] - own);
                    }
                }
                rest = later;
            }
        });
    }

    /// Multiplies each number by exp(`scale`·d_jk). Cost O(m²).
    pub fn times_exp(&self, distances: &RowPairs, scale: f64) -> RowPairs {
        let mut product = self.clone();
        vectorize!(|| {
            for (chunk, distance) in product.chunks.iter_mut().zip(&distances.chunks) {
                for l in 0..F64x8::WIDTH {
                    chunk[l] *= exp_of(scale * distance[l]);
                }
            }
        });
        product
    }

    /// Σ over j > k of the numbers times `factor` of d_jk and (u_j − u_k)². Cost O(m²).
    pub fn sum_with(&self, distances: &RowPairs, column: &PaddedColumn, factor: impl Fn(f64, f64) -> f64) -> f64 {
        vectorize!(move || {
            let mut lanes = [0.0; F64x8::WIDTH];
            let (mut rest, mut rest_distances) = (&self.chunks[..], &distances.chunks[..]);
            for j in 1..self.rows {
                let (row, later) = rest.split_at(length(j));
                let (distance, after) = rest_distances.split_at(length(j));
                let own = column.get(j);
                for ((weight, distance), u) in row.iter().zip(distance).zip(&column.0) {
                    for l in 0..F64x8::WIDTH {
                        let difference = u[l] - own;
                        lanes[l] += weight[l] * factor(distance[l], difference * difference);
                    }
                }
                (rest, rest_distances) = (later, after);
            }
            lanes.iter().sum()
        })
    }

    /// Σ over j > k of the numbers. Cost O(m²).
    pub fn total(&self) -> f64 {
        let mut lanes = F64x8::ZERO;
        self.chunks.iter().for_each(|chunk| lanes = lanes + F64x8::load(chunk));
        lanes.sum()
    }
}
