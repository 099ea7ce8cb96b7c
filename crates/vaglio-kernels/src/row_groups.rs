//! Products of columns with vectors, summed over groups of rows.
//!
//! A pass takes as long as reading the columns, and one instruction multiplies an entry with eight vectors. Of sparse
//! columns only stored entries are read.
//!
//! A sparse column is fill + (x − fill), where the second term is 0 in most rows. Products are taken about its mean
//! over all rows. Neither term is then much larger than the column, if the stored entries have at most half of the
//! weight.

use crate::f64x8::F64x8;
use crate::{Column, parallel, vectorize};

/// A partition of rows into groups, and the shifts of columns that are summed over them.
#[derive(Debug)]
pub(crate) struct RowGroups {
    /// Group of each row.
    pub per_row: Vec<u32>,
    /// Number of rows, and weight, of each group.
    pub sizes: Vec<usize>,
    pub weights: Vec<f64>,
    /// Shift of each column.
    pub shifts: Vec<f64>,
    /// Whether each column is summed by its stored entries.
    are_sparse: Vec<bool>,
}

/// Rows read at a time.
const TILE: usize = 1 << 12;
/// Number of partial sums of a group, so that none waits for the last row of its group.
const TOGETHER: usize = 4;

impl RowGroups {
    /// Groups rows; each has a group below `count` and a weight. Columns come with their shifts. Cost O(entries).
    pub fn new(per_row: Vec<u32>, count: usize, row_weights: &[f64], columns: &[(Column<'_>, f64)]) -> Self {
        let (mut sizes, mut weights) = (vec![0; count], vec![0.0; count]);
        for (&group, weight) in per_row.iter().zip(row_weights) {
            sizes[group as usize] += 1;
            weights[group as usize] += weight;
        }
        let total: f64 = weights.iter().sum();
        let is_sparse = |(x, _): &(Column<'_>, f64)| {
            let Column::Sparse(x) = x else { return false };
            let mut stored = 0.0;
            x.for_each(|row, _| stored += row_weights[row]);
            2.0 * stored <= total
        };
        let are_sparse = parallel::map_slice(columns, is_sparse);
        RowGroups { per_row, sizes, weights, shifts: columns.iter().map(|(_, shift)| *shift).collect(), are_sparse }
    }

    /// The entries of column `place` less its shift.
    pub fn shift(&self, x: Column<'_>, place: usize) -> Vec<f64> {
        let mut out = x.values().into_owned();
        out.iter_mut().for_each(|x| *x -= self.shifts[place]);
        out
    }

    /// Lays out up to eight vectors for [`RowGroups::products`]: by row, then their sums by group.
    pub fn vectors(&self, vectors: &[Vec<f64>]) -> [Vec<F64x8>; 2] {
        let mut per_group = vec![F64x8::ZERO; self.sizes.len()];
        let per_row: Vec<F64x8> = (0..self.per_row.len())
            .map(|row| F64x8::load(&std::array::from_fn(|lane| vectors.get(lane).map_or(0.0, |vector| vector[row]))))
            .collect();
        for (&group, per_row) in self.per_row.iter().zip(&per_row) {
            per_group[group as usize] = per_group[group as usize] + *per_row;
        }
        [per_row, per_group]
    }

    /// Σ_j z_j of every group.
    pub fn sums(&self, z: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.sizes.len()];
        self.per_row.iter().zip(z).for_each(|(&group, z)| sums[group as usize] += z);
        sums
    }

    /// Σ_j (x_j − shift)·z_j of every group, for column `place` and eight vectors z of [`RowGroups::vectors`]. Cost
    /// O(entries).
    pub fn products(&self, x: Column<'_>, place: usize, [z, z_sums]: &[Vec<F64x8>; 2]) -> Vec<F64x8> {
        let shift = self.shifts[place];
        match x {
            Column::Sparse(x) if self.are_sparse[place] => {
                let (fill, mut out) = (x.fill(), vec![F64x8::ZERO; self.sizes.len()]);
                x.for_each(|row, value| {
                    let sum = &mut out[self.per_row[row] as usize];
                    *sum = *sum + F64x8::splat(value - fill) * z[row];
                });
                let rest = F64x8::splat(fill - shift);
                out.iter_mut().zip(z_sums).for_each(|(sum, z)| *sum = *sum + rest * *z);
                out
            }
            x => {
                let mut sums = vec![[F64x8::ZERO; TOGETHER]; self.sizes.len()];
                each_tile(x, |start, values| {
                    let (groups, z) = (&self.per_row[start..], &z[start..]);
                    vectorize!(|| add_tile(values, shift, groups, z, &mut sums));
                });
                sums.into_iter().map(|[a, b, c, d]| (a + b) + (c + d)).collect()
            }
        }
    }

    /// Σ_j r_j·(x_j − shift)² of every group, for column `place` and the weights r of the rows. Cost O(entries).
    pub fn squares(&self, x: Column<'_>, place: usize, row_weights: &[f64]) -> Vec<f64> {
        let shift = self.shifts[place];
        match x {
            Column::Sparse(x) if self.are_sparse[place] => {
                let (mut squares, mut counted) = (vec![0.0; self.sizes.len()], vec![0.0; self.sizes.len()]);
                x.for_each(|row, value| {
                    let group = self.per_row[row] as usize;
                    squares[group] += row_weights[row] * (value - shift).powi(2);
                    counted[group] += row_weights[row];
                });
                let rest = (x.fill() - shift).powi(2);
                let left = self.weights.iter().zip(counted).map(|(all, counted)| (all - counted).max(0.0));
                squares.iter_mut().zip(left).for_each(|(sum, left)| *sum += left * rest);
                squares
            }
            x => {
                let mut sums = vec![[0.0; TOGETHER]; self.sizes.len()];
                each_tile(x, |start, values| {
                    let rows = values.iter().zip(&self.per_row[start..]).zip(&row_weights[start..]);
                    for (row, ((value, &group), weight)) in rows.enumerate() {
                        sums[group as usize][row % TOGETHER] += weight * (value - shift).powi(2);
                    }
                });
                sums.into_iter().map(|[a, b, c, d]| (a + b) + (c + d)).collect()
            }
        }
    }
}

/// Passes the values of a column tile by tile, with the index of the first row.
fn each_tile(x: Column<'_>, mut then: impl FnMut(usize, &[f64])) {
    for start in (0..x.len()).step_by(TILE) {
        then(start, &x.rows(start, x.len().min(start + TILE)).values());
    }
}

/// Adds (x − shift)·z of some rows to the sums of their groups; the first row is a multiple of [`TOGETHER`].
#[inline(always)]
fn add_tile(values: &[f64], shift: f64, groups: &[u32], z: &[F64x8], sums: &mut [[F64x8; TOGETHER]]) {
    for (row, ((value, &group), z)) in values.iter().zip(groups).zip(z).enumerate() {
        let sum = &mut sums[group as usize][row % TOGETHER];
        *sum = *sum + F64x8::splat(value - shift) * *z;
    }
}
