//! Lazy rows of the moments A_t and A_v, computed for selected columns by passes over eight of them; of sparse columns
//! only stored entries are read.
//!
//! A pass takes as long as reading the columns, and one instruction multiplies an entry with eight columns. So a pass
//! for one column also computes likely next ones, each with the bits that it would have alone.
//!
//! A sparse column is fill + (x − fill), where the second term is 0 in most rows. Products are taken about its mean
//! over all rows. Neither term is then much larger than the column itself, as long as the stored entries have at most
//! half of the weight.

use super::FoldedRows;
use super::centering::{Centering, ProductLayout};
use super::products::{FoldSums, shifted_columns};
use super::training::ClassTotals;
use crate::f64x8::F64x8;
use crate::folds::FoldBlocks;
use crate::parallel;
use crate::{Column, Level};
use std::sync::OnceLock;

/// Columns whose rows of A_t and A_v one pass computes.
pub const ROWS_AT_ONCE: usize = F64x8::WIDTH;
/// Bytes of such rows up to which further ones are prefetched.
pub const READ_AHEAD: usize = 1 << 24;

/// Grouping of rows, and the columns to sum by their stored entries.
#[derive(Debug)]
pub(super) struct GroupedEntries {
    /// Shift of each column, by place.
    shifts: Vec<f64>,
    are_few: Vec<bool>,
    /// Group of each row: a class of a fold, or of a block of rows.
    groups: Vec<u32>,
    /// Number of rows, and weight, of each group.
    sizes: Vec<usize>,
    weights: Vec<f64>,
    classes: usize,
}

/// Sums of one column.
struct ColumnSums {
    /// Products with vectors, eight at a time, of each group.
    products: Vec<Vec<F64x8>>,
    /// Squares of each group.
    squares: Vec<f64>,
    /// Range of each group.
    ranges: Vec<(f64, f64)>,
}

/// Up to eight vectors to multiply columns with, and their sums over each group.
struct GroupedVectors {
    of_row: Vec<F64x8>,
    of_group: Vec<F64x8>,
}

impl GroupedVectors {
    fn new(entries: &GroupedEntries, vectors: &[Vec<f64>]) -> Self {
        let mut of_group = vec![F64x8::ZERO; entries.sizes.len()];
        let of_row: Vec<F64x8> = (0..entries.groups.len())
            .map(|row| F64x8::load(&std::array::from_fn(|lane| vectors.get(lane).map_or(0.0, |vector| vector[row]))))
            .collect();
        for (&group, of_row) in entries.groups.iter().zip(&of_row) {
            of_group[group as usize] = of_group[group as usize] + *of_row;
        }
        GroupedVectors { of_row, of_group }
    }
}

/// Range of no entries.
const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

impl GroupedEntries {
    /// Groups the rows. Cost O(entries).
    pub fn new(rows: &FoldedRows<'_>, features: &[usize]) -> Self {
        let folds = rows.folds.blocks().map_or(&rows.folds, |blocks| &blocks.rows);
        let classes = rows.parted().map_or(1, |c| c.iter().max().map_or(1, |c| c + 1));
        let mut groups = vec![0u32; rows.data.rows()];
        let (mut sizes, mut weights) = (vec![0; folds.count() * classes], vec![0.0; folds.count() * classes]);
        for fold in 0..folds.count() {
            for &row in folds.held_out(fold) {
                let group = fold * classes + rows.parted().map_or(0, |c| c[row]);
                groups[row] = group as u32;
                sizes[group] += 1;
                weights[group] += rows.targets().weight(row);
            }
        }
        let (columns, total) = (shifted_columns(rows, features), weights.iter().sum::<f64>());
        let is_few = |(column, _): &(Column<'_>, f64)| {
            let Column::Sparse(x) = column else { return false };
            let mut weight = 0.0;
            x.for_each(|row, _| weight += rows.targets().weight(row));
            2.0 * weight <= total
        };
        let are_few = parallel::map_slice(&columns, is_few);
        let shifts = columns.iter().map(|(_, shift)| *shift).collect();
        GroupedEntries { shifts, are_few, groups, sizes, weights, classes }
    }

