//! Diagnostics of every column besides its scores in the result: alone, with others, over folds, and in plots.
//!
//! All figures are exact. Groups of figures are left out if their estimated work exceeds a sixteenth of the search and
//! some 5 ms; `vaglio explain` computes them then.

pub(super) mod cells;
pub(super) mod residuals;
pub(super) mod span;
pub(super) mod step_trials;

use super::drop_column::{LEAST_WORK, PART};
use super::evaluation::Evaluations;
use super::run_context::Run;
use super::train_test::TrainTest;
use cells::histogram;
use span::ColumnSpan;
use step_trials::StepTrials;
use vaglio_core::{Design, Error, Feature, Result};
use vaglio_pipeline::pipeline::Evaluate;
use vaglio_pipeline::resampling::OuterFolds;
use vaglio_pipeline::resampling::held_out_predictions::chosen_parts;
use vaglio_pipeline::resampling::split_rule::TrainTestSplit;
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::{ConstantIn, OutsideRecord, Record, SimilarColumn};
use vaglio_search::CrossValidation;

/// Limit on the columns outside the result that a record lists.
const MOST_OUTSIDE: usize = 1000;

/// Fills in the column diagnostics of a record; an interrupted run gets none.
///
/// # Errors
/// Returns the errors of the criterion's scores and of predictions.
pub(super) fn record_columns(run: Run<'_>, found: &mut Evaluations) -> Result<()> {
    if found.record.stop_reason.is_partial() {
        return Ok(());
    }
    let chosen: Vec<Feature> = found.record.selected.iter().map(|column| column.index).collect();
    match record_scores(run, &mut found.record, &chosen) {
        Err(Error::Stopped(_)) => return Ok(()),
        done => done?,
    }
    record_cells(run, found);
    record_residuals(run, found, &chosen)
}

/// Fills in scores of single columns, of columns outside at every step, and the variance that the chosen ones explain.
fn record_scores(run: Run<'_>, record: &mut Record, chosen: &[Feature]) -> Result<()> {
    let Run { prepared, selector, design, .. } = run;
    let mut budget = PART * run.budget;
    let steps = [chosen.len() + 1, 1].into_iter().find(|&steps| step_trials::flops(selector, design, steps) <= budget);
    budget -= steps.map_or(0.0, |steps| step_trials::flops(selector, design, steps));
    let walked = steps.map(|steps| StepTrials::new(selector, design, chosen, steps)).transpose()?;
    let alone = |feature: Feature| walked.as_ref().and_then(|walked| walked.alone[feature]);
    let mut outside: Vec<Feature> = design.candidates().into_iter().filter(|f| !chosen.contains(f)).collect();
    outside.sort_by_key(|&feature| (alone(feature).map_or(usize::MAX, |(_, rank)| rank), feature));
    outside.truncate(MOST_OUTSIDE);
    let span =
        (ColumnSpan::flops(design, chosen.len(), outside.len()) <= budget).then(|| ColumnSpan::new(design, chosen));
    let spanned = span.as_ref().filter(|_| !chosen.is_empty()).map(|span| span.relate(design, &outside));
    let inflation = span.map(|span| span.inflation()).unwrap_or_default();
    for (k, column) in record.selected.iter_mut().enumerate() {
        column.alone = alone(column.index).map(|(score, _)| score);
        column.vif = inflation.get(k).copied().flatten();
    }
    if walked.is_none() && spanned.is_none() {
        // No figure was affordable.
        return Ok(());
    }
    let parts = parts_of(selector, prepared, design, run.selection.chosen.folds.as_ref(), run.evaluate())?;
    let of_outside = |(place, &index): (usize, &Feature)| {
        let name = record.candidates.get(index).cloned().unwrap_or_default();
        let spanned = spanned.as_ref().map(|spanned| &spanned[place]);
        OutsideRecord {
            index,
            alone: alone(index).map(|(score, _)| score),
            rank_alone: alone(index).map(|(_, rank)| rank),
            nearest: walked.as_ref().and_then(|walked| walked.nearest[index]),
            explained: spanned.map(|spanned| spanned.explained),
            most_alike: spanned.and_then(|spanned| most_alike(chosen, &spanned.correlations)),
            constant_in: constant_columns(design, &parts, index),
            missing: prepared.missing_share(&name),
            name,
        }
    };
    record.outside = outside.iter().enumerate().map(of_outside).collect();
    Ok(())
}

