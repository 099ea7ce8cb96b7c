//! Refit of a subset for each fold by orthogonal reductions of the rows: the last resort of every engine.
//!
//! The book, *Cross-validation without refitting*, "Where moments would go wrong"; reductions as in G. Golub,
//! *Numerical methods for solving linear least squares problems*, Numerische Mathematik 7 (1965).

use super::FoldedRows;
use crate::Column;
use crate::linalg::FactorizationError;
use crate::parallel;
use crate::ridge::{Ridge, RidgeRows};
use crate::sums::center;
use ndarray::{Array2, ArrayView1};

/// A subset fitted on the training rows of each fold, for any λ.
///
/// Each fold's training rows are reduced to a triangle by reflections, which is reduced again for each λ. So columns of
/// unlike scale cost no digits. Where dependent columns at a small λ do, the rows are read again.
#[derive(Debug)]
pub struct SubsetRefit<'r, 'd> {
    rows: &'r FoldedRows<'d>,
    subset: Vec<usize>,
    /// The columns, each with the entry that it is shifted by.
    columns: Vec<(Column<'d>, f64)>,
    /// The fit without each fold, and the fold's rows × columns, shifted and scaled like the training rows.
    folds: Vec<(Ridge, Array2<f64>)>,
}

impl<'r, 'd> SubsetRefit<'r, 'd> {
    /// Fits the held-out folds; rows of other folds keep their targets as residuals. Cost O(K·m·s²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn new(rows: &'r FoldedRows<'d>, subset: &[usize]) -> Result<Self, FactorizationError> {
        let columns = parallel::map_slice(subset, |&feature| rows.data.column_from_entry(feature));
        let mut refit = SubsetRefit { rows, subset: subset.to_vec(), columns, folds: Vec::new() };
        let fit = |fold| {
            let (RidgeRows { x, y, weights }, held_out) = refit.read(fold);
            let ridge = Ridge::new(x.view(), y.view(), Some(&weights), rows.data.has_intercept());
            ridge.map(|ridge| (ridge, held_out))
        };
        refit.folds = parallel::map(rows.folds.count_held_out(), fit).into_iter().collect::<Result<_, _>>()?;
        Ok(refit)
    }

    /// Held-out residuals of every row, scaled by √r_j: outputs × rows in original order. Cost O(m·s · outputs + K·s³).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn residuals(&self, lambda: f64) -> Result<Vec<Vec<f64>>, FactorizationError> {
        let targets = &self.rows.data.targets;
        let mut out = targets.scaled.clone();
        for (fold, (ridge, held_out)) in self.folds.iter().enumerate() {
            let (coefficients, intercept) = ridge.corrected_coefficients(lambda, || self.read(fold).0)?;
            let predicted = held_out.dot(&coefficients);
            for (o, out) in out.iter_mut().enumerate() {
                for (j, &row) in self.rows.folds.held_out(fold).iter().enumerate() {
                    out[row] -= targets.root(row) * (predicted[[j, o]] + intercept[o]);
                }
            }
        }
        Ok(out)
    }

    /// The rows that train without a fold, and the fold's rows × columns, shifted and scaled like them.
    fn read(&self, fold: usize) -> (RidgeRows, Array2<f64>) {
        let SubsetRefit { rows, subset, columns, .. } = self;
        let (targets, training) = (&rows.data.targets, rows.folds.training(fold));
        let target = |(o, j): (usize, usize)| targets.scaled[o][training[j]] / targets.root(training[j]);
        let y = Array2::from_shape_fn((targets.outputs(), training.len()), target);
        let mut x = gather(columns, &training);
        let mut held_out = gather(columns, rows.folds.held_out(fold));
        if !rows.missing.is_empty() {
            impute(rows, fold, subset, &mut x, &mut held_out);
        }
        if rows.standardize {
            let weights: Vec<f64> = training.iter().map(|&row| targets.weight(row)).collect();
            let rounding: Vec<f64> = subset.iter().map(|&feature| rows.data.column(feature).0.rounding()).collect();
            standardize(&mut x, &mut held_out, &weights, &rounding);
        }
        (RidgeRows { x, y, weights: rows.training_weights(&training) }, held_out)
    }
}

/// Entries of columns at the rows `from`, rows × columns. With an intercept each column is shifted by one of its
/// entries. So columns that are equal in some rows stay bitwise equal.
fn gather(columns: &[(Column<'_>, f64)], from: &[usize]) -> Array2<f64> {
    let mut x = Array2::zeros((from.len(), columns.len()));
    for (mut to, (column, shift)) in x.columns_mut().into_iter().zip(columns) {
        to.iter_mut().zip(from).for_each(|(to, &row)| *to = column.get(row) - shift);
    }
    x
}

/// Imputes missing cells of both by the weighted means of the other cells of `x`.
fn impute(rows: &FoldedRows<'_>, fold: usize, subset: &[usize], x: &mut Array2<f64>, held: &mut Array2<f64>) {
    let (training, held_out) = (&rows.folds.training(fold)[..], rows.folds.held_out(fold));
    for (k, &feature) in subset.iter().enumerate() {
        let Some(mask) = rows.missing_cells(feature) else { continue };
        let is_missing = |row: usize| mask.get(row) != 0.0;
        let present = || training.iter().enumerate().filter(|(_, row)| !is_missing(**row));
        let weight = |row: usize| rows.data.targets.weight(row);
        let total: f64 = present().map(|(_, &row)| weight(row)).sum();
        if total <= 0.0 {
            continue;
        }
        let mean = present().map(|(j, &row)| weight(row) * x[[j, k]]).sum::<f64>() / total;
        for (to, rows) in [(&mut *x, training), (&mut *held, held_out)] {
            rows.iter().enumerate().filter(|(_, row)| is_missing(**row)).for_each(|(j, _)| to[[j, k]] = mean);
        }
    }
}

/// Subtracts the weighted means of `x` from both and divides by its standard deviations. A column constant up to
/// rounding becomes 0 and is divided by 1.
fn standardize(x: &mut Array2<f64>, held: &mut Array2<f64>, weights: &[f64], rounding: &[f64]) {
    let weights = ArrayView1::from(weights);
    let total = weights.sum();
    for ((mut x, mut held), rounding) in x.columns_mut().into_iter().zip(held.columns_mut()).zip(rounding) {
        let first = x.first().copied().unwrap_or(0.0);
        let (least, greatest) = x.iter().fold((first, first), |(least, greatest), v| (least.min(*v), greatest.max(*v)));
        if greatest - least <= *rounding {
            x.fill(0.0);
            held -= first;
            continue;
        }
        let [mean, rest] = center(x.view_mut(), |j| weights[j], total);
        held -= mean + rest;
        let deviation = (weights.dot(&x.mapv(|v| v * v)) / total).sqrt();
        x /= deviation;
        held /= deviation;
    }
}
