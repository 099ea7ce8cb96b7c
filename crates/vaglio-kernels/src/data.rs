//! Weighted and centered columns and targets.
//!
//! `entries` has columns as stored, `products` multiplies them with vectors. `gram_cache` keeps products for
//! leave-one-out; with `block_sums` it takes them from sums that subsets of the rows share.

mod block_sums;
mod entries;
mod gram_cache;
mod products;
mod sparse_sums;

use crate::f64x8::F64x8;
use crate::parallel;
use crate::sums::{self, add_products, product, shift_and_scale};
use crate::{Column, Targets};
pub use entries::ColumnEntries;
pub use gram_cache::GramCache;
use ndarray::{Array2, ArrayView1, ShapeBuilder};
pub(crate) use products::slice_products;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use vaglio_columns::sum_of_squares;

/// Maximum bytes of cached vectors when some columns are virtual.
const LARGE: usize = 1 << 30;
/// Bytes of one m-vector per column up to which they are always cached.
const SMALL: usize = 1 << 26;
/// Maximum share of stored entries at which no such vectors are cached.
const FEW_STORED: f64 = 1.0 / 16.0;

/// Whether one m-vector per column may be cached.
///
/// `virtual_columns` are computed at every read, and `share_stored` is the share of entries that sparse columns store.
/// Beside such columns the cache would need many times their memory; trials recompute the vectors instead.
pub fn caches_columns(rows: usize, columns: usize, virtual_columns: usize, share_stored: f64) -> bool {
    let bytes = size_of::<f64>() * rows * columns;
    (virtual_columns == 0 || bytes <= LARGE) && (bytes <= SMALL || share_stored > FEW_STORED)
}

/// Columns and targets with rows scaled by √r_j and columns centered when there is an intercept.
///
/// Columns stay as they are stored; scale and shift are applied when they are read.
#[derive(Debug)]
pub struct Data<'d> {
    entries: ColumnEntries<'d>,
    /// The cached products, for other states of the same rows.
    pub gram: Arc<GramCache>,
    /// The active columns, in order.
    pub candidates: Vec<usize>,
    /// v/‖v‖ with an intercept: the direction removed by centering.
    pub unit: Option<Vec<f64>>,
    /// The targets, for a [`crate::Scorer`] of residuals in row order.
    pub targets: Arc<Targets>,
    /// Targets of each output, scaled and centered like [`Data::scaled_column`]: the residuals of the empty subset.
    pub centered: Vec<Vec<f64>>,
}

/// A column whose squares cannot be added up in doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataError {
    /// The column's sum of squares is not finite.
    Overflow {
        /// Index of the column.
        column: usize,
    },
    /// The column's entries differ, but all their squares underflow to 0.
    Underflow {
        /// Index of the column.
        column: usize,
    },
    /// The targets' sum of squares is not finite.
    TargetOverflow,
}

