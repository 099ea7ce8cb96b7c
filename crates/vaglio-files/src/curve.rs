//! Losses of the models along a path, on training and on test rows.

use super::run_context::Run;
use ndarray::Array2;
use vaglio_core::{Error, Loss, Model, Result, Squared};
use vaglio_pipeline::resampling::loss_sums::TargetsAndPredictions;
use vaglio_pipeline::resampling::path_predictions::{FoldTestRows, PathModels};
use vaglio_report::record::{EntryRecord, variance};
use vaglio_search::PathEntry;

/// Budget of predicting training rows by every model, in multiply-adds.
const MOST_WORK: f64 = 1e11;

/// Fills in the losses of each entry's model.
///
/// # Errors
/// Returns the errors of the fits.
pub(super) fn curve(run: Run<'_>, records: &mut [EntryRecord]) -> Result<()> {
    let Run { prepared, selector, design, selection, .. } = run;
    let loss = &*run.loss();
    let (path, chosen) = (&selection.path, selection.predictor());
    let sizes: usize = path.entries.iter().map(|entry| entry.subset.len()).sum();
    let train = prepared.train_in_units()?;
    let problems = [(Some(&train), false), (prepared.test.as_ref(), true)];
    for (problem, is_test) in problems {
        let Some(problem) = problem.filter(|p| p.rows() as f64 * sizes as f64 <= MOST_WORK) else { continue };
        let units = prepared.target_units.as_deref();
        // A learner may leave rows out of its design.
        let has_all = !is_test && design.readout().is_some() && design.rows() == problem.rows();
        let held = FoldTestRows {
            made: has_all.then(|| design.columns()),
            ..FoldTestRows::new(problem, units, &prepared.train)
        };
        let mut each = |index: Option<usize>, c: TargetsAndPredictions<'_>| {
            let Some(index) = index else { return Ok(()) };
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
                record.adjusted_r2 = adjusted_r2(unexplained, c.targets.ncols() as f64, size);
            }
            Ok(())
        };
        match (&path.entries[..], path.chosen) {
            ([one], Some(0)) => held.compare(chosen, &predicted(&held, chosen, one)?, |c| each(Some(0), c))?,
            _ => {
                let (entries, empty_lambda, stop) = (&path.entries[..], path.empty.lambda, design.problem().sign());
                let models = PathModels { design, entries, empty_lambda, reduced: None };
                match stop.ends(|| selector.predictions(models, stop, &held, each)) {
                    Err(Error::Stopped(_)) => break,
                    done => done?,
                }
            }
        }
    }
    Ok(())
}

/// Predictions of an entry's model, outputs × rows, in the user's units; reuses features that exist.
fn predicted(held: &FoldTestRows<'_>, model: &Model, entry: &PathEntry) -> Result<Array2<f64>> {
    let (Some(readout), Some(made)) = (model.coefficients(), held.made) else { return held.predicted(model) };
    let features = made.select(&entry.subset);
    held.predicted_with(model, readout, &features, held.smearing().map(|_| &features))
}

/// Adjusted R² from the unexplained share of the variance, for a model with an intercept; `None` without residual
/// degrees of freedom.
pub(super) fn adjusted_r2(unexplained: f64, rows: f64, columns: usize) -> Option<f64> {
    let free = rows - columns as f64 - 1.0;
    Some(1.0 - unexplained * (rows - 1.0) / free).filter(|value| value.is_finite() && free > 0.0)
}
