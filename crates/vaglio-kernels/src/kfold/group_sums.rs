//! Products of all columns, targets and the ones-vector, by fold and class, in one read of the rows.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::FoldedRows;
use super::gram::{SIDE, add_gram};
use crate::f64x8::{F64x8, ToF64};
use crate::folds::combine_others;
use crate::parallel;
use crate::row_groups::{EMPTY_RANGE, ValueRange, joint_range};
use crate::sums::{axpy, product};
use crate::{Column, Folds, vectorize};
use vaglio_columns::gather;

/// Eights of rows per tile: odd, so that columns map to different cache sets.
const TILE: usize = 63;
/// Rows per chunk, whose products are summed before those of other chunks are added.
const CHUNK: usize = 64 * F64x8::WIDTH * TILE;

/// Sums over groups of rows: folds, blocks that folds are unions of, or cells that folds of several row sets are unions
/// of. Memory 8·n² bytes per group.
///
/// Products are those of columns, masks of missing cells, targets and the ones-vector, in this order. Rows are scaled
/// by √r_j, columns shifted.
#[derive(Debug)]
pub struct GroupSums {
    /// The columns.
    pub(super) features: Vec<usize>,
    /// Products for each class in each group, in the order of [`GroupSums::at`]; empty without rows. Without balancing,
    /// all rows are one class.
    pub(super) products: Vec<Vec<Vec<f64>>>,
    /// Least and greatest entry of each column in each group, without missing cells.
    pub(super) ranges: Vec<Vec<ValueRange>>,
    /// Number of columns, masks, targets and the ones-vector, rounded up.
    pub(super) side: usize,
    /// Whether products of two columns are included: the lower triangle, side × side.
    pub(super) is_whole: bool,
}

impl GroupSums {
    /// Index of the product of i with j ≤ i. Without products of two columns, a column i has j = i only, and the squares
    /// come last.
    pub(super) fn at(&self, i: usize, j: usize) -> usize {
        let columns = self.features.len();
        match (self.is_whole, i.checked_sub(columns)) {
            (true, _) => i * self.side + j,
            (false, Some(row)) => row * self.side + j,
            (false, None) => (self.side - columns) * self.side + i,
        }
    }

    /// Number of products.
    pub(super) fn len(&self) -> usize {
        let columns = self.features.len();
        if self.is_whole { self.side * self.side } else { (self.side - columns) * self.side + columns }
    }

    /// Sums the rows of each fold, or of each block if folds have training rows of their own. Cost O(m·n²).
    pub fn new(rows: &FoldedRows<'_>) -> Self {
        GroupSums::from_columns(rows, rows.data.candidates.clone())
    }

    /// Like [`GroupSums::new`], but for some columns.
    ///
    /// The rows of a class in a fold are summed in chunks that depend on their number alone, in order; without rows
    /// there are no products. Cost O(m·n²).
    pub(super) fn from_columns(rows: &FoldedRows<'_>, features: Vec<usize>) -> Self {
        let columns = &features[..];
        let masks = columns.iter().filter(|&&column| rows.missing_cells(column).is_some()).count();
        let side = (columns.len() + masks + rows.data.outputs() + 1).next_multiple_of(SIDE);
        let reader = ProductInputs::new(rows, columns, side);
        let (row_groups, classes) = rows.groups();
        let (groups, count) = (Folds::new(&row_groups), rows.blocks().count());
        let chunks = |group| groups.held_out(group).chunks(CHUNK).map(move |rows| (group, rows));
        let chunks: Vec<(usize, &[usize])> = (0..groups.count()).flat_map(chunks).collect();
        let chunk_sums = parallel::map_slice(&chunks, |(_, members)| reader.sums(members));
        let mut products = vec![vec![Vec::new(); classes]; count];
        let mut ranges = vec![vec![EMPTY_RANGE; columns.len()]; count];
        for ((group, _), (sums, range)) in chunks.iter().zip(chunk_sums) {
            add(&mut products[group / classes][group % classes], &sums);
            widen(&mut ranges[group / classes], &range);
        }
        GroupSums { features, products, ranges, side, is_whole: true }
    }

    /// Bytes of cells with rows of the given number of classes each.
    pub fn bytes(cells: usize, classes: usize, columns: usize, outputs: usize) -> usize {
        cells * classes * (columns + outputs + 1).next_multiple_of(SIDE).pow(2) * size_of::<f64>()
    }

