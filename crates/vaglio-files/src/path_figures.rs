//! Losses, effective degrees of freedom and information criteria of the models along a path.
//!
//! Let N be the number of training rows, E a model's mean squared error on them in the data's units, and d its
//! effective degrees of freedom: Σ σ²/(σ² + λ) over the singular values of its centered columns, plus 1 for an
//! intercept. With k = d + 1, AICc = N ln E + 2kN/(N − k − 1), BIC = N ln E + k ln N and Cp = E + 2 σ̂² d/N, as in the
//! criterion `information`. σ̂² = N·E/(N − d) of the model of all candidate columns at the path's λ. Figures beyond a
//! share of the search's work are left out.

use super::evaluations::Run;
use super::evaluations::drop_column::{LEAST_WORK, PART};
use ndarray::{Array2, s};
use std::collections::HashMap;
use vaglio_core::{
    Design, Error, Feature, Loss, Model, Readout, Result, Squared, prediction_units, row_weights, training_weights,
};
use vaglio_kernels::linalg::FactorizationError;
use vaglio_kernels::{freedom, linalg, sums::center};
use vaglio_pipeline::final_fit::train;
use vaglio_pipeline::resampling::{FoldTestRows, TargetsAndPredictions, feature_places, order_features};
use vaglio_report::record::{EntryRecord, variance};
use vaglio_search::{EntryFit, PathEntry};

/// Budget of predicting training rows by every model, in multiply-adds.
const MOST_WORK: f64 = 1e11;

/// Fills in the losses of each entry's model.
pub fn curve(run: Run<'_>, records: &mut [EntryRecord]) -> Result<()> {
    let Run { prepared, selector, design, selection, .. } = run;
    let loss = &*run.loss();
    let path = &selection.path;
    let chosen = selection.predictor();
    let sizes: usize = path.entries.iter().map(|entry| entry.subset.len()).sum();
    let train = prepared.train_in_units()?;
    let problems = [(Some(&train), false), (prepared.test.as_ref(), true)];
    for (problem, is_test) in problems {
        let Some(problem) = problem.filter(|p| p.rows() as f64 * sizes as f64 <= MOST_WORK) else { continue };
        let units = prepared.target_units.as_deref();
        // A learner may leave rows out of its design.
        let has_all = !is_test && design.readout().is_some() && design.rows() == problem.rows();
        let held = FoldTestRows {
            made: has_all.then(|| design.problem().columns()),
            ..FoldTestRows::new(problem, units, &prepared.train)
        };
        let mut each = |index: usize, c: TargetsAndPredictions<'_>| {
            let size = path.entries[index].subset.len();
            let Some(record) = records.iter_mut().find(|record| record.size == size) else { return Ok(()) };
            let known = |value: f64| value.is_finite().then_some(value);
            let mean = known(loss.mean(c.targets, c.predictions, c.weights));
            if is_test {
                record.test = mean;
                return Ok(());
            }
            record.train = mean;
            if prepared.is_regression() {
                let mse = Squared.mean(c.targets, c.predictions, c.weights);
                let unexplained = mse / variance(c.targets, c.weights);
                (record.mse, record.r2) = (known(mse), known(1.0 - unexplained));
                record.adjusted_r2 = adjusted_r2(unexplained, problem.labels().count(c.targets.ncols()), size);
            }
            Ok(())
        };
        match (&path.entries[..], path.chosen) {
            ([one], Some(0)) => held.compare(chosen, &predict_entry(&held, chosen, one)?, |c| each(0, c))?,
            _ => match design.problem().sign().ends(|| selector.path_predictions(design, path, &held, each)) {
                Err(Error::Stopped(_)) => break,
                done => done?,
            },
        }
    }
    Ok(())
}

/// Predictions of an entry's model, outputs × rows, in the user's units; reuses features that exist.
fn predict_entry(held: &FoldTestRows<'_>, model: &Model, entry: &PathEntry) -> Result<Array2<f64>> {
    let (Some(readout), Some(made)) = (model.coefficients(), held.made) else { return held.predict(model) };
    let features = made.select(&entry.subset);
    held.predict_with(model, readout, &features, held.smearing().map(|_| &features))
}

/// Adjusted R² from the unexplained share of the variance, for a model with an intercept; `None` without residual
/// degrees of freedom.
pub fn adjusted_r2(unexplained: f64, rows: f64, columns: usize) -> Option<f64> {
    let free = rows - columns as f64 - 1.0;
    Some(1.0 - unexplained * (rows - 1.0) / free).filter(|value| value.is_finite() && free > 0.0)
}

/// Maximum number of columns of a subset with degrees of freedom.
const MOST_COLUMNS: usize = 200;
/// Lower limit of an error in a logarithm, relative to that of the empty model.
const HIDDEN: f64 = vaglio_kernels::tolerance::HIDDEN_ERROR;

