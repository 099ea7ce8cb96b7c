//! Centered kernel matrices HKH as F·Fᵀ, and their inner products.
//!
//! A. Gretton, O. Bousquet, A. Smola and B. Schölkopf, *Measuring statistical dependence with Hilbert–Schmidt norms*,
//! ALT 2005. The book, criteria/nhsic.md.

use super::{Chunk, PaddedColumn, square_roots};
use ndarray::{ArrayView2, ShapeBuilder, s};
use vaglio_kernels::f64x8::F64x8;
use vaglio_kernels::sums::{axpy, dot};
use vaglio_kernels::vectorize;

/// Factor F, rows × rank, of a centered kernel matrix K̄ = F·Fᵀ; memory 8·rows·rank bytes.
///
/// An ignored column has rank 0, and K̄ = 0.
#[derive(Clone, Default)]
pub struct ThinFactor {
    /// Columns of F, each padded with zeros to whole chunks.
    chunks: Vec<Chunk>,
    rank: usize,
}

/// Columns multiplied together: 16 sums stay in registers.
const SIDE: usize = 4;

impl ThinFactor {
    /// Centered factor of a kernel matrix GGᵀ, given the columns of G; `shares` are the p_j. Cost O(rows·rank).
    pub(crate) fn from_features(shares: &[f64], mut columns: Vec<Vec<f64>>) -> Self {
        let roots = square_roots(shares);
        for column in &mut columns {
            column.iter_mut().zip(&roots).for_each(|(v, root)| *v *= root);
        }
        ThinFactor::from_columns(&roots, columns)
    }

    /// Centers the columns of P^{½}G, a factor of a kernel matrix P^{½}KP^{½}; `roots` are the √p_j. Cost O(rows·rank).
    pub(crate) fn from_columns(roots: &[f64], columns: Vec<Vec<f64>>) -> Self {
        let rank = columns.len();
        let mut chunks = Vec::with_capacity(rank * roots.len().div_ceil(F64x8::WIDTH));
        for mut column in columns {
            // The second pass removes the rounding error of the first.
            for _ in 0..2 {
                let mean = dot(&column, roots);
                axpy(-mean, roots, &mut column);
            }
            chunks.extend(PaddedColumn::new(&column).0);
        }
        ThinFactor { chunks, rank }
    }

    /// Factor of the kernel that is positive within a class and 0 between classes: one column per class.
    ///
    /// Within a class it is 1 divided by the class's share of the rows with `by_size` (the delta kernel, 1/n_class up to
    /// the number of rows), else 1. `class` counts from 0. Cost O(m·classes).
    ///
    /// # Reference
    /// M. Yamada et al., *High-dimensional feature selection by feature-wise kernelized lasso*, Neural Computation 26
    /// (2014).
    pub(crate) fn from_classes(shares: &[f64], class: &[usize], by_size: bool) -> Self {
        let roots = square_roots(shares);
        let count = class.iter().max().map_or(0, |last| last + 1);
        let column = |wanted: usize| {
            let size: f64 = class.iter().zip(shares).filter(|(c, _)| **c == wanted).map(|(_, p)| p).sum();
            let scale = if by_size { size.sqrt() } else { 1.0 };
            roots.iter().zip(class).map(|(root, c)| if *c == wanted { root / scale } else { 0.0 }).collect()
        };
        ThinFactor::from_columns(&roots, (0..count).map(column).collect())
    }

    /// Number of columns of F.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The factor of K̄/‖K̄‖_F. Cost O(rows·rank²).
    pub fn normalize(mut self) -> Self {
        let norm = self.inner(&self).sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            return ThinFactor::default();
        }
        let root = norm.sqrt();
        self.chunks.iter_mut().flatten().for_each(|v| *v /= root);
        self
    }

    /// <K̄, K̄'> = ‖FᵀF'‖²_F of two factors with equal rows. Cost O(rows·rank·rank').
    pub fn inner(&self, other: &ThinFactor) -> f64 {
        if self.rank == 0 || other.rank == 0 {
            return 0.0;
        }
        vectorize!(move || {
            let whole = self.rank - self.rank % SIDE;
            let mut total = 0.0;
            for k in (0..whole).step_by(SIDE) {
                add_squares(self.tile::<SIDE>(k), other, &mut total);
            }
            for k in whole..self.rank {
                add_squares(self.tile::<1>(k), other, &mut total);
            }
            total
        })
    }

    /// F as a matrix; `None` for an ignored column.
    pub(super) fn matrix(&self, rows: usize) -> Option<ArrayView2<'_, f64>> {
        let height = F64x8::WIDTH * self.chunks.len().checked_div(self.rank)?;
        let filled = ArrayView2::from_shape((height, self.rank).f(), self.chunks.as_flattened()).ok()?;
        Some(filled.slice_move(s![..rows, ..]))
    }

    /// Columns from `first` on.
    fn tile<const C: usize>(&self, first: usize) -> [&[Chunk]; C] {
        let length = self.chunks.len() / self.rank;
        std::array::from_fn(|i| &self.chunks[(first + i) * length..(first + i + 1) * length])
    }
}

/// Adds Σ_kl (a_kᵀb_l)² over the columns a of a tile and all columns b of a factor.
#[inline(always)]
fn add_squares<const C: usize>(a: [&[Chunk]; C], b: &ThinFactor, total: &mut f64) {
    let whole = b.rank - b.rank % SIDE;
    for l in (0..whole).step_by(SIDE) {
        *total += squares(a, b.tile::<SIDE>(l));
    }
    for l in whole..b.rank {
        *total += squares(a, b.tile::<1>(l));
    }
}

/// Σ_kl (a_kᵀb_l)² over a tile.
#[inline(always)]
fn squares<const C: usize, const N: usize>(a: [&[Chunk]; C], b: [&[Chunk]; N]) -> f64 {
    let length = a[0].len();
    let (a, b) = (a.map(|x| &x[..length]), b.map(|x| &x[..length]));
    let mut lanes = [[F64x8::ZERO; N]; C];
    for j in 0..length {
        let y: [F64x8; N] = std::array::from_fn(|l| F64x8::load(&b[l][j]));
        for k in 0..C {
            let x = F64x8::load(&a[k][j]);
            for l in 0..N {
                lanes[k][l] = lanes[k][l] + x * y[l];
            }
        }
    }
    let mut total = 0.0;
    for row in &lanes {
        for sum in row {
            let sum = sum.sum();
            total += sum * sum;
        }
    }
    total
}
