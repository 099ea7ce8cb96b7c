//! Moments of which no rows of A_t and A_v are made but those of columns that are selected, by a pass over the columns for
//! each; of columns that are 0 nearly everywhere, over the entries that they store.
//!
//! Such a column is fill + (x − fill), of which the second is 0 in most rows. About its mean over all rows, where products are
//! taken, neither part is much larger than the column itself, as long as the entries have at most half of the weight.

use super::FoldedRows;
use super::centering::{Centering, ProductLayout};
use super::products::{FoldSums, shifted_columns};
use super::training::Totals;
use crate::Column;
use crate::folds::FoldBlocks;
use rayon::prelude::*;
use std::sync::OnceLock;

/// Which columns are summed up by their entries, and which rows are summed up together.
#[derive(Debug)]
pub(super) struct GroupedEntries {
    /// By place.
    shifts: Vec<f64>,
    are_few: Vec<bool>,
    /// Of each row: a class of a fold, or of a block of rows that folds are made of.
    groups: Vec<u32>,
    /// Rows and weight of each group.
    sizes: Vec<usize>,
    weights: Vec<f64>,
    classes: usize,
}

/// The sums of one column.
struct ColumnSums {
    /// With each vector, then with itself: vectors × groups.
    products: Vec<f64>,
    /// Of each group.
    ranges: Vec<(f64, f64)>,
}

/// No entries.
const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

impl GroupedEntries {
    /// Cost O(entries).
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
        let are_few = columns.par_iter().map(is_few).collect();
        let shifts = columns.iter().map(|(_, shift)| *shift).collect();
        GroupedEntries { shifts, are_few, groups, sizes, weights, classes }
    }

    /// Products of columns, targets and the ones-vector without those of columns with each other, of every class in every fold or
    /// block, and their side. Cost O(entries · outputs).
    pub fn sums(&self, rows: &FoldedRows<'_>, features: &[usize]) -> (Vec<Vec<FoldSums>>, usize) {
        let (data, n) = (&rows.data, features.len());
        let ones = data.ones();
        let vectors: Vec<&[f64]> = (0..data.outputs()).map(|o| data.centered(o)).chain([&ones[..]]).collect();
        let weighed = |v: &[f64]| v.iter().zip(&ones).map(|(v, root)| v * root).collect::<Vec<f64>>();
        let scaled: Vec<Vec<f64>> = vectors.iter().map(|v| weighed(v)).collect();
        let with_sums: Vec<(&[f64], Vec<f64>)> = scaled.iter().map(|z| (&z[..], self.by_group(z))).collect();
        let weight = &scaled[scaled.len() - 1];
        let of_column = |place: usize| self.column(data.column(features[place]).0, place, &with_sums, weight);
        let columns: Vec<ColumnSums> = (0..n).into_par_iter().map(of_column).collect();
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
                let of_group = || column.products.iter().skip(group).step_by(count);
                (0..vectors.len()).zip(of_group()).for_each(|(v, sum)| products[layout.at(n + v, place)] = *sum);
                products[layout.at(place, place)] = column.products[vectors.len() * count + group];
            }
            let pairs = (0..vectors.len()).flat_map(|v| (0..=v).map(move |u| (v, u)));
            pairs.zip(&of_vectors).for_each(|((v, u), sums)| products[layout.at(n + v, n + u)] = sums[group]);
            FoldSums { products, range }
        };
        let all: Vec<FoldSums> = (0..count).into_par_iter().map(group).collect();
        (all.chunks(self.classes).map(<[FoldSums]>::to_vec).collect(), layout.side)
    }

    fn by_group(&self, z: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.sizes.len()];
        self.groups.iter().zip(z).for_each(|(&group, z)| sums[group as usize] += z);
        sums
    }

    /// Σ_j (x_j − shift)·z_j of every group, of a column at a place; `of_z` are the sums of z. Cost O(entries).
    fn products(&self, x: Column<'_>, place: usize, (z, of_z): (&[f64], &[f64]), out: &mut [f64]) {
        let shift = self.shifts[place];
        match x {
            Column::Sparse(x) if self.are_few[place] => {
                let fill = x.fill();
                x.for_each(|row, value| out[self.groups[row] as usize] += (value - fill) * z[row]);
                out.iter_mut().zip(of_z).for_each(|(sum, z)| *sum += (fill - shift) * z);
            }
            x => sum_by_group(x, &self.groups, out, |row, x| (x - shift) * z[row]),
        }
    }

    fn column(&self, x: Column<'_>, place: usize, vectors: &[(&[f64], Vec<f64>)], weight: &[f64]) -> ColumnSums {
        let (count, shift) = (self.sizes.len(), self.shifts[place]);
        let mut products = vec![0.0; (vectors.len() + 1) * count];
        let mut parts = products.chunks_mut(count);
        vectors.iter().zip(&mut parts).for_each(|((z, of_z), out)| self.products(x, place, (z, of_z), out));
        let (squares, mut ranges) = (parts.next().unwrap_or_default(), vec![NOTHING; count]);
        let (mut counted, mut own) = (vec![0.0; count], vec![0; count]);
        let mut add = |row: usize, value: f64| {
            let group = self.groups[row] as usize;
            squares[group] += weight[row] * (value - shift).powi(2);
            counted[group] += weight[row];
            own[group] += 1;
            ranges[group] = (ranges[group].0.min(value), ranges[group].1.max(value));
        };
        match x {
            Column::Sparse(x) if self.are_few[place] => {
                x.for_each(&mut add);
                let rest = (x.fill() - shift).powi(2);
                for group in (0..count).filter(|&group| own[group] < self.sizes[group]) {
                    squares[group] += (self.weights[group] - counted[group]).max(0.0) * rest;
                    ranges[group] = (ranges[group].0.min(x.fill()), ranges[group].1.max(x.fill()));
                }
            }
            x => {
                sum_by_group(x, &self.groups, squares, |row, x| weight[row] * (x - shift).powi(2));
                each_tile(x, |start, values| {
                    for (value, &group) in values.iter().zip(&self.groups[start..]) {
                        let range = &mut ranges[group as usize];
                        *range = (range.0.min(*value), range.1.max(*value));
                    }
                });
            }
        }
        ColumnSums { products, ranges }
    }
}