    /// Products of columns with targets and the ones-vector, but not with each other, for every class in every fold or
    /// block; and their side. Cost O(entries · outputs).
    pub fn sums(&self, rows: &FoldedRows<'_>, features: &[usize]) -> (Vec<Vec<FoldSums>>, usize) {
        let (data, n) = (&rows.data, features.len());
        let ones = data.ones();
        let vectors: Vec<&[f64]> = (0..data.outputs()).map(|o| data.centered(o)).chain([&ones[..]]).collect();
        let weighed = |v: &[f64]| v.iter().zip(&ones).map(|(v, root)| v * root).collect::<Vec<f64>>();
        let scaled: Vec<Vec<f64>> = vectors.iter().map(|v| weighed(v)).collect();
        let in_eights: Vec<GroupedVectors> =
            scaled.chunks(F64x8::WIDTH).map(|some| GroupedVectors::new(self, some)).collect();
        let weight = &scaled[scaled.len() - 1];
        let of_column = |place: usize| {
            let x = data.column(features[place]).0;
            let products = in_eights.iter().map(|eight| self.products(data.level, x, place, eight)).collect();
            self.column(x, place, products, weight)
        };
        let columns: Vec<ColumnSums> = parallel::map(n, of_column);
        let layout = ProductLayout { columns: n, side: n + vectors.len(), is_whole: false };
        let of_vectors: Vec<Vec<f64>> = (0..vectors.len())
            .flat_map(|v| (0..=v).map(move |u| (v, u)))
            .map(|(v, u)| self.by_group(&vectors[v].iter().zip(vectors[u]).map(|(a, b)| a * b).collect::<Vec<f64>>()))
            .collect();
        let count = self.sizes.len();
        let group = |group: usize| {
            let range = columns.iter().map(|column| column.ranges[group]).collect();
            if self.sizes[group] == 0 {
                return FoldSums { products: Vec::new(), range };
            }
            let mut products = vec![0.0; layout.len()];
            for (place, column) in columns.iter().enumerate() {
                let of_vector = |v: usize| column.products[v / F64x8::WIDTH][group].lane(v % F64x8::WIDTH);
                (0..vectors.len()).for_each(|v| products[layout.at(n + v, place)] = of_vector(v));
                products[layout.at(place, place)] = column.squares[group];
            }
            let pairs = (0..vectors.len()).flat_map(|v| (0..=v).map(move |u| (v, u)));
            pairs.zip(&of_vectors).for_each(|((v, u), sums)| products[layout.at(n + v, n + u)] = sums[group]);
            FoldSums { products, range }
        };
        let all: Vec<FoldSums> = parallel::map(count, group);
        (all.chunks(self.classes).map(<[FoldSums]>::to_vec).collect(), layout.side)
    }

    fn by_group(&self, z: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.sizes.len()];
        self.groups.iter().zip(z).for_each(|(&group, z)| sums[group as usize] += z);
        sums
    }

    /// Σ_j (x_j − shift)·z_j of every group, for the column at a place and eight vectors z. Cost O(entries).
    fn products(&self, level: Level, x: Column<'_>, place: usize, z: &GroupedVectors) -> Vec<F64x8> {
        let shift = self.shifts[place];
        match x {
            Column::Sparse(x) if self.are_few[place] => {
                let (fill, mut out) = (x.fill(), vec![F64x8::ZERO; self.sizes.len()]);
                x.for_each(|row, value| {
                    let sum = &mut out[self.groups[row] as usize];
                    *sum = *sum + F64x8::splat(value - fill) * z.of_row[row];
                });
                let rest = F64x8::splat(fill - shift);
                out.iter_mut().zip(&z.of_group).for_each(|(sum, z)| *sum = *sum + rest * *z);
                out
            }
            x => {
                let mut sums = vec![[F64x8::ZERO; TOGETHER]; self.sizes.len()];
                each_tile(x, |start, values| {
                    let (groups, z) = (&self.groups[start..], &z.of_row[start..]);
                    level.call(
                        #[inline(always)]
                        || add_tile(values, shift, groups, z, &mut sums),
                    );
                });
                sums.into_iter().map(|[a, b, c, d]| (a + b) + (c + d)).collect()
            }
        }
    }

    fn column(&self, x: Column<'_>, place: usize, products: Vec<Vec<F64x8>>, weight: &[f64]) -> ColumnSums {
        let (count, shift) = (self.sizes.len(), self.shifts[place]);
        let mut ranges = vec![NOTHING; count];
        let mut widen = |group: usize, value: f64| {
            let range = &mut ranges[group];
            *range = (range.0.min(value), range.1.max(value));
        };
        let squares = match x {
            Column::Sparse(x) if self.are_few[place] => {
                let (mut squares, mut counted, mut own) = (vec![0.0; count], vec![0.0; count], vec![0; count]);
                x.for_each(|row, value| {
                    let group = self.groups[row] as usize;
                    squares[group] += weight[row] * (value - shift).powi(2);
                    counted[group] += weight[row];
                    own[group] += 1;
                    widen(group, value);
                });
                let rest = (x.fill() - shift).powi(2);
                for group in (0..count).filter(|&group| own[group] < self.sizes[group]) {
                    squares[group] += (self.weights[group] - counted[group]).max(0.0) * rest;
                    widen(group, x.fill());
                }
                squares
            }
            x => {
                let mut sums = vec![[0.0; TOGETHER]; count];
                each_tile(x, |start, values| {
                    for (row, (value, &group)) in (start..).zip(values.iter().zip(&self.groups[start..])) {
                        sums[group as usize][row % TOGETHER] += weight[row] * (value - shift).powi(2);
                        widen(group as usize, *value);
                    }
                });
                sums.into_iter().map(|[a, b, c, d]| (a + b) + (c + d)).collect()
            }
        };
        ColumnSums { products, squares, ranges }
    }
}

/// Rows read at a time.
const TILE: usize = 1 << 12;
/// Number of partial sums of a group, so that none waits for the last row of its group.
const TOGETHER: usize = 4;

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

