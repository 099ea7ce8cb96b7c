//! Products of all columns, targets and the ones-vector, by fold and class, in one read of the rows.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::FoldedRows;
use super::gram::{SIDE, add_gram};
use crate::f64x8::{F64x8, ToF64};
use crate::parallel;
use crate::row_groups::EMPTY_RANGE;
use crate::sums::product;
use crate::{Column, Folds, Level};

/// Eights of rows per tile: odd, so that columns map to different cache sets.
const TILE: usize = 63;
/// Rows per chunk, whose products are summed before those of other chunks are added.
const CHUNK: usize = 64 * F64x8::WIDTH * TILE;

/// Products of the columns, targets and ones-vector over one fold, rows scaled by √r_j, columns shifted.
#[derive(Debug, Clone)]
pub(super) struct FoldSums {
    /// Lower triangle, side × side, or a part of it given by a layout: columns first, then masks of missing cells, then
    /// outputs, then the ones-vector.
    pub products: Vec<f64>,
    /// Least and greatest entry of each column, without missing cells.
    pub range: Vec<(f64, f64)>,
}

/// Sums over groups of rows: folds, blocks that folds are unions of, or cells.
#[derive(Debug)]
pub(super) struct GroupSums {
    /// Sums of each class in each group; without balancing, all rows are one class.
    pub groups: Vec<Vec<FoldSums>>,
    /// Side of the products.
    pub side: usize,
}

impl GroupSums {
    /// Sums the rows of each of `folds`.
    ///
    /// The rows of a class in a fold are summed in chunks that depend on their number alone, in order; without rows
    /// there are no products. Cost O(m·n²).
    pub fn new(rows: &FoldedRows<'_>, folds: &Folds, columns: &[usize]) -> Self {
        let masks = columns.iter().filter(|&&column| rows.missing.column(column).is_some()).count();
        let side = (columns.len() + masks + rows.data.outputs() + 1).next_multiple_of(SIDE);
        let reader = ProductInputs::new(rows, columns, side);
        let classes = rows.parted().map_or(1, |c| c.iter().max().map_or(1, |c| c + 1));
        let class = |row: usize| rows.parted().map_or(0, |c| c[row]);
        let members: Vec<Vec<usize>> = (0..folds.count() * classes)
            .map(|group| {
                let members = folds.held_out(group / classes).iter().copied();
                members.filter(|&row| class(row) == group % classes).collect()
            })
            .collect();
        let chunks = members.iter().enumerate();
        let chunks: Vec<(usize, &[usize])> =
            chunks.flat_map(|(group, rows)| rows.chunks(CHUNK).map(move |rows| (group, rows))).collect();
        let of_chunks = parallel::map_slice(&chunks, |(_, members)| reader.sums(members));
        let mut groups = vec![vec![FoldSums::empty(columns.len()); classes]; folds.count()];
        for ((group, _), sums) in chunks.iter().zip(of_chunks) {
            let so_far = &mut groups[group / classes][group % classes];
            if so_far.products.is_empty() { *so_far = sums } else { so_far.add(&sums) }
        }
        GroupSums { groups, side }
    }

    /// Least and greatest entry of each column over some of the groups.
    pub fn range(&self, some: impl Iterator<Item = usize>) -> Vec<(f64, f64)> {
        let columns = self.groups.first().and_then(|group| group.first()).map_or(0, |s| s.range.len());
        let mut out = vec![EMPTY_RANGE; columns];
        some.flat_map(|at| &self.groups[at]).for_each(|sums| widen(&mut out, &sums.range));
        out
    }

    /// Least and greatest entry of each column over all other groups, for each group: those before it and those after.
    /// Cost O(K·n).
    pub fn ranges(&self) -> Vec<Vec<(f64, f64)>> {
        let of_group = |group: usize| self.range(std::iter::once(group));
        let mut before = self.range(std::iter::empty());
        let mut behind = vec![before.clone(); self.groups.len()];
        for group in (1..self.groups.len()).rev() {
            behind[group - 1] = behind[group].clone();
            widen(&mut behind[group - 1], &of_group(group));
        }
        for (group, others) in behind.iter_mut().enumerate() {
            widen(others, &before);
            widen(&mut before, &of_group(group));
        }
        behind
    }
}