    /// Sums of each fold, with `columns[k]` as column k; `folds` is the fold of each cell, if it has one.
    pub(super) fn fold_sums(
        &self,
        rows: &FoldedRows<'_>,
        columns: &[usize],
        folds: &[Option<usize>],
    ) -> Option<GroupSums> {
        let (cells, outputs) = (&self.products, rows.data.outputs());
        let places = columns.iter().map(|column| self.features.binary_search(column).ok());
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        let count = self.features.len();
        let mut products = vec![vec![Vec::new(); cells.first().map_or(0, Vec::len)]; rows.folds.count()];
        let mut ranges = vec![vec![EMPTY_RANGE; count]; rows.folds.count()];
        for ((cell, range), &fold) in cells.iter().zip(&self.ranges).zip(folds) {
            let Some(fold) = fold else { continue };
            products[fold].iter_mut().zip(cell).for_each(|(sum, own)| add(sum, own));
            widen(&mut ranges[fold], range);
        }
        let side = (columns.len() + outputs + 1).next_multiple_of(SIDE);
        let all: Vec<usize> = places.iter().copied().chain(count..=count + outputs).collect();
        for sums in products.iter_mut().flatten().filter(|sums| !sums.is_empty()) {
            let mut picked = vec![0.0; side * side];
            for (to, (i, &from)) in picked.chunks_exact_mut(side).zip(all.iter().enumerate()) {
                for (to, &other) in to.iter_mut().zip(&all[..=i]) {
                    // Only the lower triangle is stored.
                    *to = sums[from.max(other) * self.side + from.min(other)];
                }
            }
            *sums = picked;
        }
        let ranges = ranges.iter().map(|range| gather(range, &places)).collect();
        Some(GroupSums { features: columns.to_vec(), products, ranges, side, is_whole: true })
    }

    /// Least and greatest entry of each column over the training rows of each fold. Cost O(K·n), with blocks O(K·n) for
    /// each of them.
    pub(super) fn training_ranges(&self, folds: &Folds) -> Vec<Vec<ValueRange>> {
        let none = vec![EMPTY_RANGE; self.ranges.first().map_or(0, Vec::len)];
        let with = |ranges: &Vec<ValueRange>, others: &Vec<ValueRange>| {
            let mut all = ranges.clone();
            widen(&mut all, others);
            all
        };
        let Some(blocks) = folds.blocks() else { return combine_others(&self.ranges, none, with) };
        let joint_ranges =
            |some: &Vec<usize>| some.iter().fold(none.clone(), |all, &block| with(&all, &self.ranges[block]));
        blocks.training.iter().map(joint_ranges).collect()
    }
}

/// Adds products over other rows; products over no rows are empty.
fn add(sum: &mut Vec<f64>, other: &[f64]) {
    match sum.is_empty() {
        true => sum.extend_from_slice(other),
        false => axpy(1.0, other, sum),
    }
}

/// Widens the range of each column to include its range in other rows.
fn widen(ranges: &mut [ValueRange], others: &[ValueRange]) {
    ranges.iter_mut().zip(others).for_each(|(range, other)| *range = joint_range(range, other));
}

