//! Products of all columns, targets and the ones-vector, by fold and class, in one read of the rows.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::FoldedRows;
use crate::f64x8::F64x8;
use crate::parallel;
use crate::sums::{axpy, product};
use crate::{Column, Folds, checkpoint, vectorize};
use vaglio_columns::gather;

/// Eights of rows per tile: odd, so that columns map to different cache sets.
const TILE: usize = 63;
/// Columns per block, in both directions.
pub(super) const SIDE: usize = 4;
/// Columns per panel, in both directions: a panel stays in the second-level cache.
const PANEL: usize = 32;
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
    /// Products over all rows of each class.
    pub(super) totals: Vec<Vec<f64>>,
    /// Index of the weight of the rows, the product of the ones-vector with itself.
    pub(super) weight: usize,
    /// Number of columns, masks, targets and the ones-vector, rounded up.
    pub(super) side: usize,
    /// Whether products of two columns are included: the lower triangle, side × side.
    pub(super) is_whole: bool,
}

impl GroupSums {
    /// Sums without products yet, of columns and then `others` vectors, the ones-vector last.
    pub(super) fn empty(features: Vec<usize>, others: usize, is_whole: bool) -> Self {
        let (count, products) = (features.len() + others, Vec::new());
        let side = if is_whole { count.next_multiple_of(SIDE) } else { count };
        let sums = GroupSums { features, products, totals: Vec::new(), weight: 0, side, is_whole };
        GroupSums { weight: sums.at(count - 1, count - 1), ..sums }
    }

    /// Sets the products, and adds them up by class.
    pub(super) fn with_products(self, products: Vec<Vec<Vec<f64>>>) -> Self {
        let size = products.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let mut totals = vec![vec![0.0; size]; products.first().map_or(1, Vec::len)];
        for group in &products {
            totals.iter_mut().zip(group).for_each(|(total, own)| axpy(1.0, own, total));
        }
        GroupSums { products, totals, ..self }
    }

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
        let (columns, masks) = (shifted_columns(rows, &features), masks(rows, &features));
        let empty = GroupSums::empty(features, masks.len() + rows.data.outputs() + 1, true);
        let (row_groups, classes) = rows.groups();
        let (groups, count) = (Folds::new(&row_groups), rows.blocks().count());
        let chunks = |group| groups.held_out(group).chunks(CHUNK).map(move |rows| (group, rows));
        let chunks: Vec<(usize, &[usize])> = (0..groups.count()).flat_map(chunks).collect();
        let chunk_sums = parallel::map_slice(&chunks, |(_, members)| sums(rows, &columns, &masks, empty.side, members));
        let mut products = vec![vec![Vec::new(); classes]; count];
        for ((group, _), sums) in chunks.iter().zip(chunk_sums) {
            add(&mut products[group / classes][group % classes], &sums);
        }
        empty.with_products(products)
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
        for (cell, &fold) in cells.iter().zip(folds) {
            let Some(fold) = fold else { continue };
            products[fold].iter_mut().zip(cell).for_each(|(sum, own)| add(sum, own));
        }
        let empty = GroupSums::empty(columns.to_vec(), outputs + 1, true);
        let side = empty.side;
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
        Some(empty.with_products(products))
    }
}

/// Adds products over other rows; products over no rows are empty.
fn add(sum: &mut Vec<f64>, other: &[f64]) {
    match sum.is_empty() {
        true => sum.extend_from_slice(other),
        false => axpy(1.0, other, sum),
    }
}