impl FoldSums {
    /// Sums over no rows.
    pub fn empty(columns: usize) -> Self {
        FoldSums { products: Vec::new(), range: vec![EMPTY_RANGE; columns] }
    }

    /// Adds the sums of other rows.
    pub fn add(&mut self, other: &FoldSums) {
        if self.products.is_empty() {
            self.clone_from(other);
        } else if !other.products.is_empty() {
            self.products.iter_mut().zip(&other.products).for_each(|(a, b)| *a += b);
            widen(&mut self.range, &other.range);
        }
    }
}

/// Widens the range of each column to include its range in other rows.
fn widen(ranges: &mut [(f64, f64)], others: &[(f64, f64)]) {
    for (range, other) in ranges.iter_mut().zip(others) {
        *range = (range.0.min(other.0), range.1.max(other.1));
    }
}

/// Columns, targets and weights to multiply.
struct ProductInputs<'r> {
    level: Level,
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
            level: data.level,
            columns: shifted_columns(rows, columns),
            missing: (0..columns.len()).filter_map(|k| Some((k, rows.missing.column(columns[k])?))).collect(),
            targets: (0..data.outputs()).map(|o| data.centered(o)).collect(),
            root: data.root(),
            side,
        }
    }

    fn sums(&self, rows: &[usize]) -> FoldSums {
        let mut out =
            FoldSums { products: vec![0.0; self.side * self.side], range: vec![EMPTY_RANGE; self.columns.len()] };
        let mut tile = vec![F64x8::ZERO; self.side * rows.len().div_ceil(F64x8::WIDTH).min(TILE)];
        for rows in rows.chunks(TILE * F64x8::WIDTH) {
            let height = rows.len().div_ceil(F64x8::WIDTH);
            let tile = &mut tile[..self.side * height];
            self.fill(rows, height, tile, &mut out.range);
            add_gram(self.level, tile, height, self.side, &mut out.products);
        }
        out
    }

    /// Gathers columns, targets and the ones-vector at `rows`, each padded with zeros.
    fn fill(&self, rows: &[usize], height: usize, tile: &mut [F64x8], range: &mut [(f64, f64)]) {
        let mut own = vec![EMPTY_RANGE; range.len()];
        let gathered = |x: &[f64]| rows.iter().map(|&j| x[j]).collect::<Vec<f64>>();
        let root = self.root.map(gathered);
        let mut parts = tile.chunks_exact_mut(height);
        for ((&(column, shift), range), to) in self.columns.iter().zip(&mut *own).zip(&mut parts) {
            let (least, greatest) = match column {
                Column::Double(x) => load(self.level, x, rows, shift, to),
                Column::Single(x) => load(self.level, x, rows, shift, to),
                Column::Byte(x) => load(self.level, x, rows, shift, to),
                Column::Sparse(_) | Column::Product(_) => shifted(self.level, &column.gathered(rows), shift, to),
            };
            *range = (least, greatest);
            if let Some(root) = &root {
                multiply(self.level, root, to);
            }
        }
        for &(place, mask) in &self.missing {
            let others = rows.iter().filter(|&&row| mask.get(row) == 0.0).map(|&row| self.columns[place].0.get(row));
            own[place] = others.fold(EMPTY_RANGE, |(a, b), x| (a.min(x), b.max(x)));
        }
        widen(range, &own);
        for (&(_, mask), to) in self.missing.iter().zip(&mut parts) {
            if let Column::Byte(x) = mask {
                load(self.level, x, rows, 0.0, to);
            }
            if let Some(root) = &root {
                multiply(self.level, root, to);
            }
        }
        for (target, to) in self.targets.iter().zip(&mut parts) {
            load(self.level, target, rows, 0.0, to);
        }
        if let Some(to) = parts.next() {
            let ones = root.unwrap_or_else(|| vec![1.0; rows.len()]);
            shifted(self.level, &ones, 0.0, to);
        }
        parts.for_each(|to| to.fill(F64x8::ZERO));
    }
}

