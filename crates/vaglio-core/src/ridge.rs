//! Ridge regression by Householder reflections on the rows: the slow definition and test oracle.

use crate::{Columns, Error, Result, max_abs, minimum, row_weights, sum_of_products};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use vaglio_columns::accurate_sum_of_products;

/// A linear readout: prediction of output `o` = Σ_k `weights[k, o]`·x_k + `intercept[o]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// Weights, features × outputs.
    pub weights: Array2<f64>,
    /// One per output; 0 without an intercept.
    pub intercept: Vec<f64>,
}

/// Rows that are predicted together: one output's fit into the first-level cache.
const TILE: usize = 1 << 12;

/// Columns that are added together, in order.
const TOGETHER: usize = 4;

impl Coefficients {
    /// Predictions, outputs × rows, for `x` given as features × rows. Cost O(features · rows · outputs).
    pub fn predict(&self, x: ArrayView2<f64>) -> Array2<f64> {
        let mut out = self.weights.t().dot(&x);
        for (mut row, b) in out.rows_mut().into_iter().zip(&self.intercept) {
            row += *b;
        }
        out
    }

    /// Predictions, outputs × rows, for columns as stored. Cost O(features · rows · outputs).
    ///
    /// Works column by column, so a row's prediction does not depend on the number of rows.
    ///
    /// # Errors
    /// [`Error::Shape`] when the number of columns differs.
    pub fn predict_columns(&self, columns: &Columns) -> Result<Array2<f64>> {
        self.check(columns.len())?;
        let rows = columns.rows();
        if rows <= TILE {
            return Ok(self.predict_rows(columns, 0..rows));
        }
        let tile = |start: usize| self.predict_rows(columns, start..rows.min(start + TILE));
        let tiles: Vec<Array2<f64>> = (0..rows).into_par_iter().step_by(TILE).map(tile).collect();
        let mut out = Array2::zeros((self.weights.ncols(), rows));
        out.axis_chunks_iter_mut(Axis(1), TILE).zip(&tiles).for_each(|(mut to, tile)| to.assign(tile));
        Ok(out)
    }

    /// Predictions of a range of rows.
    fn predict_rows(&self, columns: &Columns, rows: Range<usize>) -> Array2<f64> {
        let mut out = Array2::zeros((self.weights.ncols(), rows.len()));
        for (mut to, b) in out.rows_mut().into_iter().zip(&self.intercept) {
            to.fill(*b);
        }
        for (together, weights) in self.weights.axis_chunks_iter(Axis(0), TOGETHER).enumerate() {
            let read_column = |k: usize| columns.column(TOGETHER * together + k).rows(rows.start, rows.end).values();
            let values: Vec<_> = (0..weights.nrows()).map(read_column).collect();
            for (mut to, weights) in out.rows_mut().into_iter().zip(weights.columns()) {
                match (&values[..], to.as_slice_mut()) {
                    ([a, b, c, d], Some(to)) => add_four(to, [a, b, c, d], std::array::from_fn(|k| weights[k])),
                    _ => values.iter().zip(weights).for_each(|(values, weight)| {
                        to.iter_mut().zip(values.iter()).for_each(|(to, x)| *to += weight * x);
                    }),
                }
            }
        }
        out
    }

    /// Whether all coefficients are finite.
    pub fn is_finite(&self) -> bool {
        self.weights.iter().chain(&self.intercept).all(|value| value.is_finite())
    }

    /// Refuses coefficients that are not finite, or not for `features` features.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] for such coefficients.
    pub fn check(&self, features: usize) -> Result<()> {
        if features != self.weights.nrows() || self.intercept.len() != self.weights.ncols() {
            return Err(Error::Shape(format!(
                "{features} columns, and the model has {} with {} outputs and {} intercepts",
                self.weights.nrows(),
                self.weights.ncols(),
                self.intercept.len()
            )));
        }
        if !self.is_finite() {
            return Err(Error::Shape("the model has a coefficient that is not finite".into()));
        }
        Ok(())
    }
}

