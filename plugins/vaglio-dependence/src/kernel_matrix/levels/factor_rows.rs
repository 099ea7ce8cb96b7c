//! Products of level columns with the rows of another kernel's factor.

use super::{LevelColumn, LevelGrid, MOST, WHOLE};
use crate::kernel_matrix::{Chunk, ThinFactor};
use vaglio_core::sum_of_products;
use vaglio_kernels::f64x8::F64x8;
use vaglio_kernels::linalg::{FactorizationError, eigh};
use vaglio_kernels::tolerance::LEVEL_EIGENVALUES;
use vaglio_kernels::vectorize;

/// Rows of P^{½}F for a centered kernel matrix F·Fᵀ, in strips of up to 24 columns.
#[derive(Default)]
pub struct FactorRows(Vec<RowChunks>);

type SingleChunk = [f32; F64x8::WIDTH];

/// Up to three chunks of each row: in double precision for columns with exact levels, in single precision for others.
/// Quantization errors of the others exceed the rounding of single precision.
struct RowChunks {
    /// Number of chunks of a row.
    width: usize,
    double: Vec<Chunk>,
    single: Vec<SingleChunk>,
}

/// Maximum columns of a strip.
const WIDEST: usize = 3 * F64x8::WIDTH;
/// Rows per tile: they and the sums stay in the second-level cache.
const ROWS: usize = 1024;
/// Tiles summed in single precision before their sums are added to doubles.
const SINGLE_TILES: usize = 16;
/// Columns whose sums stay in the caches together.
const SIDE_BY_SIDE: usize = 2;
/// Columns per task.
pub const TOGETHER: usize = 16;

impl LevelColumn {
    /// Rows of ΓZF in the eigenvectors of FᵀZᵀΓZF, divided by ‖K̄‖^½ with `normalize`. Eigenvalues that sum to less
    /// than 1e-8 of the norm are omitted. Cost O(m·columns).
    ///
    /// # Errors
    /// Returns the errors of [`eigh`].
    pub fn factor_rows(&self, shares: &[f64], normalize: bool) -> Result<FactorRows, FactorizationError> {
        let (values, vectors) = eigh(self.spread.view())?;
        let norm = self.square().sqrt();
        let mut left = 0.0;
        let first = values.iter().position(|v| {
            left += v.max(0.0);
            left > LEVEL_EIGENVALUES * norm
        });
        let root = if normalize { norm.sqrt() } else { 1.0 };
        let column = |k: usize| {
            let along = |place: usize| sum_of_products(self.grid.row(place), vectors.column(k));
            let level_sums: Vec<f64> = (0..self.grid.values.len()).map(along).collect();
            let mut column = self.interpolate(|place| level_sums[place] / root);
            let mean = sum_of_products(&column, shares);
            column.iter_mut().zip(shares).for_each(|(v, p)| *v = p * (*v - mean));
            column
        };
        Ok(FactorRows::from_columns((first.unwrap_or(values.len())..values.len()).map(column)))
    }
}

impl FactorRows {
    fn from_columns(columns: impl Iterator<Item = Vec<f64>>) -> Self {
        let columns: Vec<Vec<f64>> = columns.collect();
        FactorRows(columns.chunks(WIDEST).map(RowChunks::new).collect())
    }

    /// Creates rows from a factor of P^{½}HKHᵀP^{½}; `shares` are the p_j. Cost O(m·rank).
    pub fn from_factor(factor: &ThinFactor, shares: &[f64]) -> Self {
        let Some(matrix) = factor.matrix(shares.len()) else { return FactorRows::default() };
        let scaled = |column: ndarray::ArrayView1<'_, f64>| {
            column.iter().zip(shares).map(|(f, p)| f * p.sqrt()).collect::<Vec<f64>>()
        };
        FactorRows::from_columns(matrix.columns().into_iter().map(scaled))
    }

    /// <K̄_k, K̄> of each column k, whatever the other columns. Cost O(m·rank) each.
    pub fn products(&self, columns: &[&LevelColumn]) -> Vec<f64> {
        let mut products = vec![0.0; columns.len()];
        for strip in &self.0 {
            match strip.width {
                1 => pass::<1>(strip, columns, &mut products),
                2 => pass::<2>(strip, columns, &mut products),
                _ => pass::<3>(strip, columns, &mut products),
            }
        }
        products
    }
}

impl RowChunks {
    fn new(columns: &[Vec<f64>]) -> Self {
        let width = columns.len().div_ceil(F64x8::WIDTH);
        let mut double = vec![[0.0; F64x8::WIDTH]; width * columns[0].len()];
        for (k, column) in columns.iter().enumerate() {
            let own = double.iter_mut().skip(k / F64x8::WIDTH).step_by(width);
            own.zip(column).for_each(|(chunk, v)| chunk[k % F64x8::WIDTH] = *v);
        }
        let single = double.iter().map(|chunk| chunk.map(|v| v as f32)).collect();
        RowChunks { width, double, single }
    }
}

