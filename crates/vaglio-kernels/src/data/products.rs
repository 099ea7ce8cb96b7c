//! Products of columns with vectors.

use super::sparse_sums;
use crate::f64x8::F64x8;
use crate::parallel;
use crate::sums::{LANES, add_products, times};
use crate::{Column, Data, ProductColumn, linalg};
use ndarray::Array2;
use std::borrow::Cow;
use std::ops::Range;

impl Data<'_> {
    /// √r_j·v_j of every row, expanded to all stored rows if `is_stored`.
    pub(super) fn with_roots<'v>(&self, v: &'v [f64], is_stored: bool) -> Cow<'v, [f64]> {
        let scaled: Cow<'v, [f64]> = self.root().map_or(v.into(), |root| times(v, root).into());
        if is_stored { self.entries.spread(&scaled).into_owned().into() } else { scaled }
    }

    /// DᵀY of orthonormal directions D, rows × directions, with the centered targets Y.
    pub(crate) fn along_targets(&self, directions: &Array2<f64>) -> Array2<f64> {
        let targets = Array2::from_shape_fn((self.rows(), self.outputs()), |(row, o)| self.centered[o][row]);
        linalg::gemm(directions.t(), targets.view())
    }

    /// Products Σ_j x_ij v_k[j] of the given columns, scaled and centered, with vectors, as columns × vectors.
    ///
    /// Reads the columns once; the vectors stay in cache by tiles of rows. A column's bits do not depend on the others.
    /// Cost O(m · columns · vectors).
    pub(crate) fn products(&self, columns: &[usize], vectors: &[impl AsRef<[f64]>]) -> Vec<f64> {
        self.products_with(columns, vectors, false)
    }

    /// Like [`Data::products`], but reads a view's stored rows in place instead of copying; suits most columns. The
    /// bits differ.
    pub(crate) fn products_of_most(&self, columns: &[usize], vectors: &[impl AsRef<[f64]>]) -> Vec<f64> {
        self.products_with(columns, vectors, self.entries.view.is_some())
    }

    fn products_with(&self, columns: &[usize], vectors: &[impl AsRef<[f64]>], is_stored: bool) -> Vec<f64> {
        let vectors: Vec<Cow<'_, [f64]>> = vectors.iter().map(|v| self.with_roots(v.as_ref(), is_stored)).collect();
        let vectors: Vec<&[f64]> = vectors.iter().map(|v| &**v).collect();
        // Columns of one type go together and share the read of the vectors.
        let (mut doubles, mut singles, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut sparse, mut virtual_columns) = (Vec::new(), Vec::new());
        for (place, &column) in columns.iter().enumerate() {
            let entries = if is_stored { self.entries.stored[column] } else { self.entries.column(column) };
            match entries {
                Column::Double(x) => doubles.push((place, x, self.gram.shifts[column])),
                Column::Single(x) => singles.push((place, x, self.gram.shifts[column])),
                Column::Byte(x) => bytes.push((place, x, self.gram.shifts[column])),
                Column::Sparse(x) => sparse.push((place, x, self.gram.shifts[column])),
                Column::Product(x) => virtual_columns.push((place, x, self.gram.shifts[column])),
            }
        }
        let mut out = vec![0.0; columns.len() * vectors.len()];
        let sparse = sparse_sums::products(&sparse, &vectors);
        let dense = [
            dense_products(&vectors, &doubles),
            dense_products(&vectors, &singles),
            dense_products(&vectors, &bytes),
            virtual_products(&vectors, &virtual_columns),
        ];
        for (place, sums) in dense.into_iter().flatten().chain(sparse) {
            out[place * vectors.len()..][..vectors.len()].copy_from_slice(&sums);
        }
        out
    }
}

/// Products Σ_j x_ij v_k[j] of all given columns and vectors, as columns × vectors. Cost O(m · columns · vectors).
pub(crate) fn slice_products(columns: &[&[f64]], vectors: &[&[f64]]) -> Vec<f64> {
    let placed: Vec<PlacedColumn<&[f64]>> = columns.iter().enumerate().map(|(place, x)| (place, *x, 0.0)).collect();
    dense_products(vectors, &placed).into_iter().flat_map(|(_, sums)| sums).collect()
}

/// A column with its place in the result and its shift.
pub(super) type PlacedColumn<C> = (usize, C, f64);

/// Products of each column with every vector. If there are too few columns for all threads, the threads share the
/// vectors.
fn dense_products<E: Copy + Into<f64> + Sync>(
    vectors: &[&[f64]],
    columns: &[PlacedColumn<&[E]>],
) -> Vec<(usize, Vec<f64>)> {
    let threads = rayon::current_num_threads();
    let share = columns.len().div_ceil(threads).next_multiple_of(TOGETHER).clamp(TOGETHER, PANEL);
    let panels = columns.len().div_ceil(share).max(1);
    let some_vectors = vectors.len().div_ceil(threads.div_ceil(panels)).next_multiple_of(MOST);
    let multiply = |vectors: &[&[f64]]| -> Vec<(usize, Vec<f64>)> {
        let step = if vectors.len() <= MOST { SWEEP } else { TILE };
        parallel::flat_map_chunks(columns, share, |panel| {
            in_steps(vectors, panel, step, |columns, rows, sums| add(vectors, columns, rows, sums))
        })
    };
    if panels >= threads || some_vectors >= vectors.len() {
        return multiply(vectors);
    }
    let mut parts = parallel::map_chunks(vectors, some_vectors, multiply).into_iter();
    let mut sums = parts.next().unwrap_or_default();
    for (own, (_, more)) in parts.flat_map(|part| part.into_iter().enumerate()) {
        sums[own].1.extend(more);
    }
    sums
}