/// Adds four columns in order, with one read of the sums.
fn add_four(to: &mut [f64], [a, b, c, d]: [&[f64]; TOGETHER], weights: [f64; TOGETHER]) {
    for ((((to, a), b), c), d) in to.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *to = (((*to + weights[0] * a) + weights[1] * b) + weights[2] * c) + weights[3] * d;
    }
}

/// Minimizes Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² for every output; b is not penalized.
///
/// `x` is features × rows, `y` outputs × rows, `weights` one per row (all 1 when absent); without `intercept` b = 0.
/// The rows are stacked on √λ·I. Householder QR with column pivoting solves the least-squares problem, without normal
/// equations. Weights of nearly dependent columns are corrected once. Cost O((rows + features) · features²).
///
/// # Errors
/// [`Error::Numerical`] when the system is singular (λ = 0 and dependent columns, or an intercept and no rows) or a
/// number overflows.
pub fn ridge(
    x: ArrayView2<f64>,
    y: ArrayView2<f64>,
    weights: Option<&[f64]>,
    lambda: f64,
    intercept: bool,
) -> Result<Coefficients> {
    let (features, rows) = x.dim();
    let outputs = y.nrows();
    let unknowns = features + usize::from(intercept);
    // Reflections keep the digits of light rows if the heavy ones come first.
    let mut order: Vec<usize> = (0..rows).collect();
    if let Some(weights) = weights {
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    }
    let root = |row: usize| row_weights(weights)(row).sqrt();
    let height = rows + features;
    // Column-major: each unknown's column, then each output's right-hand side.
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(unknowns + outputs);
    let stacked = |values: ArrayView1<f64>| {
        let mut column: Vec<f64> = order.iter().map(|&j| root(j) * values[j]).collect();
        column.resize(height, 0.0);
        column
    };
    columns.extend(x.rows().into_iter().map(stacked));
    columns.iter_mut().enumerate().for_each(|(k, column)| column[rows + k] = lambda.sqrt());
    columns.extend(intercept.then(|| stacked(Array1::ones(rows).view())));
    columns.extend(y.rows().into_iter().map(stacked));
    // Without a penalty, the remainder of a dependent column is rounding. With one, √λ may be as small and still
    // counts.
    let rounding = if lambda == 0.0 { f64::EPSILON * height as f64 } else { 0.0 };
    let solution = least_squares(columns, unknowns, rounding)?;
    let weights = Array2::from_shape_fn((features, outputs), |(k, o)| solution[o][k]);
    let intercept = (0..outputs).map(|o| if intercept { solution[o][features] } else { 0.0 }).collect();
    Ok(Coefficients { weights, intercept })
}

/// Condition numbers at which a correction gains digits: below them reflections lose few, above them it has none.
const CORRECTED: Range<f64> = 1e4..1e7;

/// Solves min ‖A z − b‖ for the columns of `A` (the first `unknowns`) and every right-hand side b after them.
///
/// A column counts as dependent if its remainder is at most `rounding` of the longest column. With A = QR, a solution
/// that lost digits is corrected by R⁻¹R⁻ᵀAᵀ(b − A z), summed in twice the digits.
///
/// # Reference
/// Å. Björck, *Stability analysis of the method of seminormal equations for linear least squares problems*, Linear
/// Algebra and its Applications 88/89 (1987).
fn least_squares(columns: Vec<Vec<f64>>, unknowns: usize, rounding: f64) -> Result<Vec<Vec<f64>>> {
    let reflected = Reflected::new(columns.clone(), unknowns, rounding)?;
    let (least, most) = (minimum(reflected.diagonal.iter().map(|d| d.abs())), max_abs(&reflected.diagonal));
    let is_corrected = CORRECTED.contains(&(most / least));
    let solution = |output: usize| {
        let mut z = reflected.solve(&reflected.columns[output]);
        if is_corrected {
            let change = reflected.correction(&columns, output, &z);
            z.iter_mut().zip(change).for_each(|(z, change)| *z += change);
        }
        let mut ordered = vec![0.0; unknowns];
        reflected.order.iter().zip(z).for_each(|(&to, value)| ordered[to] = value);
        ordered
    };
    let solutions: Vec<Vec<f64>> = (unknowns..columns.len()).map(solution).collect();
    if solutions.iter().flatten().all(|v| v.is_finite()) { Ok(solutions) } else { Err(singular()) }
}

