//! Prediction intervals from outer folds.

use super::evaluation::Evaluation;
use super::rows::stride;
use super::train_test::TrainTest;
use ndarray::Array2;
use rayon::prelude::*;
use vaglio_core::{Problem, Result, select_rows};
use vaglio_pipeline::pipeline::{FoldModel, SavedIntervals, bounds};
use vaglio_pipeline::resampling::OuterFoldFit;
use vaglio_pipeline::resampling::path_predictions::FoldTestRows;
use vaglio_report::record::Intervals;

/// Limit on rows whose interval widths are computed.
const MOST_WIDTHS: usize = 2000;

/// Prediction intervals from the outer folds.
pub(super) const EVALUATION: Evaluation = Evaluation::new("intervals", |run, found, _| {
    let (Some(level), Some(nested)) = (run.evaluate().intervals, &mut found.record.nested) else { return Ok(()) };
    let (saved, record) = intervals(level, std::mem::take(&mut found.outer), run.prepared)?;
    (found.intervals, nested.intervals) = (Some(saved), Some(record));
    Ok(())
});

/// Computes intervals from the outer folds of the first repeat, and their record.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for too few rows of positive weight; errors of prediction.
fn intervals(level: f64, outer: Vec<OuterFoldFit>, prepared: &TrainTest) -> Result<(SavedIntervals, Intervals)> {
    let first: Vec<OuterFoldFit> = outer.into_iter().filter(|fold| fold.repeat == 0).collect();
    let residuals: Vec<Vec<Vec<f64>>> = first.iter().map(residuals).collect();
    SavedIntervals::check_rows(level, residuals.iter().filter_map(|of_fold| of_fold.first()).map(Vec::len).sum())?;
    let figures = figures(level, &first, &residuals, prepared)?;
    let folds = first.into_iter().zip(residuals).map(|(fold, residuals)| {
        let OuterFoldFit { target_units, maps, columns, model, .. } = fold;
        let inputs = model.inputs().iter().filter_map(|&feature| columns.get(feature)).cloned().collect();
        FoldModel::new(target_units, maps, inputs, model, residuals)
    });
    Ok((SavedIntervals { level, folds: folds.collect() }, figures))
}

/// Sorted absolute residuals of a fold's rows of positive weight, by output.
fn residuals(fold: &OuterFoldFit) -> Vec<Vec<f64>> {
    let counts = |row: &usize| fold.held.weights[*row] > 0.0;
    let of_output = |output: usize| {
        let residual = |row: usize| (fold.held.targets[[output, row]] - fold.held.predictions[[output, row]]).abs();
        let mut all: Vec<f64> = (0..fold.held.targets.ncols()).filter(counts).map(residual).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    (0..fold.held.targets.nrows()).map(of_output).collect()
}

/// Widths and coverage on test rows, else widths on training rows.
fn figures(level: f64, outer: &[OuterFoldFit], residuals: &[Vec<Vec<f64>>], prepared: &TrainTest) -> Result<Intervals> {
    let problem = |fold: &OuterFoldFit| match &prepared.test_source {
        Some((rows, recipe)) => recipe.apply(rows.clone(), &fold.maps, &fold.columns),
        None => prepared.sample.apply(&fold.maps, &fold.columns, None),
    };
    let is_test = prepared.test_source.is_some();
    let predicted = |fold: &OuterFoldFit| -> Result<(Array2<f64>, Problem, Option<Vec<f64>>)> {
        let problem = problem(fold)?;
        let held = FoldTestRows { problem: &problem, units: fold.target_units.as_deref(), training: None, made: None };
        let model = &fold.model;
        let values = held.predicted(model)?;
        let counts = held.compare(model, &values, |compared| compared.weights.map(<[f64]>::to_vec));
        let every = stride(values.ncols(), MOST_WIDTHS);
        let kept: Vec<usize> = (0..values.ncols()).step_by(if is_test { 1 } else { every }).collect();
        Ok((select_rows(&values, &kept), problem, counts))
    };
    let all: Vec<(Array2<f64>, Problem, Option<Vec<f64>>)> = outer.par_iter().map(predicted).collect::<Result<_>>()?;
    let centers: Vec<Array2<f64>> = all.iter().map(|(centers, ..)| centers.clone()).collect();
    let bounds = bounds(level, &centers, &residuals.iter().collect::<Vec<_>>())?;
    let test = all.first().filter(|_| is_test);
    Ok(Intervals {
        level,
        width: bounds.median_widths(),
        test_coverage: test.map(|(_, problem, counts)| bounds.coverage(problem.targets(), counts.as_deref())),
    })
}