/// Products over the rows `members` of one group.
fn sums(
    rows: &FoldedRows<'_>,
    columns: &[(Column<'_>, f64)],
    masks: &[(usize, Column<'_>)],
    side: usize,
    members: &[usize],
) -> Vec<f64> {
    let mut products = vec![0.0; side * side];
    let mut tile = vec![F64x8::ZERO; side * members.len().div_ceil(F64x8::WIDTH).min(TILE)];
    for members in members.chunks(TILE * F64x8::WIDTH) {
        let height = members.len().div_ceil(F64x8::WIDTH);
        let tile = &mut tile[..side * height];
        fill(rows, columns, masks, members, tile);
        add_gram(tile, height, side, &mut products);
    }
    products
}

/// Fills a tile with columns, masks, targets and the ones-vector at some rows, each padded with zeros.
fn fill(
    rows: &FoldedRows<'_>,
    columns: &[(Column<'_>, f64)],
    masks: &[(usize, Column<'_>)],
    members: &[usize],
    tile: &mut [F64x8],
) {
    let root = rows.data.root().map(|root| gather(root, members));
    let mut parts = tile.chunks_exact_mut(members.len().div_ceil(F64x8::WIDTH));
    let unshifted = masks.iter().map(|&(_, mask)| (mask, 0.0));
    for ((column, shift), to) in columns.iter().copied().chain(unshifted).zip(&mut parts) {
        match column {
            Column::Double(x) => load(x, members, shift, to),
            Column::Single(x) => load(x, members, shift, to),
            Column::Byte(x) => load(x, members, shift, to),
            Column::Sparse(_) | Column::Product(_) => shift_values(&column.gather(members), shift, to),
        }
        if let Some(root) = &root {
            multiply(root, to);
        }
    }
    for (target, to) in rows.data.centered.iter().zip(&mut parts) {
        load(target, members, 0.0, to);
    }
    if let Some(to) = parts.next() {
        let ones = root.unwrap_or_else(|| vec![1.0; members.len()]);
        shift_values(&ones, 0.0, to);
    }
    parts.for_each(|to| to.fill(F64x8::ZERO));
}

/// Places of the columns with missing cells, and the indicators of these cells.
fn masks<'d>(rows: &FoldedRows<'d>, columns: &[usize]) -> Vec<(usize, Column<'d>)> {
    (0..columns.len()).filter_map(|k| Some((k, rows.missing_cells(columns[k])?))).collect()
}

/// Columns with the shifts that preserve digits in centering.
pub(super) fn shifted_columns<'r>(rows: &'r FoldedRows<'_>, columns: &[usize]) -> Vec<(Column<'r>, f64)> {
    let data = &rows.data;
    // Columns without a shift get their weighted mean over all rows.
    let weights = (rows.standardize && !rows.data.has_intercept()).then(|| data.targets.weights());
    let total: f64 = weights.iter().flatten().sum();
    let with_shift = |&feature: &usize| -> (Column<'r>, f64) {
        let (column, shift) = data.column(feature);
        (column, weights.as_ref().map_or(shift, |weights| product(column, 0.0, weights) / total))
    };
    parallel::map_slice(columns, with_shift)
}

/// Value in the missing cells of each column that has some, shifted as in the products, by place.
pub(super) fn fill_values(rows: &FoldedRows<'_>) -> Vec<(usize, f64)> {
    if rows.missing.is_empty() {
        return Vec::new();
    }
    let columns = shifted_columns(rows, &rows.data.candidates);
    let fill = |(place, mask): (usize, Column<'_>)| {
        let (column, shift) = columns[place];
        let first = (0..mask.len()).find(|&row| mask.get(row) != 0.0);
        (place, first.map_or(0.0, |row| column.get(row) - shift))
    };
    masks(rows, &rows.data.candidates).into_iter().map(fill).collect()
}

/// to ← x − shift at the given rows, padded with zeros.
fn load<E: Copy + Into<f64>>(x: &[E], rows: &[usize], shift: f64, to: &mut [F64x8]) {
    match (rows.first(), rows.last()) {
        (Some(&first), Some(&last)) if last - first + 1 == rows.len() => shift_values(&x[first..=last], shift, to),
        _ => shift_values(&gather(x, rows), shift, to),
    }
}

fn shift_values<E: Copy + Into<f64>>(x: &[E], shift: f64, to: &mut [F64x8]) {
    vectorize!(move || {
        let by = F64x8::splat(shift);
        let (x, rest) = x.as_chunks();
        x.iter().zip(to.iter_mut()).for_each(|(x, to)| *to = F64x8::load(x) - by);
        if let Some(to) = to.get_mut(x.len()) {
            *to = F64x8::part(rest, shift) - by;
        }
    });
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

/// out_ij += x_iᵀx_j for the blocks of [`SIDE`] × [`SIDE`] on and below the diagonal: the one pass of O(n²m).
///
/// `tile` is columns × height, in eights of rows (columns a multiple of [`SIDE`]); `out` is columns × columns. Each sum
/// runs in 8 lanes that are added in order, so equal columns get equal bits anywhere. Cost O(height·columns²).
fn add_gram(tile: &[F64x8], height: usize, columns: usize, out: &mut [f64]) {
    vectorize!(move || {
        for i_panel in (0..columns).step_by(PANEL) {
            checkpoint();
            for j_panel in (0..=i_panel).step_by(PANEL) {
                for i in (i_panel..columns.min(i_panel + PANEL)).step_by(SIDE) {
                    for j in (j_panel..(i + 1).min(j_panel + PANEL)).step_by(SIDE) {
                        block(tile, height, columns, i, j, out);
                    }
                }
            }
        }
    });
}

#[inline(always)]
fn block(tile: &[F64x8], height: usize, columns: usize, i: usize, j: usize, out: &mut [f64]) {
    let x: [&[F64x8]; SIDE] = std::array::from_fn(|k| &tile[(i + k) * height..][..height]);
    let y: [&[F64x8]; SIDE] = std::array::from_fn(|k| &tile[(j + k) * height..][..height]);
    let mut sums = [[F64x8::ZERO; SIDE]; SIDE];
    // Zipped, so that the inner loop has no bounds checks, however the compiler inlines.
    let [[x0, x1, x2, x3], [y0, y1, y2, y3]] = [x, y];
    let rows = x0.iter().zip(x1).zip(x2).zip(x3).zip(y0).zip(y1).zip(y2).zip(y3);
    for (((((((x0, x1), x2), x3), y0), y1), y2), y3) in rows {
        let y = [*y0, *y1, *y2, *y3];
        for (x, sums) in [*x0, *x1, *x2, *x3].into_iter().zip(&mut sums) {
            for (y, sum) in y.into_iter().zip(sums) {
                *sum = x.mul_add(y, *sum);
            }
        }
    }
    // Hides the sums from the compiler: otherwise the loop below would keep them in memory in the loop above.
    let sums = std::hint::black_box(sums);
    for k in 0..SIDE {
        for l in 0..SIDE {
            out[(i + k) * columns + j + l] += sums[k][l].sum();
        }
    }
}
