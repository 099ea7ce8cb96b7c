//! The final fit.

use crate::criteria::Loo;
use ndarray::Array2;
use vaglio_core::{Coefficients, Design, Error, Feature, Model, Outline, Result, Subset, Trained};
use vaglio_kernels::linalg::Failure;
use vaglio_kernels::ridge::Ridge;

/// What [`Design::train`] does, fast: by a reduction of all rows to a triangle, in tiles.
///
/// Without `lambda` and with several to choose from, the one of lowest squared leave-one-out error is taken. Cost
/// O(rows · columns²).
///
/// # Errors
/// [`Error::Numerical`] when numbers overflow; those of the learner.
pub(crate) fn train(design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
    let Some(readout) = design.readout() else { return design.train(subset, lambda) };
    let lambda = match lambda {
        Some(lambda) => lambda,
        None if readout.lambdas.len() == 1 => readout.lambdas[0],
        None => chosen(design, subset)?.unwrap_or(readout.lambdas[0]),
    };
    let weights = design.training_weights(&(0..design.rows()).collect::<Vec<_>>());
    let failed = |failure: Failure| {
        Error::Numerical(format!("the final fit failed: {failure}; rescale or standardize the columns"))
    };
    let ridge = Ridge::new(design.columns().matrix(subset), design.targets(), weights.as_deref(), readout.intercept)
        .map_err(failed)?;
    let (weights, intercept) = ridge.coefficients(lambda).map_err(failed)?;
    let coefficients = Coefficients { weights, intercept };
    if !coefficients.is_finite() {
        return Err(Error::Numerical("the coefficients overflow; rescale or standardize the columns".into()));
    }
    design.model(subset, Trained { lambda, coefficients })
}

/// The model of coefficients of columns about their means and divided by their norms, for a target likewise. Cost
/// O(rows · columns).
pub(crate) fn of_path(design: &Design, subset: &[Feature], coefficients: &[f64]) -> Coefficients {
    let weight = |row: usize| design.weights().map_or(1.0, |w| w[row]);
    let total: f64 = (0..design.rows()).map(weight).sum();
    let frame = |value: &dyn Fn(usize) -> f64| {
        let mean = (0..design.rows()).map(|row| weight(row) * value(row)).sum::<f64>() / total;
        let squares: f64 = (0..design.rows()).map(|row| weight(row) * (value(row) - mean) * (value(row) - mean)).sum();
        (mean, squares.sqrt())
    };
    let targets = design.targets();
    let (mut intercept, norm) = frame(&|row| targets[[0, row]]);
    let mut weights = Array2::zeros((subset.len(), 1));
    for (k, (&feature, coefficient)) in subset.iter().zip(coefficients).enumerate() {
        let column = design.column(feature);
        let (mean, own) = frame(&|row| column.get(row));
        weights[[k, 0]] = coefficient * norm / own;
        intercept -= weights[[k, 0]] * mean;
    }
    Coefficients { weights, intercept: vec![intercept] }
}

/// The λ of lowest squared leave-one-out error.
fn chosen(design: &Design, subset: &[Feature]) -> Result<Option<f64>> {
    let criterion = Loo::default();
    let outline = Outline { start: subset.len(), largest: subset.len(), trials: 1.0, steps: 0 };
    let mut all = Subset::open(&criterion, design, &outline)?;
    all.reset(subset)?;
    Ok(all.score()?.lambda)
}