/// Columns, targets and weights to multiply.
struct ProductInputs<'r> {
    columns: Vec<(Column<'r>, f64)>,
    /// Places of columns with missing cells, and their indicators.
    missing: Vec<(usize, Column<'r>)>,
    targets: Vec<&'r [f64]>,
    root: Option<&'r [f64]>,
    side: usize,
}

impl<'r> ProductInputs<'r> {
    fn new(rows: &'r FoldedRows<'_>, columns: &[usize], side: usize) -> Self {
        let data = &rows.data;
        ProductInputs {
            columns: shifted_columns(rows, columns),
            missing: (0..columns.len()).filter_map(|k| Some((k, rows.missing_cells(columns[k])?))).collect(),
            targets: data.centered.iter().map(Vec::as_slice).collect(),
            root: data.root(),
            side,
        }
    }

    /// Products over some rows, and the range of each column.
    fn sums(&self, rows: &[usize]) -> (Vec<f64>, Vec<ValueRange>) {
        let (mut products, mut ranges) = (vec![0.0; self.side * self.side], vec![EMPTY_RANGE; self.columns.len()]);
        let mut tile = vec![F64x8::ZERO; self.side * rows.len().div_ceil(F64x8::WIDTH).min(TILE)];
        for rows in rows.chunks(TILE * F64x8::WIDTH) {
            let height = rows.len().div_ceil(F64x8::WIDTH);
            let tile = &mut tile[..self.side * height];
            self.fill(rows, height, tile, &mut ranges);
            add_gram(tile, height, self.side, &mut products);
        }
        (products, ranges)
    }

    /// Gathers columns, targets and the ones-vector at `rows`, each padded with zeros.
    fn fill(&self, rows: &[usize], height: usize, tile: &mut [F64x8], range: &mut [ValueRange]) {
        let gathered = |x: &[f64]| gather(x, rows);
        let root = self.root.map(gathered);
        let mut parts = tile.chunks_exact_mut(height);
        let mut own = Vec::new();
        let masks = self.missing.iter().map(|&(_, mask)| (mask, 0.0));
        for ((column, shift), to) in self.columns.iter().copied().chain(masks).zip(&mut parts) {
            own.push(match column {
                Column::Double(x) => load(x, rows, shift, to),
                Column::Single(x) => load(x, rows, shift, to),
                Column::Byte(x) => load(x, rows, shift, to),
                Column::Sparse(_) | Column::Product(_) => shift_values(&column.gather(rows), shift, to),
            });
            if let Some(root) = &root {
                multiply(root, to);
            }
        }
        for &(place, mask) in &self.missing {
            let others = rows.iter().filter(|&&row| mask.get(row) == 0.0).map(|&row| self.columns[place].0.get(row));
            own[place] = others.fold(EMPTY_RANGE, |range, x| joint_range(&range, &(x, x)));
        }
        widen(range, &own);
        for (target, to) in self.targets.iter().zip(&mut parts) {
            load(target, rows, 0.0, to);
        }
        if let Some(to) = parts.next() {
            let ones = root.unwrap_or_else(|| vec![1.0; rows.len()]);
            shift_values(&ones, 0.0, to);
        }
        parts.for_each(|to| to.fill(F64x8::ZERO));
    }
}

/// Columns with the shifts that preserve digits in centering.
pub(super) fn shifted_columns<'r>(rows: &'r FoldedRows<'_>, columns: &[usize]) -> Vec<(Column<'r>, f64)> {
    let data = &rows.data;
    // Columns without a shift get their weighted mean over all rows.
    let weights = (rows.standardize && !rows.intercept).then(|| data.targets.weights());
    let total: f64 = weights.iter().flatten().sum();
    let with_shift = |&feature: &usize| -> (Column<'r>, f64) {
        let (column, shift) = data.column(feature);
        (column, weights.as_ref().map_or(shift, |weights| product(column, 0.0, weights) / total))
    };
    parallel::map_slice(columns, with_shift)
}

/// Value in the missing cells of each column that has some, shifted as in the products, by place.
pub(super) fn fills(rows: &FoldedRows<'_>) -> Vec<(usize, f64)> {
    let reader = ProductInputs::new(rows, &rows.data.candidates, 0);
    let fill = |&(place, mask): &(usize, Column<'_>)| {
        let (column, shift) = reader.columns[place];
        let first = (0..mask.len()).find(|&row| mask.get(row) != 0.0);
        (place, first.map_or(0.0, |row| column.get(row) - shift))
    };
    reader.missing.iter().map(fill).collect()
}

/// to ← x − shift at the given rows, padded with zeros; returns the range of x.
fn load<E: ToF64>(x: &[E], rows: &[usize], shift: f64, to: &mut [F64x8]) -> ValueRange {
    match (rows.first(), rows.last()) {
        (Some(&first), Some(&last)) if last - first + 1 == rows.len() => shift_values(&x[first..=last], shift, to),
        _ => shift_values(&gather(x, rows), shift, to),
    }
}

fn shift_values<E: ToF64>(x: &[E], shift: f64, to: &mut [F64x8]) -> ValueRange {
    vectorize!(move || {
        // The greatest entry is the least of the negatives.
        let (mut least, mut greatest) = (F64x8::INFINITY, F64x8::INFINITY);
        let by = F64x8::splat(shift);
        let (x, rest) = x.as_chunks();
        for (x, to) in x.iter().zip(to.iter_mut()) {
            let x = F64x8::load(x);
            least = x.min(least);
            greatest = (F64x8::ZERO - x).min(greatest);
            *to = x - by;
        }
        if let Some(to) = to.get_mut(x.len()) {
            least = F64x8::part(rest, f64::INFINITY).min(least);
            greatest = (F64x8::ZERO - F64x8::part(rest, f64::NEG_INFINITY)).min(greatest);
            *to = F64x8::part(rest, shift) - by;
        }
        (least.least(), -greatest.least())
    })
}

/// to ← to·by.
fn multiply(by: &[f64], to: &mut [F64x8]) {
    vectorize!(move || {
        let (by, rest) = by.as_chunks();
        by.iter().zip(to.iter_mut()).for_each(|(by, to)| *to = *to * F64x8::load(by));
        if let Some(to) = to.get_mut(by.len()) {
            *to = *to * F64x8::part(rest, 1.0);
        }
    });
}
