//! The final fit, and the cross products over all rows that it takes from the search or computes.

use ndarray::Array2;
use std::cell::OnceCell;
use std::sync::Arc;
use vaglio_core::{
    Cache, Coefficients, Column, Criterion, Design, Error, Feature, Model, Result, Score, SearchExtent, feature_map,
    rescale, row_weights, single_outputs, training_weights,
};
use vaglio_kernels::kfold::NormalEquations;
use vaglio_kernels::linalg::FactorizationError;
use vaglio_kernels::ridge::{NormalEquationRidge, Ridge, is_wide};
use vaglio_search::{EntryFit, PathEntry, SubsetScorer};
use vaglio_validate::{Loo, chosen_data, searched_moments};

/// Like [`Design::train`], but faster: solves the normal equations with iterative refinement from the rows, or reduces
/// all rows to a triangle if the equations are too ill-conditioned.
///
/// If `lambda` is `None` and the learner has several, the one with the lowest squared leave-one-out error is used. Cost
/// O(rows · columns²), from moments O(rows · columns + columns³).
///
/// # Errors
/// [`Error::Numerical`] on overflow; errors of [`Design::train`] for a learner without a readout.
pub fn train(design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
    train_readout(design, subset, lambda, FitFrom::Rows)
}

fn train_readout(design: &Design, subset: &[Feature], lambda: Option<f64>, from: FitFrom) -> Result<Model> {
    let Some(readout) = design.readout() else { return design.train(subset, lambda) };
    let lambda_for = |design: &Design| match lambda {
        Some(lambda) => Ok(lambda),
        None if readout.lambdas.len() == 1 => Ok(readout.lambdas[0]),
        None => Ok(subset_score(&Loo::default(), design, subset)?.lambda.unwrap_or(readout.lambdas[0])),
    };
    let lambdas = match single_outputs(design) {
        Some(outputs) => outputs.iter().map(lambda_for).collect::<Result<Vec<f64>>>()?,
        None => vec![lambda_for(design)?],
    };
    train_at(design, subset, &lambdas, from)
}

/// Trains the model of a path entry, at `lambda` if the entry has none of its own.
pub(crate) fn train_entry(design: &Design, entry: &PathEntry, lambda: Option<f64>) -> Result<Model> {
    match &entry.fit {
        EntryFit::Readout => train_readout(design, &entry.subset, entry.score.lambda.or(lambda), FitFrom::Search),
        EntryFit::Lambdas(lambdas) => train_at(design, &entry.subset, lambdas, FitFrom::Search),
        EntryFit::Coefficients(own) => {
            let lambda = design.readout().map_or(f64::NAN, |readout| readout.lambdas[0]);
            let coefficients = rescale_coefficients(design, &entry.subset, own);
            readout_model(design, &entry.subset, lambda, coefficients)
        }
    }
}

/// Trains at one λ, or at one per output.
fn train_at(design: &Design, subset: &[Feature], lambdas: &[f64], from: FitFrom) -> Result<Model> {
    let (units, scaled) = rescale(design);
    let own: Vec<f64> = lambdas.iter().map(|&lambda| units.lambda(lambda)).collect();
    let coefficients = units.coefficients(solve_coefficients(scaled, subset, &own, from)?);
    check_finite(&coefficients)?;
    readout_model(design, subset, lambdas[0], coefficients)
}

/// Model of a readout that was trained at `lambda` on the columns `subset` and all rows.
pub(crate) fn readout_model(
    design: &Design,
    subset: &[Feature],
    lambda: f64,
    coefficients: Coefficients,
) -> Result<Model> {
    match feature_map(design) {
        Some(map) => map.model(subset, lambda, coefficients),
        None => Err(Error::setting("kind", "the learner has no readout")),
    }
}

/// Refuses coefficients that overflow.
pub(crate) fn check_finite(coefficients: &Coefficients) -> Result<()> {
    if coefficients.is_finite() {
        return Ok(());
    }
    Err(Error::Numerical("the coefficients overflow; rescale or standardize the columns".into()))
}

/// Solves for the coefficients on the design's own scale.
fn solve_coefficients(design: &Design, subset: &[Feature], lambdas: &[f64], from: FitFrom) -> Result<Coefficients> {
    let failed = |failure: FactorizationError| {
        Error::Numerical(format!("the final fit failed: {failure}; rescale or standardize the columns"))
    };
    let normal = normal_equations(design, subset, from);
    let reduced = OnceCell::new();
    let by_reflections = |lambda: f64| {
        let ridge = reduced.get_or_init(|| reduced_ridge(design, subset));
        ridge.as_ref().map_err(|failure| *failure)?.coefficients(lambda)
    };
    coefficients_by_output(lambdas, |lambda| {
        let refined = normal.as_ref().and_then(|normal| normal.coefficients(lambda));
        let (weights, intercept) = refined.map_or_else(|| by_reflections(lambda), Ok).map_err(failed)?;
        Ok(Coefficients { weights, intercept })
    })
}

