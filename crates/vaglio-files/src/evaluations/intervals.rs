//! Prediction intervals from outer folds.

use super::Evaluation;
use vaglio_core::Result;
use vaglio_pipeline::pipeline::{FoldModel, SavedIntervals, needed_maps};
use vaglio_pipeline::resampling::OuterFoldFit;
use vaglio_report::record::Intervals;

/// Prediction intervals from the outer folds.
pub const EVALUATION: Evaluation = Evaluation::new("intervals", |run, found, _| {
    let (Some(level), Some(nested)) = (run.input.evaluate.intervals, &mut found.record.nested) else { return Ok(()) };
    found.intervals = Some(intervals(level, std::mem::take(&mut found.outer))?);
    nested.intervals = Some(Intervals { level });
    Ok(())
});

/// Intervals from the outer folds of the first repeat.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for too few rows of positive weight.
fn intervals(level: f64, outer: Vec<OuterFoldFit>) -> Result<SavedIntervals> {
    let folds = outer.into_iter().filter(|fold| fold.repeat == 0).map(|fold| {
        let residuals = residuals(&fold);
        let OuterFoldFit { target_units: target_scales, maps, columns, model, .. } = fold;
        let inputs: Vec<String> = model.inputs().iter().filter_map(|&feature| columns.get(feature)).cloned().collect();
        let (rows, maps) = (residuals.first().map_or(0, Vec::len), needed_maps(maps, &inputs));
        (rows, FoldModel { target_scales, maps, inputs, model, residuals })
    });
    let (rows, folds): (Vec<usize>, Vec<FoldModel>) = folds.unzip();
    SavedIntervals::check_rows(level, rows.into_iter().sum())?;
    Ok(SavedIntervals { level, folds })
}

/// Sorted absolute residuals of a fold's rows of positive weight, by output.
fn residuals(fold: &OuterFoldFit) -> Vec<Vec<f64>> {
    let counts = |row: &usize| fold.held.weights[*row] > 0.0;
    let output_residuals = |output: usize| {
        let residual = |row: usize| (fold.held.targets[[output, row]] - fold.held.predictions[[output, row]]).abs();
        let mut all: Vec<f64> = (0..fold.held.targets.ncols()).filter(counts).map(residual).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    (0..fold.held.targets.nrows()).map(output_residuals).collect()
}