/// Rows whose numbers are read at a time.
const TILE: usize = 1 << 12;
/// Sums of a group that are added up side by side, so that none waits for the last row of its group.
const TOGETHER: usize = 4;

/// Gives the numbers of a column some rows at a time, with the first of these.
fn each_tile(x: Column<'_>, mut then: impl FnMut(usize, &[f64])) {
    for start in (0..x.len()).step_by(TILE) {
        then(start, &x.rows(start, x.len().min(start + TILE)).values());
    }
}

/// Adds what each row's number gives to the sum of the row's group.
fn sum_by_group(x: Column<'_>, groups: &[u32], out: &mut [f64], of_row: impl Fn(usize, f64) -> f64) {
    let mut sums = vec![[0.0; TOGETHER]; out.len()];
    each_tile(x, |start, values| {
        for (row, (value, &group)) in (start..).zip(values.iter().zip(&groups[start..])) {
            sums[group as usize][row % TOGETHER] += of_row(row, *value);
        }
    });
    out.iter_mut().zip(&sums).for_each(|(out, [a, b, c, d])| *out += (a + b) + (c + d));
}

/// Rows of A_t and A_v, made when they are asked for.
#[derive(Debug)]
pub(super) struct MomentRows {
    entries: GroupedEntries,
    /// Of each fold.
    centering: Vec<Centering>,
    stride: usize,
    /// By place: of each fold the row of A_t, then that of A_v.
    made: Vec<OnceLock<Vec<f64>>>,
    /// In place of a row that was never asked for: no numbers.
    unknown: Vec<f64>,
}

impl MomentRows {
    pub fn new(entries: GroupedEntries, centering: Vec<Centering>, stride: usize) -> Self {
        let made = entries.shifts.iter().map(|_| OnceLock::new()).collect();
        MomentRows { entries, centering, stride, made, unknown: vec![f64::NAN; stride] }
    }

    /// Those of the column at a place.
    pub fn rows(&self, fold: usize, place: usize) -> [&[f64]; 2] {
        let Some(made) = self.made[place].get() else { return [&self.unknown; 2] };
        let (training, held_out) = made[2 * fold * self.stride..][..2 * self.stride].split_at(self.stride);
        [training, held_out]
    }

    /// Makes those of the column at a place. Cost O(entries + K·n).
    pub fn read(&self, rows: &FoldedRows<'_>, features: &[usize], place: usize) {
        if self.made[place].get().is_none() {
            // Not while it is locked: a thread that waits for its share may take up a walk that asks for the same.
            let made = self.made(rows, features, place);
            // Another walk may have been faster, with the same bits.
            let _ = self.made[place].set(made);
        }
    }

    fn made(&self, rows: &FoldedRows<'_>, features: &[usize], place: usize) -> Vec<f64> {
        let (data, entries) = (&rows.data, &self.entries);
        let (n, count) = (features.len(), entries.sizes.len());
        let mut z = data.column(features[place]).0.values().into_owned();
        z.iter_mut().enumerate().for_each(|(row, z)| *z = (*z - entries.shifts[place]) * rows.targets().weight(row));
        let of_z = entries.by_group(&z);
        let mut products = vec![0.0; n * count];
        products.par_chunks_mut(count).enumerate().with_min_len(AT_LEAST).for_each(|(other, out)| {
            entries.products(data.column(features[other]).0, other, (&z, &of_z), out);
        });
        // Behind the products stands the weight, by which classes count alike.
        let group = |group: usize| FoldSums {
            products: match entries.sizes[group] {
                0 => Vec::new(),
                _ => products.iter().skip(group).step_by(count).copied().chain([entries.weights[group]]).collect(),
            },
            range: Vec::new(),
        };
        let all: Vec<FoldSums> = (0..count).into_par_iter().map(group).collect();
        let sums: Vec<Vec<FoldSums>> = all.chunks(entries.classes).map(<[FoldSums]>::to_vec).collect();
        let shares = rows.scored.as_ref().map(|(_, shares)| &shares[..]);
        let totals = Totals::new(&sums, n + 1, rows.classes.as_ref().map(|_| n), shares);
        let blocks: Option<&FoldBlocks> = rows.folds.blocks();
        let mut out = vec![0.0; 2 * self.centering.len() * self.stride];
        out.par_chunks_mut(2 * self.stride).zip(&self.centering).enumerate().for_each(|(fold, (out, centering))| {
            let (split, (training, held_out)) = (totals.of_fold(&sums, blocks, fold), out.split_at_mut(self.stride));
            for other in 0..n {
                (training[other], held_out[other]) =
                    centering.columns(place, other, split.training[other], split.held_out[other]);
            }
        });
        out
    }
}

/// Columns that a thread takes at a time, at least.
const AT_LEAST: usize = 32;
