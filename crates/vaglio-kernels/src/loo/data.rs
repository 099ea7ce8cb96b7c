//! Scaled, centred rows.

use crate::column::{LANES, Sums, TILE, add_products, scaled};
use crate::{Column, Level};
use rayon::prelude::*;

/// Columns and targets with rows scaled by √r_j and columns centred when there is an intercept.
///
/// Columns stay as they are stored; scale and shift are applied when they are read.
#[derive(Debug)]
pub struct Data<'d> {
    pub(crate) level: Level,
    columns: Vec<Column<'d>>,
    shifts: Vec<f64>,
    squares: Vec<f64>,
    active: Vec<bool>,
    /// √r_j, absent when all weights are 1.
    root: Option<Vec<f64>>,
    /// v/‖v‖ with an intercept: the direction that centring removes.
    unit: Option<Vec<f64>>,
    /// √r_j·y_j of each output.
    targets: Vec<Vec<f64>>,
    total_weight: f64,
}

/// A column whose squares cannot be added up in doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Its sum of squares is not finite.
    Overflow {
        /// Index of the column.
        column: usize,
    },
    /// Its entries differ, and their squares are all 0.
    Underflow {
        /// Index of the column.
        column: usize,
    },
    /// The targets' sum of squares is not finite.
    TargetOverflow,
}