/// Rows of A_t and A_v, computed on demand.
#[derive(Debug)]
pub(super) struct MomentRows {
    entries: GroupedEntries,
    /// Centering of each fold.
    centering: Vec<Centering>,
    stride: usize,
    /// By place: for each fold the row of A_t, then of A_v.
    made: Vec<OnceLock<Vec<f64>>>,
    /// NaN row, returned for a row that was never requested.
    unknown: Vec<f64>,
}

impl MomentRows {
    pub fn new(entries: GroupedEntries, centering: Vec<Centering>, stride: usize) -> Self {
        let made = entries.shifts.iter().map(|_| OnceLock::new()).collect();
        MomentRows { entries, centering, stride, made, unknown: vec![f64::NAN; stride] }
    }

    /// Rows of A_t and A_v of the column at a place.
    pub fn rows(&self, fold: usize, place: usize) -> [&[f64]; 2] {
        let Some(made) = self.made[place].get() else { return [&self.unknown; 2] };
        let (training, held_out) = made[2 * fold * self.stride..][..2 * self.stride].split_at(self.stride);
        [training, held_out]
    }

    /// Computes the rows of the columns at some places. Free lanes of the pass prefetch `likely` places while all rows
    /// take few bytes. Cost O(entries + K·n) for eight of them.
    pub fn read(&self, rows: &FoldedRows<'_>, features: &[usize], places: &[usize], likely: &[usize]) {
        let is_new = |place: &&usize| self.made[**place].get().is_none();
        let mut wanted: Vec<usize> = places.iter().filter(is_new).copied().collect();
        let lanes = wanted.len().next_multiple_of(F64x8::WIDTH) - wanted.len();
        if lanes > 0 {
            let room = READ_AHEAD / (2 * size_of::<f64>() * self.centering.len() * self.stride).max(1);
            let count = self.made.iter().filter(|made| made.get().is_some()).count();
            let free = room.saturating_sub(count + wanted.len());
            let more = likely.iter().filter(is_new).filter(|place| !places.contains(place));
            wanted.extend(more.take(lanes.min(free)));
        }
        for some in wanted.chunks(F64x8::WIDTH) {
            // Computed without a lock: a waiting thread may take up work that requests the same rows.
            let made = self.made(rows, features, some);
            for (&place, made) in some.iter().zip(made) {
                // Another thread may have been faster, with the same bits.
                let _ = self.made[place].set(made);
            }
        }
    }

    /// Computes the rows of up to eight columns.
    fn made(&self, rows: &FoldedRows<'_>, features: &[usize], places: &[usize]) -> Vec<Vec<f64>> {
        let (data, entries) = (&rows.data, &self.entries);
        let z = |&place: &usize| {
            let mut z = data.column(features[place]).0.values().into_owned();
            let weighed = |(row, z): (usize, &mut f64)| *z = (*z - entries.shifts[place]) * rows.targets().weight(row);
            z.iter_mut().enumerate().for_each(weighed);
            z
        };
        let z = GroupedVectors::new(entries, &parallel::map_slice(places, z));
        let lanes = places.len();
        // Group after group, only lanes in use.
        let product = |other: usize| -> Vec<f64> {
            let of_groups = entries.products(data.level, data.column(features[other]).0, other, &z);
            of_groups.iter().flat_map(|sums| &sums.doubles()[..lanes]).copied().collect()
        };
        let products: Vec<Vec<f64>> = parallel::map(features.len(), product);
        let row = |lane: usize| {
            self.row(rows, places[lane], products.len(), |other, group| products[other][group * lanes + lane])
        };
        parallel::map(places.len(), row)
    }

    /// Computes the row of the column at a place, from its product with each of n columns in each group.
    fn row(
        &self,
        rows: &FoldedRows<'_>,
        place: usize,
        n: usize,
        product: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Vec<f64> {
        let entries = &self.entries;
        // The weight, for balanced classes, follows the products.
        let group = |group: usize| FoldSums {
            products: match entries.sizes[group] {
                0 => Vec::new(),
                _ => (0..n).map(|other| product(other, group)).chain([entries.weights[group]]).collect(),
            },
            range: Vec::new(),
        };
        let all: Vec<FoldSums> = parallel::map(entries.sizes.len(), group);
        let sums: Vec<Vec<FoldSums>> = all.chunks(entries.classes).map(<[FoldSums]>::to_vec).collect();
        let shares = rows.scored.as_ref().map(|(_, shares)| &shares[..]);
        let totals = ClassTotals::new(&sums, n + 1, rows.classes.as_ref().map(|_| n), shares);
        let blocks: Option<&FoldBlocks> = rows.folds.blocks();
        let mut out = vec![0.0; 2 * self.centering.len() * self.stride];
        parallel::chunks_mut(&mut out, 2 * self.stride, |fold, out| {
            let (split, (training, held_out)) = (totals.fold_split(&sums, blocks, fold), out.split_at_mut(self.stride));
            for other in 0..n {
                (training[other], held_out[other]) =
                    self.centering[fold].columns(place, other, split.training[other], split.held_out[other]);
            }
        });
        out
    }
}