impl<'d> Data<'d> {
    /// Scales rows and computes means and sums of squares of the active columns. Cost O(m·n), two reads of the data.
    ///
    /// `targets` has one slice of m per output; `weights` are positive, all 1 if absent. With an `intercept`, columns
    /// and targets are centered. Inactive columns are never read again. `gram` has cached products from other states of
    /// the same rows, weights and intercept.
    ///
    /// # Errors
    /// Fails if squares of an active column or of the targets over- or underflow.
    pub fn new(
        entries: ColumnEntries<'d>,
        targets: &[&[f64]],
        weights: Option<&[f64]>,
        intercept: bool,
        gram: Option<Arc<GramCache>>,
    ) -> Result<Self, DataError> {
        let own = Targets::new(targets, weights);
        let (root, total_weight, ones) = (own.root.as_deref(), own.total_weight, vec![1.0; own.rows()]);
        let weight = weights.unwrap_or(&ones);
        let unit = intercept.then(|| {
            let norm = total_weight.sqrt();
            root.unwrap_or(&ones).iter().map(|v| v / norm).collect()
        });
        // Stored rows that were not chosen get weight 0.
        let ColumnEntries { stored, active, .. } = &entries;
        let (weight_stored, root_stored) = match root.or(entries.view.is_some().then_some(&ones)) {
            Some(root) => (entries.spread(weight), Some(entries.spread(root))),
            None => (Cow::Borrowed(weight), None),
        };
        let mean = |x: Column<'_>, shift: f64| shift + product(x, shift, &weight_stored) / total_weight;
        let statistics = |index: usize| -> (f64, f64) {
            if !active[index] {
                return (0.0, 0.0);
            }
            let (x, rows) = (stored[index], weight_stored.len());
            // The second pass removes the rounding error of the first mean.
            let shift = if intercept { mean(x, mean(x, 0.0)) } else { 0.0 };
            if let Column::Sparse(x) = x
                && let Some(squares) = sparse_sums::squares(x, shift, root_stored.as_deref(), total_weight)
            {
                return (shift, squares);
            }
            let mut tile = vec![0.0; sums::TILE];
            let mut sums = [[F64x8::ZERO]];
            for start in (0..rows).step_by(sums::TILE) {
                let end = rows.min(start + sums::TILE);
                let tile = &mut tile[..end - start];
                shift_and_scale(x.rows(start, end), shift, root_stored.as_deref().map(|r| &r[start..end]), tile);
                add_products([&*tile], [0.0], [&*tile], &mut sums);
            }
            (shift, sums[0][0].sum())
        };
        let gram = gram.unwrap_or_else(|| {
            let (shifts, squares) = parallel::map(stored.len(), statistics).into_iter().unzip();
            Arc::new(GramCache::new(shifts, squares, intercept))
        });
        let squares = &gram.squares;
        let candidates: Vec<usize> = (0..active.len()).filter(|&column| active[column]).collect();
        for &column in &candidates {
            if !squares[column].is_finite() {
                return Err(DataError::Overflow { column });
            }
            if squares[column] < f64::MIN_POSITIVE {
                return Err(DataError::Underflow { column });
            }
        }
        // With an intercept a shift changes no result; this one turns equal targets into exact zeros, and keeps the
        // digits of a row whose target is nearly the mean because it outweighs all others.
        let from = unit.as_deref().and_then(outweighing_row).unwrap_or(0);
        let shift = |y: &&[f64]| y.iter().map(|value| if intercept { value - y[from] } else { *value }).collect();
        let mut shifted = Targets::new(&targets.iter().map(shift).collect::<Vec<Vec<f64>>>(), weights).scaled;
        if !sum_of_squares(own.scaled.iter().flatten()).is_finite() {
            return Err(DataError::TargetOverflow);
        }
        let (targets, centered) = (Arc::new(own), Vec::new());
        let mut data = Data { entries, gram, candidates, unit, targets, centered };
        shifted.iter_mut().for_each(|y| data.center(y));
        data.centered = shifted;
        Ok(data)
    }

    /// Number of rows, m.
    pub fn rows(&self) -> usize {
        self.targets.rows()
    }

    /// Number of columns, n, inactive ones included.
    pub fn columns(&self) -> usize {
        self.entries.stored.len()
    }

    /// Number of virtual columns: products, computed at every read.
    pub(crate) fn count_products(&self) -> usize {
        self.entries.stored.iter().filter(|column| matches!(column, Column::Product(_))).count()
    }

    /// Whether an m-vector per candidate may be cached; see [`caches_columns`].
    pub(crate) fn caches_columns(&self) -> bool {
        let stored = &self.entries.stored;
        let share = stored.iter().map(Column::share_stored).sum::<f64>() / stored.len().max(1) as f64;
        caches_columns(self.rows(), self.columns(), self.count_products(), share)
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.targets.outputs()
    }

    /// Whether columns and targets are centered.
    pub(crate) fn has_intercept(&self) -> bool {
        self.unit.is_some()
    }

    /// Whether a column takes part.
    pub fn is_active(&self, column: usize) -> bool {
        self.entries.active[column]
    }

    /// ‖x_i‖² of a column, scaled and centered.
    pub(crate) fn squares(&self, column: usize) -> f64 {
        self.gram.squares[column]
    }

    pub(crate) fn column(&self, column: usize) -> (Column<'d>, f64) {
        (self.entries.column(column), self.gram.shifts[column])
    }

    /// A column and, with an intercept, its entry nearest to the mean, else 0. Differences from it are zero where most
    /// rows are equal.
    pub(crate) fn column_from_entry(&self, feature: usize) -> (Column<'d>, f64) {
        let (column, mean) = self.column(feature);
        let nearest = |a: f64, b: f64| if (b - mean).abs() < (a - mean).abs() { b } else { a };
        let entries = (0..column.len()).map(|row| column.get(row));
        let from = if self.has_intercept() { entries.fold(f64::INFINITY, nearest) } else { 0.0 };
        (column, from)
    }

    pub(crate) fn root(&self) -> Option<&[f64]> {
        self.targets.root.as_deref()
    }

    /// Weighted mean of an output's targets, corrected for the rounding of the first sum.
    pub(crate) fn target_mean(&self, output: usize) -> f64 {
        let (targets, total) = (&*self.targets, self.targets.total_weight);
        let own = || targets.scaled[output].iter().enumerate().map(|(row, y)| (targets.root(row), *y));
        let mean = own().map(|(root, y)| root * y).sum::<f64>() / total;
        mean + own().map(|(root, y)| root * (y - root * mean)).sum::<f64>() / total
    }

