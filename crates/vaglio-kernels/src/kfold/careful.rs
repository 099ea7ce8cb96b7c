//! K-fold losses by refitting from the rows, without normal equations.

use super::Rows;
use crate::linalg::Failure;
use crate::ridge::Ridge;
use crate::{Column, Scorer};
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

/// The losses of a subset for each λ, from [`careful_residuals`].
///
/// # Errors
/// [`Failure::NoConvergence`] when entries overflow.
pub fn careful(rows: &Rows<'_>, scorer: &Scorer, subset: &[usize], lambdas: &[f64]) -> Result<Vec<f64>, Failure> {
    Ok(careful_residuals(rows, subset, lambdas)?.iter().map(|residuals| scorer.loss(residuals)).collect())
}

/// The residuals of every row held out, scaled by √r_j, for each λ: outputs × rows as given.
///
/// Each fold's training rows are reduced by reflections and one singular value decomposition serves every λ, so small
/// λ and dependent columns cost no digits. Cost O(K·m·s²).
///
/// # Errors
/// [`Failure::NoConvergence`] when entries overflow.
pub fn careful_residuals(rows: &Rows<'_>, subset: &[usize], lambdas: &[f64]) -> Result<Vec<Vec<Vec<f64>>>, Failure> {
    let targets = rows.targets();
    let folds: Vec<Vec<Vec<Vec<f64>>>> = (0..rows.folds.count())
        .into_par_iter()
        .map(|fold| of_fold(rows, fold, subset, lambdas))
        .collect::<Result<_, _>>()?;
    let mut out = vec![vec![vec![0.0; targets.rows()]; targets.outputs()]; lambdas.len()];
    for (fold, of_fold) in folds.iter().enumerate() {
        for (out, of_lambda) in out.iter_mut().zip(of_fold) {
            for (out, residuals) in out.iter_mut().zip(of_lambda) {
                rows.folds.held_out(fold).iter().zip(residuals).for_each(|(&row, e)| out[row] = *e);
            }
        }
    }
    Ok(out)
}

/// Scaled residuals of one fold: λ × outputs × rows of the fold.
fn of_fold(rows: &Rows<'_>, fold: usize, subset: &[usize], lambdas: &[f64]) -> Result<Vec<Vec<Vec<f64>>>, Failure> {
    let (targets, training, held_out) = (rows.targets(), rows.folds.training(fold), rows.folds.held_out(fold));
    let root = |row: usize| targets.root.as_ref().map_or(1.0, |r| r[row]);
    let weights: Vec<f64> = training.iter().map(|&row| root(row) * root(row)).collect();
    let y = Array2::from_shape_fn((targets.outputs(), training.len()), |(o, j)| {
        targets.scaled[o][training[j]] / root(training[j])
    });
    let mut x = gather(rows, subset, &training);
    let mut held = gather(rows, subset, held_out);
    if rows.standardize {
        standardize(&mut x, &mut held, &weights);
    }
    let centred = rows.intercept;
    let ridge = Ridge::new(x, y.view(), Some(&weights), centred)?;
    let residuals = |&lambda: &f64| {
        let (coefficients, intercept) = ridge.coefficients(lambda);
        let predicted = held.dot(&coefficients);
        let of_output = |o: usize| {
            let residual =
                |(j, &row): (usize, &usize)| targets.scaled[o][row] - root(row) * (predicted[[j, o]] + intercept[o]);
            held_out.iter().enumerate().map(residual).collect::<Vec<f64>>()
        };
        (0..targets.outputs()).map(of_output).collect::<Vec<_>>()
    };
    Ok(lambdas.iter().map(residuals).collect())
}

/// The entries of `subset` in `from`, less their mean over all rows where there is an intercept: rows × columns.
fn gather(rows: &Rows<'_>, subset: &[usize], from: &[usize]) -> Array2<f64> {
    let mut x = Array2::zeros((from.len(), subset.len()));
    for (mut to, &feature) in x.columns_mut().into_iter().zip(subset) {
        let (column, shift) = rows.data.column(feature);
        let entry = |row: usize| match column {
            Column::Double(x) => x[row],
            Column::Byte(x) => f64::from(x[row]),
        };
        to.iter_mut().zip(from).for_each(|(to, &row)| *to = entry(row) - shift);
    }
    x
}

/// Subtracts the weighted means of `x` from both and divides by its standard deviations; a constant is divided by 1.
fn standardize(x: &mut Array2<f64>, held: &mut Array2<f64>, weights: &[f64]) {
    let weights = ArrayView1::from(weights);
    let total = weights.sum();
    for (mut x, mut held) in x.columns_mut().into_iter().zip(held.columns_mut()) {
        let first = x.first().copied().unwrap_or(0.0);
        if x.iter().all(|v| *v == first) {
            x.fill(0.0);
            held -= first;
            continue;
        }
        let mean = weights.dot(&x) / total;
        x -= mean;
        let rest = weights.dot(&x) / total;
        x -= rest;
        held -= mean + rest;
        let deviation = (weights.dot(&x.mapv(|v| v * v)) / total).sqrt();
        x /= deviation;
        held /= deviation;
    }
}
