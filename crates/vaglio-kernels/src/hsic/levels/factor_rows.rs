//! Passes of columns of levels over the rows of another kernel's factor.

use super::{LevelColumn, MOST, WHOLE};
use crate::Level;
use crate::eight::Eight;
use crate::hsic::ThinFactor;
use crate::wide::Wide;
use pulp::{Simd, WithSimd};

/// P = P^{½}F of a centered kernel matrix F·Fᵀ, row by row in strips of up to 24 columns.
#[derive(Debug, Default)]
pub struct FactorRows(Vec<Strip>);

type Chunk = [f64; Wide::WIDTH];

/// Up to three chunks of each row.
#[derive(Debug)]
enum Strip {
    One(Vec<[Chunk; 1]>),
    Two(Vec<[Chunk; 2]>),
    Three(Vec<[Chunk; 3]>),
}

/// Columns of a strip at most.
const WIDEST: usize = 3 * Wide::WIDTH;
/// Rows that are added together: they and the sums stay in the second cache.
const ROWS: usize = 1024;
/// Columns that a thread takes together: so many read the same rows.
pub const TOGETHER: usize = 8;

impl FactorRows {
    pub(super) fn of_columns(columns: impl Iterator<Item = Vec<f64>>) -> Self {
        let columns: Vec<Vec<f64>> = columns.collect();
        FactorRows(columns.chunks(WIDEST).map(Strip::new).collect())
    }

    /// Of a factor of P^{½}HKHᵀP^{½}; `shares` are the p_j. Cost O(m·rank).
    pub fn of_factor(factor: &ThinFactor, shares: &[f64]) -> Self {
        let Some(matrix) = factor.matrix(shares.len()) else { return FactorRows::default() };
        let scaled = |column: ndarray::ArrayView1<'_, f64>| {
            column.iter().zip(shares).map(|(f, p)| f * p.sqrt()).collect::<Vec<f64>>()
        };
        FactorRows::of_columns(matrix.columns().into_iter().map(scaled))
    }

    /// <K̄_k, K̄> of each column, the sums of each in an order of its own. Cost O(m·rank) each.
    pub fn products(&self, level: Level, columns: &[&LevelColumn], products: &mut [f64]) {
        products.fill(0.0);
        for strip in &self.0 {
            match strip {
                Strip::One(rows) => pass(level, rows, columns, products),
                Strip::Two(rows) => pass(level, rows, columns, products),
                Strip::Three(rows) => pass(level, rows, columns, products),
            }
        }
    }
}

impl Strip {
    fn new(columns: &[Vec<f64>]) -> Self {
        match columns.len().div_ceil(Wide::WIDTH) {
            1 => Strip::One(by_rows(columns)),
            2 => Strip::Two(by_rows(columns)),
            _ => Strip::Three(by_rows(columns)),
        }
    }
}

fn by_rows<const N: usize>(columns: &[Vec<f64>]) -> Vec<[Chunk; N]> {
    let mut rows = vec![[[0.0; Wide::WIDTH]; N]; columns[0].len()];
    for (k, column) in columns.iter().enumerate() {
        let (chunk, lane) = (k / Wide::WIDTH, k % Wide::WIDTH);
        rows.iter_mut().zip(column).for_each(|(row, v)| row[chunk][lane] = *v);
    }
    rows
}

/// Adds ‖F_kᵀZ_kᵀP‖² of each column for a strip of P.
fn pass<const N: usize>(level: Level, rows: &[[Chunk; N]], columns: &[&LevelColumn], products: &mut [f64]) {
    let mut sums = vec![[[[0.0; Wide::WIDTH]; N]; MOST + 1]; columns.len().min(TOGETHER)];
    for (columns, products) in columns.chunks(TOGETHER).zip(products.chunks_mut(TOGETHER)) {
        sums.iter_mut().for_each(|sums| sums.fill([[0.0; Wide::WIDTH]; N]));
        for (tile, rows) in rows.chunks(ROWS).enumerate() {
            let at = tile * ROWS..tile * ROWS + rows.len();
            for (column, sums) in columns.iter().zip(&mut sums) {
                let places = &column.places[at.clone()];
                match column.weights.get(at.clone()) {
                    Some(weights) => level.run(Scatter { rows, places, weights, sums }),
                    None => level.run(ScatterExact { rows, places, sums }),
                }
            }
        }
        for ((column, sums), product) in columns.iter().zip(&sums).zip(products) {
            *product += level.run(Squares { column, sums });
        }
    }
}

type Sums<const N: usize> = [[Chunk; N]; MOST + 1];

/// Adds every row to its two levels.
struct Scatter<'k, const N: usize> {
    rows: &'k [[Chunk; N]],
    places: &'k [u8],
    weights: &'k [u8],
    sums: &'k mut Sums<N>,
}

impl<const N: usize> WithSimd for Scatter<'_, N> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Scatter { rows, places, weights, sums } = self;
        for ((row, &place), &weight) in rows.iter().zip(places).zip(weights) {
            let (place, weight) = (usize::from(place), Eight::splat(simd, f64::from(weight) * (1.0 / WHOLE)));
            for (k, chunk) in row.iter().enumerate() {
                let row = Eight::load(simd, chunk);
                let next = weight * row;
                (Eight::load(simd, &sums[place][k]) + (row - next)).store(&mut sums[place][k]);
                (Eight::load(simd, &sums[place + 1][k]) + next).store(&mut sums[place + 1][k]);
            }
        }
    }
}

/// Adds every row to its level.
struct ScatterExact<'k, const N: usize> {
    rows: &'k [[Chunk; N]],
    places: &'k [u8],
    sums: &'k mut Sums<N>,
}

impl<const N: usize> WithSimd for ScatterExact<'_, N> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ScatterExact { rows, places, sums } = self;
        for (row, &place) in rows.iter().zip(places) {
            let sums = &mut sums[usize::from(place)];
            for (sum, chunk) in sums.iter_mut().zip(row) {
                (Eight::load(simd, sum) + Eight::load(simd, chunk)).store(sum);
            }
        }
    }
}

/// ‖FᵀT‖² for the sums T of the levels.
struct Squares<'k, const N: usize> {
    column: &'k LevelColumn,
    sums: &'k Sums<N>,
}

/// Columns of F that are multiplied together.
const SIDE: usize = 4;

impl<const N: usize> WithSimd for Squares<'_, N> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Squares { column: LevelColumn { grid, .. }, sums } = self;
        let mut total = Eight::splat(simd, 0.0);
        for first in (0..grid.rank).step_by(SIDE) {
            let mut products = [[Eight::splat(simd, 0.0); N]; SIDE];
            let columns = SIDE.min(grid.rank - first);
            for (factor, sums) in grid.factor.chunks_exact(grid.rank).zip(sums) {
                let mut entries = [0.0; SIDE];
                entries[..columns].copy_from_slice(&factor[first..first + columns]);
                for (products, entry) in products.iter_mut().zip(entries) {
                    let entry = Eight::splat(simd, entry);
                    for (product, sum) in products.iter_mut().zip(sums) {
                        *product = *product + entry * Eight::load(simd, sum);
                    }
                }
            }
            products.iter().flatten().for_each(|product| total = total + *product * *product);
        }
        total.wide().sum()
    }
}