impl<'d> Data<'d> {
    /// Scales rows and finds means and sums of squares of the `active` columns. Cost O(m·n), two reads of the data.
    ///
    /// `targets` has one slice of m per output; `weights` are positive. Inactive columns are never read again.
    ///
    /// # Errors
    /// [`Trouble`] for an active column, or targets, whose squares over- or underflow.
    pub fn new(
        level: Level,
        columns: Vec<Column<'d>>,
        active: Vec<bool>,
        targets: &[&[f64]],
        weights: Option<&[f64]>,
        intercept: bool,
    ) -> Result<Self, Trouble> {
        let rows = targets.first().map_or(0, |t| t.len());
        let ones = vec![1.0; rows];
        let weight = weights.unwrap_or(&ones);
        let total_weight: f64 = weight.iter().sum();
        let root: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        let unit = intercept.then(|| {
            let norm = total_weight.sqrt();
            root.as_deref().unwrap_or(&ones).iter().map(|v| v / norm).collect()
        });
        let mean = |x: Column<'_>, shift: f64| {
            let mut sums = Sums::ZERO;
            add_products(level, x, shift, [weight], &mut sums);
            shift + sums.total()[0] / total_weight
        };
        let statistics = |(index, &x): (usize, &Column<'d>)| -> (f64, f64) {
            if !active[index] {
                return (0.0, 0.0);
            }
            // The second pass takes off what rounding left in the first.
            let shift = if intercept { mean(x, mean(x, 0.0)) } else { 0.0 };
            let mut tile = vec![0.0; TILE];
            let mut sums = Sums::ZERO;
            for start in (0..rows).step_by(TILE) {
                let end = rows.min(start + TILE);
                let tile = &mut tile[..end - start];
                scaled(level, x.rows(start, end), shift, root.as_deref().map(|r| &r[start..end]), tile);
                let tile = &*tile;
                add_products(level, Column::Double(tile), 0.0, [tile], &mut sums);
            }
            (shift, sums.total()[0])
        };
        let (shifts, squares): (Vec<f64>, Vec<f64>) = columns.par_iter().enumerate().map(statistics).unzip();
        for column in (0..columns.len()).filter(|&c| active[c]) {
            if !squares[column].is_finite() {
                return Err(Trouble::Overflow { column });
            }
            if squares[column] < f64::MIN_POSITIVE {
                return Err(Trouble::Underflow { column });
            }
        }
        let targets: Vec<Vec<f64>> = targets
            .iter()
            .map(|t| t.iter().zip(weight).map(|(y, w)| if *w == 1.0 { *y } else { w.sqrt() * y }).collect())
            .collect();
        if !targets.iter().flatten().map(|y| y * y).sum::<f64>().is_finite() {
            return Err(Trouble::TargetOverflow);
        }
        Ok(Data { level, columns, shifts, squares, active, root, unit, targets, total_weight })
    }

    /// Number of rows, m.
    pub fn rows(&self) -> usize {
        self.targets.first().map_or(0, Vec::len)
    }

    /// Number of columns, n, inactive ones included.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.targets.len()
    }

    /// Whether a column takes part.
    pub fn is_active(&self, column: usize) -> bool {
        self.active[column]
    }

    /// Number of columns that take part.
    pub fn active(&self) -> usize {
        self.active.iter().filter(|a| **a).count()
    }

    /// Σ_j r_j.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// ‖x_i‖² of a column, scaled and centred.
    pub(crate) fn squares(&self, column: usize) -> f64 {
        self.squares[column]
    }

    pub(crate) fn column(&self, column: usize) -> (Column<'d>, f64) {
        (self.columns[column], self.shifts[column])
    }

    pub(crate) fn root(&self) -> Option<&[f64]> {
        self.root.as_deref()
    }

    pub(crate) fn target(&self, output: usize) -> &[f64] {
        &self.targets[output]
    }

    /// x_i, scaled and centred. Cost O(m).
    pub(crate) fn scaled(&self, column: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.rows()];
        let (x, shift) = self.column(column);
        scaled(self.level, x, shift, self.root(), &mut out);
        self.centre(&mut out);
        out
    }

    /// z ← z − v(vᵀz)/‖v‖² with an intercept.
    pub(crate) fn centre(&self, z: &mut [f64]) {
        if let Some(unit) = &self.unit {
            let along = crate::column::dot(self.level, unit, z);
            crate::column::axpy(self.level, -along, unit, z);
        }
    }

    /// diag(I − vvᵀ/‖v‖²).
    pub(crate) fn empty_diagonal(&self) -> Vec<f64> {
        match &self.unit {
            Some(unit) => unit.iter().map(|u| 1.0 - u * u).collect(),
            None => vec![1.0; self.rows()],
        }
    }

    /// Σ_j x_ij v_k[j] (x_i scaled and centred) for the given columns and vectors, as columns × vectors.
    ///
    /// One read of the columns; the vectors stay in cache by tiles of rows. Cost O(m · columns · vectors).
    pub(crate) fn products(&self, columns: &[usize], vectors: &[Vec<f64>]) -> Vec<f64> {
        let scaled: Vec<Vec<f64>> = match self.root() {
            Some(root) => vectors.iter().map(|v| v.iter().zip(root).map(|(v, r)| v * r).collect()).collect(),
            None => Vec::new(),
        };
        let vectors = if self.root.is_some() { &scaled } else { vectors };
        let width = vectors.len();
        let mut out = vec![0.0; columns.len() * width];
        out.par_chunks_mut(BLOCK * width.max(1)).zip(columns.par_chunks(BLOCK)).for_each(|(out, columns)| {
            let mut first = 0;
            while first < width {
                let many = (width - first).min(4);
                let group = &vectors[first..first + many];
                match many {
                    1 => self.block::<1>(columns, group, out, first, width),
                    2 => self.block::<2>(columns, group, out, first, width),
                    3 => self.block::<3>(columns, group, out, first, width),
                    _ => self.block::<4>(columns, group, out, first, width),
                }
                first += many;
            }
        });
        out
    }

    fn block<const N: usize>(&self, columns: &[usize], vectors: &[Vec<f64>], out: &mut [f64], first: usize, width: usize) {
        const { assert!(SWEEP % LANES == 0 && TILE % LANES == 0) };
        let mut sums = [Sums::<N>::ZERO; BLOCK];
        for start in (0..self.rows()).step_by(SWEEP) {
            let end = self.rows().min(start + SWEEP);
            for (sums, &column) in sums.iter_mut().zip(columns) {
                let (x, shift) = self.column(column);
                let tiles = std::array::from_fn(|k| &vectors[k][start..end]);
                add_products(self.level, x.rows(start, end), shift, tiles, sums);
            }
        }
        for (row, sums) in sums.iter().take(columns.len()).enumerate() {
            out[row * width + first..][..N].copy_from_slice(&sums.total());
        }
    }
}

/// Columns that share the tiles of vectors in cache.
const BLOCK: usize = 16;
/// Rows that a sweep over columns reads at once: long, because memory is read fastest in long runs.
const SWEEP: usize = 1 << 16;