    /// A column as fits see it: scaled by the roots of weights, and centered if there is an intercept. Cost O(m).
    pub fn scaled_column(&self, column: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.rows()];
        self.copy_uncentered(column, 0..self.rows(), &mut out);
        self.center(&mut out);
        out
    }

    /// Component of x_i along v/‖v‖ that [`Data::scaled_column`] removes: the rounding of its mean, which counts
    /// far from 0. Cost O(m).
    pub(crate) fn along_ones(&self, column: usize) -> f64 {
        let Some(unit) = &self.unit else { return 0.0 };
        let mut out = vec![0.0; self.rows()];
        self.copy_uncentered(column, 0..self.rows(), &mut out);
        sums::dot(unit, &out)
    }

    /// A range of rows of [`Data::scaled_column`], with the same bits, given the component `along`. Cost O(rows).
    pub(crate) fn scaled_rows(&self, column: usize, along: f64, rows: Range<usize>, out: &mut [f64]) {
        self.copy_uncentered(column, rows.clone(), out);
        if let Some(unit) = &self.unit {
            sums::axpy(-along, &unit[rows], out);
        }
    }

    /// A range of rows of x_i, scaled and shifted, without the final centering.
    pub(crate) fn copy_uncentered(&self, column: usize, rows: Range<usize>, out: &mut [f64]) {
        let (x, shift) = self.column(column);
        shift_and_scale(x.rows(rows.start, rows.end), shift, self.root().map(|root| &root[rows]), out);
    }

    /// Matrix of scaled and centered columns, rows × columns, each column contiguous. Cost O(m·s).
    pub(crate) fn matrix(&self, columns: &[usize]) -> Array2<f64> {
        let mut out = Array2::zeros((self.rows(), columns.len()).f());
        for (mut to, &column) in out.columns_mut().into_iter().zip(columns) {
            to.assign(&ArrayView1::from(&self.scaled_column(column)));
        }
        out
    }

    /// √r_j of every row; 1 without weights.
    pub(crate) fn ones(&self) -> Vec<f64> {
        self.root().map_or_else(|| vec![1.0; self.rows()], <[f64]>::to_vec)
    }

    /// Cosine of every column with z, a column like [`Data::scaled_column`] or a target like [`Data::centered`]; with an
    /// intercept these are correlations.
    ///
    /// Returns 0 for inactive columns and for a constant z. Reads the stored columns once, cost O(m·n).
    pub fn correlations(&self, mut z: Vec<f64>) -> Vec<f64> {
        let norm = sums::dot(&z, &z).sqrt();
        let mut out = vec![0.0; self.columns()];
        if norm > 0.0 {
            z.iter_mut().for_each(|z| *z /= norm);
            let products = self.products(&self.candidates, &[&z]);
            for (&c, product) in self.candidates.iter().zip(products) {
                out[c] = product / self.squares(c).sqrt();
            }
        }
        out
    }

    /// x_iᵀz; with an intercept z must be centered. Cost O(m).
    pub(crate) fn product(&self, column: usize, z: &[f64]) -> f64 {
        let (x, shift) = self.column(column);
        product(x, shift, &self.with_roots(z, false))
    }

    /// Whether two columns have equal entries.
    pub(crate) fn equal(&self, a: usize, b: usize) -> bool {
        self.gram.squares[a] == self.gram.squares[b] && self.entries.column(a) == self.entries.column(b)
    }

    /// z ← z − v(vᵀz)/‖v‖² if there is an intercept.
    pub(crate) fn center(&self, z: &mut [f64]) {
        if let Some(unit) = &self.unit {
            let along = sums::dot(unit, z);
            sums::axpy(-along, unit, z);
        }
    }

    /// diag(I − vvᵀ/‖v‖²).
    pub(crate) fn empty_diagonal(&self) -> Vec<f64> {
        let Some(unit) = &self.unit else { return vec![1.0; self.rows()] };
        let mut diagonal: Vec<f64> = unit.iter().map(|u| 1.0 - u * u).collect();
        if let Some(row) = outweighing_row(unit) {
            // The difference would have few digits.
            diagonal[row] = sum_of_squares(unit[..row].iter().chain(&unit[row + 1..]));
        }
        diagonal
    }
}

/// The row that weighs more than all others together, if there is one, given v/‖v‖.
fn outweighing_row(unit: &[f64]) -> Option<usize> {
    unit.iter().position(|u| u * u > 0.5)
}