/// Like [`dense_products`], but for virtual columns, computed some rows of four columns at a time; gives the bits of
/// stored columns.
fn virtual_products(vectors: &[&[f64]], columns: &[PlacedColumn<ProductColumn<'_>>]) -> Vec<(usize, Vec<f64>)> {
    let share = columns.len().div_ceil(rayon::current_num_threads()).next_multiple_of(TOGETHER);
    parallel::flat_map_chunks(columns, share.clamp(TOGETHER, PANEL), |panel| {
        let mut entries = vec![0.0; TOGETHER * VIRTUAL];
        in_steps(vectors, panel, VIRTUAL, |columns, rows, sums| {
            let vectors: Vec<&[f64]> = vectors.iter().map(|v| &v[rows.clone()]).collect();
            for ((_, x, _), out) in columns.iter().zip(entries.chunks_mut(VIRTUAL)) {
                x.write(rows.start, &mut out[..rows.len()]);
            }
            let computed = columns.iter().zip(entries.chunks(VIRTUAL));
            let placed: Vec<PlacedColumn<&[f64]>> =
                computed.map(|((place, _, shift), x)| (*place, &x[..rows.len()], *shift)).collect();
            add(&vectors, &placed, &(0..rows.len()), sums);
        })
    })
}

/// Sums of each column's products. `add` adds those of at most four columns over some rows at a time.
///
/// Loops over rows outermost, so that column entries read for one group of vectors are in cache for the next.
fn in_steps<C>(
    vectors: &[&[f64]],
    columns: &[PlacedColumn<C>],
    step: usize,
    mut add: impl FnMut(&[PlacedColumn<C>], &Range<usize>, &mut [F64x8]),
) -> Vec<(usize, Vec<f64>)> {
    const { assert!(SWEEP.is_multiple_of(LANES) && TILE.is_multiple_of(LANES) && VIRTUAL.is_multiple_of(LANES)) };
    let (count, length) = (vectors.len(), vectors.first().map_or(0, |v| v.len()));
    let mut sums = vec![F64x8::ZERO; columns.len() * count];
    for start in (0..length).step_by(step) {
        let rows = start..length.min(start + step);
        for (columns, sums) in columns.chunks(TOGETHER).zip(sums.chunks_mut(TOGETHER * count)) {
            add(columns, &rows, sums);
        }
    }
    let total = |(column, sums): (&PlacedColumn<C>, &[F64x8])| (column.0, sums.iter().map(|s| s.sum()).collect());
    columns.iter().zip(sums.chunks(count)).map(total).collect()
}

/// Adds the products over a range of rows of at most four columns, as columns × vectors.
fn add<E: Copy + Into<f64>>(
    vectors: &[&[f64]],
    columns: &[PlacedColumn<&[E]>],
    rows: &Range<usize>,
    sums: &mut [F64x8],
) {
    match columns {
        &[a, b, c, d] => add_together(vectors, [a, b, c, d], rows, sums),
        few => few.iter().zip(sums.chunks_mut(vectors.len())).for_each(|(&one, sums)| {
            add_together(vectors, [one], rows, sums);
        }),
    }
}

fn add_together<E: Copy + Into<f64>, const C: usize>(
    vectors: &[&[f64]],
    columns: [PlacedColumn<&[E]>; C],
    rows: &Range<usize>,
    sums: &mut [F64x8],
) {
    for first in (0..vectors.len()).step_by(MOST) {
        match vectors.len() - first {
            1 => add_against::<E, C, 1>(vectors, columns, rows, first, sums),
            2 => add_against::<E, C, 2>(vectors, columns, rows, first, sums),
            3 => add_against::<E, C, 3>(vectors, columns, rows, first, sums),
            _ => add_against::<E, C, 4>(vectors, columns, rows, first, sums),
        }
    }
}

fn add_against<E: Copy + Into<f64>, const C: usize, const N: usize>(
    vectors: &[&[f64]],
    columns: [PlacedColumn<&[E]>; C],
    rows: &Range<usize>,
    first: usize,
    sums: &mut [F64x8],
) {
    let at = |c: usize, k: usize| c * vectors.len() + first + k;
    let mut own: [[F64x8; N]; C] = std::array::from_fn(|c| std::array::from_fn(|k| sums[at(c, k)]));
    let parts = columns.map(|(_, x, _)| &x[rows.clone()]);
    let few = std::array::from_fn(|k| &vectors[first + k][rows.clone()]);
    add_products(parts, columns.map(|(.., shift)| shift), few, &mut own);
    for (c, own) in own.iter().enumerate() {
        own.iter().enumerate().for_each(|(k, sum)| sums[at(c, k)] = *sum);
    }
}

/// Columns that share one read of the vectors.
const TOGETHER: usize = 4;
/// Vectors that share one read of a column.
const MOST: usize = 4;
/// Maximum number of columns that a thread takes at a time.
const PANEL: usize = 32;
/// Rows per step with few vectors; long, since memory is read fastest in long runs.
const SWEEP: usize = 1 << 16;
/// Rows of virtual columns computed at a time: four columns of them, with factors, fit the second-level cache.
const VIRTUAL: usize = 1 << 10;
/// Rows per step with many vectors: four columns of them fit the first-level cache, all columns the second.
const TILE: usize = 1 << 9;