/// Fills in missing shares, histograms and weights over folds.
fn record_cells(run: Run<'_>, found: &mut Evaluations) {
    for column in &mut found.record.selected {
        column.missing = Some(run.prepared.missing_share(&column.name));
        column.histogram = histogram(&run.prepared.column_values(run.design, column.index));
        let own = column.weight.as_ref();
        column.over_folds = own.and_then(|own| found.outer_weights.spread(&column.name, own));
    }
}

fn record_residuals(run: Run<'_>, found: &mut Evaluations, chosen: &[Feature]) -> Result<()> {
    let is_cheap = residuals::flops(run.design, chosen.len()) <= PART * run.budget.max(LEAST_WORK);
    let mut shown = if is_cheap { residuals::drawn(run, chosen, found)? } else { None };
    if let Some((from, rows)) = residuals::largest(run, found)? {
        let residuals = shown.get_or_insert_with(Default::default);
        (residuals.largest, residuals.largest_from) = (rows, Some(from));
    }
    found.record.report.residuals = shown;
    Ok(())
}

/// Splits of the first repeat: of the folds that choose, and of the outer ones. Empty if maps leave rows out.
///
/// # Errors
/// [`Error::Setting`] for impossible splits.
pub(super) fn parts_of(
    selector: &ValidSelector,
    prepared: &TrainTest,
    design: &Design,
    choose: Option<&CrossValidation>,
    evaluate: &Evaluate,
) -> Result<[Vec<TrainTestSplit>; 2]> {
    let sample = &prepared.sample;
    if sample.rows() != design.rows() {
        return Ok([Vec::new(), Vec::new()]);
    }
    let of_search = choose.map(|how| chosen_parts(selector, sample, how)).transpose()?;
    let of_outer = |how: OuterFolds| {
        let splits = OuterFolds { repeats: 1, ..how }.outer_splits(selector, sample);
        splits.map(|splits| splits.all().collect()).map_err(|error| error.under("evaluate.nested"))
    };
    let outer = evaluate.outer_folds().map(of_outer).transpose()?;
    Ok([of_search.unwrap_or_default(), outer.unwrap_or_default()])
}

/// Folds in which a column is constant.
pub(super) fn constant_columns(
    design: &Design,
    [choose, nested]: &[Vec<TrainTestSplit>; 2],
    feature: Feature,
) -> ConstantIn {
    ConstantIn { choose: constant_in(design, choose, feature), nested: constant_in(design, nested, feature) }
}

/// Folds, from 1, with constant training values of a column. Cost at most O(rows · folds); the first rows of a
/// varying column decide.
fn constant_in(design: &Design, parts: &[TrainTestSplit], feature: Feature) -> Vec<usize> {
    let column = design.column(feature);
    let is_constant = |part: &TrainTestSplit| {
        let mut values = part.training.iter().filter(|row| **row < design.rows()).map(|&row| column.get(row));
        let first = values.next();
        values.all(|value| Some(value) == first)
    };
    (1..).zip(parts).filter(|(_, part)| is_constant(part)).map(|(number, _)| number).collect()
}

/// The chosen column with the largest correlation, the first if tied.
pub(super) fn most_alike(chosen: &[Feature], correlations: &[f64]) -> Option<SimilarColumn> {
    let known = chosen.iter().zip(correlations).map(|(&index, &correlation)| SimilarColumn { index, correlation });
    known.reduce(|best, other| if other.correlation.abs() > best.correlation.abs() { other } else { best })
}

#[cfg(test)]
mod tests;