/// Adds ‖F_kᵀZ_kᵀP‖² of each column for a strip of P.
fn pass<const N: usize>(strip: &RowChunks, columns: &[&LevelColumn], products: &mut [f64]) {
    let (double, single_rows) = (strip.double.as_chunks::<N>().0, strip.single.as_chunks::<N>().0);
    let count = double.len();
    let zeros = ([[[0.0; F64x8::WIDTH]; N]; MOST + 1], Box::new([LevelSums::ZERO; MOST]));
    let mut all = vec![zeros; columns.len().min(SIDE_BY_SIDE)];
    for (columns, products) in columns.chunks(SIDE_BY_SIDE).zip(products.chunks_mut(SIDE_BY_SIDE)) {
        all.iter_mut().for_each(|(sums, _)| sums.fill([[0.0; F64x8::WIDTH]; N]));
        for (tile, first) in (0..count).step_by(ROWS).enumerate() {
            let at = first..count.min(first + ROWS);
            let is_full = (tile + 1).is_multiple_of(SINGLE_TILES) || at.end == count;
            for (column, (sums, single)) in columns.iter().zip(&mut all) {
                let places = &column.places[at.clone()];
                let Some(weights) = column.weights.get(at.clone()) else {
                    vectorize!(|| scatter_exact(&double[at.clone()], places, sums));
                    continue;
                };
                vectorize!(|| scatter(&single_rows[at.clone()], places, weights, single));
                if is_full {
                    move_into(single, sums);
                }
            }
        }
        for ((column, (sums, _)), product) in columns.iter().zip(&all).zip(products) {
            *product += vectorize!(|| squares(&column.grid, sums));
        }
    }
}

type Sums<const N: usize> = [[Chunk; N]; MOST + 1];

/// Sums of a level over its rows in single precision, plain and weighted by the next level in 255ths.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct LevelSums<const N: usize> {
    rows: [SingleChunk; N],
    weighted: [SingleChunk; N],
}

impl<const N: usize> LevelSums<N> {
    const ZERO: Self = LevelSums { rows: [[0.0; F64x8::WIDTH]; N], weighted: [[0.0; F64x8::WIDTH]; N] };
}

/// Adds the sums to those of each level and the next, and resets them.
fn move_into<const N: usize>(single: &mut [LevelSums<N>; MOST], sums: &mut Sums<N>) {
    for (place, level_sums) in single.iter_mut().enumerate() {
        let LevelSums { rows, weighted } = std::mem::replace(level_sums, LevelSums::ZERO);
        for ((k, rows), weighted) in rows.iter().enumerate().zip(&weighted) {
            for ((lane, row), weighted) in rows.iter().enumerate().zip(weighted) {
                let next = f64::from(*weighted) * (1.0 / WHOLE);
                sums[place][k][lane] += f64::from(*row) - next;
                sums[place + 1][k][lane] += next;
            }
        }
    }
}

/// Adds every row to its level, plain and weighted.
#[inline(always)]
fn scatter<const N: usize>(
    rows: &[[SingleChunk; N]],
    places: &[u8],
    weights: &[u8],
    single: &mut [LevelSums<N>; MOST],
) {
    for ((row, &place), &weight) in rows.iter().zip(places).zip(weights) {
        let sums = &mut single[usize::from(place)];
        // Copies: the compiler does not know that rows and sums are disjoint, and would not vectorize otherwise.
        let (LevelSums { rows: mut own, mut weighted }, row, weight) = (*sums, *row, f32::from(weight));
        for k in 0..N {
            for lane in 0..F64x8::WIDTH {
                own[k][lane] += row[k][lane];
                weighted[k][lane] += weight * row[k][lane];
            }
        }
        *sums = LevelSums { rows: own, weighted };
    }
}

/// Adds every row to its level.
#[inline(always)]
fn scatter_exact<const N: usize>(rows: &[[Chunk; N]], places: &[u8], sums: &mut Sums<N>) {
    for (row, &place) in rows.iter().zip(places) {
        for (sum, chunk) in sums[usize::from(place)].iter_mut().zip(row) {
            (F64x8::load(sum) + F64x8::load(chunk)).store(sum);
        }
    }
}

/// Columns of F multiplied together.
const SIDE: usize = 4;

/// ‖FᵀT‖² for the sums T of the levels.
#[inline(always)]
fn squares<const N: usize>(grid: &LevelGrid, sums: &Sums<N>) -> f64 {
    let mut total = F64x8::ZERO;
    for first in (0..grid.rank).step_by(SIDE) {
        let mut products = [[F64x8::ZERO; N]; SIDE];
        let columns = SIDE.min(grid.rank - first);
        for (factor, sums) in grid.factor.chunks_exact(grid.rank).zip(sums) {
            let mut entries = [0.0; SIDE];
            entries[..columns].copy_from_slice(&factor[first..first + columns]);
            for (products, entry) in products.iter_mut().zip(entries) {
                let entry = F64x8::splat(entry);
                for (product, sum) in products.iter_mut().zip(sums) {
                    *product = *product + entry * F64x8::load(sum);
                }
            }
        }
        products.iter().flatten().for_each(|product| total = total + *product * *product);
    }
    total.sum()
}