fn singular() -> Error {
    Error::Numerical("the least-squares system is singular; a larger lambda makes it regular".into())
}

/// A matrix A and right-hand sides after Householder reflections: A = QR with the columns of A in the order of pivots.
struct Reflected {
    /// Columns of R above its diagonal, then Qᵀb of each right-hand side.
    columns: Vec<Vec<f64>>,
    diagonal: Vec<f64>,
    /// Column of A at each place.
    order: Vec<usize>,
}

impl Reflected {
    fn new(mut columns: Vec<Vec<f64>>, unknowns: usize, rounding: f64) -> Result<Self> {
        if columns.first().map_or(0, Vec::len) < unknowns {
            return Err(singular());
        }
        let mut order: Vec<usize> = (0..unknowns).collect();
        let mut diagonal = vec![0.0; unknowns];
        for k in 0..unknowns {
            let tail = |column: &Vec<f64>| norm(&column[k..]);
            let pivot = (k..unknowns).max_by(|&a, &b| tail(&columns[a]).total_cmp(&tail(&columns[b]))).unwrap_or(k);
            columns.swap(k, pivot);
            order.swap(k, pivot);
            let length = norm(&columns[k][k..]);
            if length <= rounding * diagonal.first().map_or(0.0, |d: &f64| d.abs()) {
                return Err(singular());
            }
            if !length.is_finite() {
                return Err(Error::Numerical("a sum of squares overflows; rescale or standardize the columns".into()));
            }
            diagonal[k] = if columns[k][k] > 0.0 { -length } else { length };
            let mut reflector = columns[k][k..].to_vec();
            reflector[0] -= diagonal[k];
            let size = norm(&reflector);
            reflector.iter_mut().for_each(|v| *v /= size);
            for column in &mut columns[k + 1..] {
                let twice = 2.0 * sum_of_products(&reflector, &column[k..]);
                column[k..].iter_mut().zip(&reflector).for_each(|(c, v)| *c -= twice * v);
            }
        }
        Ok(Reflected { columns, diagonal, order })
    }

    /// R⁻¹ of a right-hand side, in the order of pivots.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut z = vec![0.0; self.diagonal.len()];
        for k in (0..z.len()).rev() {
            let known: f64 = (k + 1..z.len()).map(|l| self.columns[l][k] * z[l]).sum();
            z[k] = (right[k] - known) / self.diagonal[k];
        }
        z
    }

    /// R⁻ᵀ of a right-hand side, in the order of pivots.
    fn solve_transposed(&self, right: &[f64]) -> Vec<f64> {
        let mut z: Vec<f64> = Vec::with_capacity(right.len());
        for (k, diagonal) in self.diagonal.iter().enumerate() {
            z.push((right[k] - sum_of_products(&self.columns[k][..k], &z)) / diagonal);
        }
        z
    }

    /// R⁻¹R⁻ᵀAᵀ(b − A z), given the columns of A and b before the reflections, with sums in twice the digits.
    fn correction(&self, before: &[Vec<f64>], output: usize, z: &[f64]) -> Vec<f64> {
        let left = |row: usize| {
            let terms = self.order.iter().zip(z).map(|(&k, z)| (-z, before[k][row]));
            accurate_sum_of_products(terms.chain([(1.0, before[output][row])]))
        };
        let residuals: Vec<f64> = (0..before[output].len()).map(left).collect();
        let slope = |&k: &usize| accurate_sum_of_products(before[k].iter().copied().zip(residuals.iter().copied()));
        let slopes: Vec<f64> = self.order.iter().map(slope).collect();
        self.solve(&self.solve_transposed(&slopes))
    }
}

/// Euclidean norm, safe from over- and underflow of the squares.
fn norm(values: &[f64]) -> f64 {
    let largest = max_abs(values);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * values.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt()
}