/// Columns with the shifts that preserve digits in centering.
pub(super) fn shifted_columns<'r>(rows: &'r FoldedRows<'_>, columns: &[usize]) -> Vec<(Column<'r>, f64)> {
    let (data, means) = (&rows.data, (rows.standardize && !rows.intercept).then(|| ColumnMeans::new(rows)));
    let with_shift = |&feature: &usize| -> (Column<'r>, f64) {
        let (column, shift) = data.column(feature);
        (column, means.as_ref().map_or(shift, |means| means.dot(data.level, column)))
    };
    parallel::map_slice(columns, with_shift)
}

/// Value in the missing cells of each column that has some, shifted as in the products, by place.
pub(super) fn fills(rows: &FoldedRows<'_>, columns: &[usize]) -> Vec<(usize, f64)> {
    let reader = ProductInputs::new(rows, columns, 0);
    let fill = |&(place, mask): &(usize, Column<'_>)| {
        let (column, shift) = reader.columns[place];
        let first = (0..mask.len()).find(|&row| mask.get(row) != 0.0);
        (place, first.map_or(0.0, |row| column.get(row) - shift))
    };
    reader.missing.iter().map(fill).collect()
}

/// Weighted means over all rows, for columns without a shift.
struct ColumnMeans(Vec<f64>, f64);

impl ColumnMeans {
    fn new(rows: &FoldedRows<'_>) -> Self {
        let weights = match rows.data.root() {
            Some(root) => root.iter().map(|r| r * r).collect(),
            None => vec![1.0; rows.data.rows()],
        };
        let total = weights.iter().sum();
        ColumnMeans(weights, total)
    }

    fn dot(&self, level: Level, column: Column<'_>) -> f64 {
        product(level, column, 0.0, &self.0) / self.1
    }
}

/// to ← x − shift at the given rows, padded with zeros; returns the range of x.
fn load<E: ToF64>(level: Level, x: &[E], rows: &[usize], shift: f64, to: &mut [F64x8]) -> (f64, f64) {
    match (rows.first(), rows.last()) {
        (Some(&first), Some(&last)) if last - first + 1 == rows.len() => shifted(level, &x[first..=last], shift, to),
        _ => shifted(level, &rows.iter().map(|&j| x[j]).collect::<Vec<E>>(), shift, to),
    }
}

fn shifted<E: ToF64>(level: Level, x: &[E], shift: f64, to: &mut [F64x8]) -> (f64, f64) {
    level.call(
        #[inline(always)]
        move || {
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
                *to = F64x8::ZERO;
                for (l, x) in rest.iter().enumerate() {
                    let x = x.double();
                    least.update(0, |least| least.min(x));
                    greatest.update(0, |greatest| greatest.min(-x));
                    to.update(l, |_| x - shift);
                }
            }
            (least.least(), -greatest.least())
        },
    )
}

/// to ← to·by.
fn multiply(level: Level, by: &[f64], to: &mut [F64x8]) {
    level.call(
        #[inline(always)]
        move || {
            let (by, rest) = by.as_chunks();
            by.iter().zip(to.iter_mut()).for_each(|(by, to)| *to = *to * F64x8::load(by));
            if let Some(to) = to.get_mut(by.len()) {
                rest.iter().enumerate().for_each(|(l, by)| to.update(l, |to| to * by));
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_all_other_folds() {
        let fold = |k: usize| {
            let range = (0..3).map(|i| (((k * 7 + i) % 5) as f64, ((k * 3 + i) % 4) as f64 + 5.0)).collect();
            vec![FoldSums { products: Vec::new(), range }]
        };
        for count in 1..6 {
            let sums = GroupSums { groups: (0..count).map(fold).collect(), side: 0 };
            let others = |fold: usize| sums.range((0..count).filter(|&other| other != fold));
            assert_eq!(sums.ranges(), (0..count).map(others).collect::<Vec<_>>());
        }
    }
}