/// Ridge regression on some columns, with all training rows reduced to a triangle.
pub(crate) fn reduced_ridge(design: &Design, features: &[Feature]) -> Result<Ridge, FactorizationError> {
    let weights = training_weights(design, 0..design.rows());
    let columns: Vec<Column<'_>> = features.iter().map(|&feature| design.problem().columns().column(feature)).collect();
    Ridge::from_columns(&columns, design.targets(), weights.as_deref(), design.has_intercept())
}

/// Normal equations of the chosen columns, with cached products if there are any. Returns `None` if: there are few rows
/// for the columns; training uses other row weights than the design (balanced classes); squares over- or underflow. Cost
/// O(rows · columns²) without cached products.
pub(crate) fn normal_equations<'d>(
    design: &'d Design,
    subset: &[Feature],
    from: FitFrom,
) -> Option<NormalEquationRidge<'d>> {
    let readout = design.readout().filter(|readout| !readout.balanced)?;
    // With few rows, products of columns take more memory than the rows.
    if is_wide(design.rows(), subset.len()) {
        return None;
    }
    let data = Arc::new(chosen_data(design, subset, readout.intercept).ok()?);
    let known = match from {
        FitFrom::Search => known_equations(design, subset),
        FitFrom::Rows => fitted_equations(design, subset),
    };
    let equations = match known {
        Some(known) => known,
        None => {
            let own = Arc::new(NormalEquations::new(&data, subset).ok()?);
            design.session::<Cache<NormalEquations>>().set(Arc::clone(&own));
            own
        }
    };
    NormalEquationRidge::new(data, subset, &equations)
}

/// Combines coefficients of outputs, each fitted at its own λ.
pub(crate) fn coefficients_by_output(
    lambdas: &[f64],
    mut at: impl FnMut(f64) -> Result<Coefficients>,
) -> Result<Coefficients> {
    let mut all = at(lambdas[0])?;
    for (output, &lambda) in lambdas.iter().enumerate().skip(1) {
        let own = at(lambda)?;
        all.weights.column_mut(output).assign(&own.weights.column(output));
        all.intercept[output] = own.intercept[output];
    }
    Ok(all)
}

/// Converts coefficients of a path, on centered columns and targets of norm 1, to the data's scale. The input holds a
/// row of outputs for each column. Cost O(rows · columns).
pub(crate) fn rescale_coefficients(design: &Design, subset: &[Feature], coefficients: &[f64]) -> Coefficients {
    let weight = row_weights(design.weights());
    let total: f64 = (0..design.rows()).map(weight).sum();
    let frame = |value: &dyn Fn(usize) -> f64| {
        let mean = (0..design.rows()).map(|row| weight(row) * value(row)).sum::<f64>() / total;
        let squares: f64 = (0..design.rows()).map(|row| weight(row) * (value(row) - mean) * (value(row) - mean)).sum();
        (mean, squares.sqrt())
    };
    let targets = design.targets();
    let outputs = targets.nrows();
    let (mut intercept, norms): (Vec<f64>, Vec<f64>) = (0..outputs).map(|o| frame(&|row| targets[[o, row]])).unzip();
    let mut weights = Array2::zeros((subset.len(), outputs));
    for (k, (&feature, row)) in subset.iter().zip(coefficients.chunks(outputs)).enumerate() {
        let column = design.column(feature);
        let (mean, own) = frame(&|row| column.get(row));
        for (output, coefficient) in row.iter().enumerate() {
            weights[[k, output]] = coefficient * norms[output] / own;
            intercept[output] -= weights[[k, output]] * mean;
        }
    }
    Coefficients { weights, intercept }
}

/// Score of one subset of a design.
pub(crate) fn subset_score(criterion: &dyn Criterion, design: &Design, subset: &[Feature]) -> Result<Score> {
    let mut scorer = SubsetScorer::open(criterion, design, &SearchExtent::fixed(subset.len()))?;
    scorer.reset(subset)?;
    scorer.score()
}

/// Source of the cross products for a fit on all rows.
#[derive(Clone, Copy)]
pub(crate) enum FitFrom {
    /// The moments of the search, if it computed any.
    Search,
    /// The rows of the table.
    Rows,
}

/// Cached normal equations of all rows that cover `subset`, from the search or from an earlier fit.
pub fn known_equations(design: &Design, subset: &[Feature]) -> Option<Arc<NormalEquations>> {
    let moments = searched_moments(design).and_then(|moments| moments.normal_equations.clone());
    moments.filter(|known| known.has(subset)).or_else(|| fitted_equations(design, subset))
}

/// Cached normal equations of an earlier fit that cover `subset`.
fn fitted_equations(design: &Design, subset: &[Feature]) -> Option<Arc<NormalEquations>> {
    design.session::<Cache<NormalEquations>>().get().filter(|known| known.has(subset))
}