/// Fills in degrees of freedom, AICc, BIC and Cp of entries with known squared errors. Requires numeric targets and a
/// ridge readout that predicts every row. Cost O(m u²) for u columns on the path, and O((u + s) s²) per entry. Figures
/// beyond a [`PART`] of the run's budget and some 5 ms are left out.
pub fn step_figures(run: Run<'_>, records: &mut [EntryRecord]) -> Result<()> {
    let Run { prepared, selector, design, selection, .. } = run;
    let is_of_numbers = prepared.is_regression() && selector.model.is_none();
    let is_mapped = prepared.target_units.iter().flatten().any(|units| units.map.is_some());
    let Some(readout) = design.readout().filter(|readout| is_of_numbers && !readout.balanced && !is_mapped) else {
        return Ok(());
    };
    if prediction_units(design).is_some() || design.rows() != prepared.train.rows() {
        return Ok(());
    }
    let entries: Vec<&PathEntry> = selection
        .path
        .entries
        .iter()
        .filter(|entry| entry.fit == EntryFit::Readout && entry.subset.len() <= MOST_COLUMNS)
        .collect();
    let mut budget = PART * run.budget.max(LEAST_WORK);
    let subsets: Vec<&[Feature]> = entries.iter().map(|entry| &entry.subset[..]).collect();
    let Some(columns) = PathColumns::within(&mut budget, design, readout, &subsets)? else { return Ok(()) };
    let rows = design.problem().labels().count(design.rows());
    let problem = prepared.train_in_units()?;
    let empty = variance(problem.targets().view(), design.weights());
    let held = FoldTestRows::new(&problem, prepared.target_units.as_deref(), &prepared.train);
    let noise = noise(&held, design, readout, budget)?;
    for entry in entries {
        let size = entry.subset.len();
        let Some(record) = records.iter_mut().find(|record| record.size == size) else { continue };
        let Some(error) = record.mse.filter(|error| error.is_finite()) else { continue };
        let lambda = entry.score.lambda.unwrap_or(readout.lambdas[0]);
        let freedom = columns.freedom(&entry.subset, lambda)?;
        let logarithm = rows * error.max(HIDDEN * empty).ln();
        let count = freedom + 1.0;
        let left = rows - count - 1.0;
        let known = |value: f64| value.is_finite().then_some(value);
        record.freedom = known(freedom);
        record.aicc = if left > 0.0 { known(logarithm + 2.0 * count * rows / left) } else { None };
        record.bic = known(logarithm + rows.ln() * count);
        record.cp = noise.and_then(|noise| known(error + 2.0 * noise * freedom / rows));
    }
    Ok(())
}

fn factorization_error(failure: FactorizationError) -> Error {
    Error::Numerical(format!("the degrees of freedom of the path: {failure}; rescale or standardize the columns"))
}

/// σ̂² of the model of all candidates, if the rows and the budget allow one.
fn noise(held: &FoldTestRows<'_>, design: &Design, readout: &Readout, mut budget: f64) -> Result<Option<f64>> {
    let all = design.candidates();
    if all.len() > 2 * MOST_COLUMNS {
        return Ok(None);
    }
    let Some(columns) = PathColumns::within(&mut budget, design, readout, &[&all[..]])? else { return Ok(None) };
    let lambda = readout.lambdas[0];
    let rows = design.problem().labels().count(design.rows());
    let free = rows - columns.freedom(&all, lambda)?;
    if free < 1.0 {
        return Ok(None);
    }
    let model = train(design, &all, Some(lambda))?;
    let error = held.with_predictions(&model, |c| Squared.mean(c.targets, c.predictions, c.weights))?;
    Ok(Some(rows * error / free).filter(|noise| noise.is_finite()))
}

/// Columns of a path, centered if there is an intercept and times the root weights, reduced to a triangle.
struct PathColumns {
    triangle: Array2<f64>,
    place: HashMap<Feature, usize>,
    intercept: f64,
}

impl PathColumns {
    /// Reduces the columns; `None` if they and the degrees of freedom of all subsets exceed `budget` flops, which are
    /// subtracted.
    fn within(budget: &mut f64, design: &Design, readout: &Readout, subsets: &[&[Feature]]) -> Result<Option<Self>> {
        let order = order_features(subsets.iter().copied().flatten());
        let place = feature_places(&order);
        let rows = design.rows();
        let count = order.len();
        let subset_flops = |size: usize| 2.0 * (count + size) as f64 * (size * size) as f64;
        let subsets_flops: f64 = subsets.iter().map(|subset| subset_flops(subset.len())).sum();
        let flops = 2.0 * rows.max(count) as f64 * (count * count) as f64 + subsets_flops;
        if flops > *budget {
            return Ok(None);
        }
        *budget -= flops;
        let weights = training_weights(design, 0..rows);
        let weight = row_weights(weights.as_deref());
        // Zero rows change nothing.
        let mut columns = Array2::zeros((rows.max(count), count));
        for (mut to, &feature) in columns.columns_mut().into_iter().zip(&order) {
            let mut values = design.column(feature).values().to_vec();
            if readout.intercept {
                center((&mut values[..]).into(), weight, (0..rows).map(weight).sum());
            }
            to.iter_mut().zip(values).enumerate().for_each(|(row, (to, value))| *to = value * weight(row).sqrt());
        }
        let triangle =
            if count == 0 { columns } else { linalg::triangle(columns.view()).map_err(factorization_error)? };
        Ok(Some(PathColumns { triangle, place, intercept: f64::from(u8::from(readout.intercept)) }))
    }

    /// Effective degrees of freedom of a subset of the columns.
    fn freedom(&self, subset: &[Feature], lambda: f64) -> Result<f64> {
        let places: Vec<usize> = subset.iter().map(|feature| self.place[feature]).collect();
        let rows = places.iter().max().map_or(0, |last| last + 1);
        let own = self.triangle.slice(s![..rows, ..]).select(ndarray::Axis(1), &places);
        Ok(self.intercept + freedom::ridge(own.view(), lambda).map_err(factorization_error)?)
    }
}
