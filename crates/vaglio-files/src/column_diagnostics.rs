//! Diagnostics of every column besides its scores in the result: alone, with others, and in plots.
//!
//! All figures are exact. Groups of figures are left out if their estimated work exceeds a sixteenth of the search and
//! some 5 ms; `vaglio explain` computes them then.

pub mod residuals;
pub mod span;
pub mod step_trials;

use super::evaluations::drop_column::{LEAST_WORK, PART};
use super::evaluations::{EvaluationResults, Run};
use span::ColumnSpan;
use step_trials::StepTrials;
use vaglio_core::{Feature, Result};
use vaglio_report::record::{OutsideRecord, Record};

/// Limit on the columns outside the result that a record lists.
const MOST_OUTSIDE: usize = 1000;

/// Fills in the column diagnostics of a record.
pub fn record_columns(run: Run<'_>, found: &mut EvaluationResults) -> Result<()> {
    let chosen: Vec<Feature> = found.record.selected.iter().map(|column| column.index).collect();
    record_scores(run, &mut found.record, &chosen)?;
    record_residuals(run, found, &chosen)
}

/// Fills in scores of single columns, of columns outside at every step, and the variance that the chosen ones explain.
fn record_scores(run: Run<'_>, record: &mut Record, chosen: &[Feature]) -> Result<()> {
    let trials = &run.trials();
    let design = run.design;
    let mut budget = PART * run.budget;
    let work = |steps: usize| step_trials::flops(trials, steps);
    let steps = [chosen.len() + 1, 1].into_iter().find(|&steps| work(steps) <= budget);
    budget -= steps.map_or(0.0, work);
    let step_trials = StepTrials::new(trials, chosen, steps.unwrap_or(0))?;
    let alone = |feature: Feature| step_trials.alone[feature];
    let mut outside = trials.outside(chosen);
    outside.sort_by_key(|&feature| (alone(feature).map_or(usize::MAX, |(_, rank)| rank), feature));
    outside.truncate(MOST_OUTSIDE);
    let is_spanned = ColumnSpan::flops(design, chosen.len(), outside.len()) <= budget;
    let span = is_spanned.then(|| ColumnSpan::new(design, chosen));
    let inflation = span.as_ref().map(ColumnSpan::inflation).unwrap_or_default();
    for (k, column) in record.selected.iter_mut().enumerate() {
        column.alone = alone(column.index).map(|(score, _)| score);
        column.vif = inflation.get(k).copied().flatten();
    }
    let span = span.filter(|_| !chosen.is_empty());
    if steps.is_none() && span.is_none() {
        // No figure was affordable.
        return Ok(());
    }
    let explained: Option<Vec<f64>> =
        span.map(|span| span.correlations(design, &outside).iter().map(|column| span.r2(column)).collect());
    let outside_record = |(place, &index): (usize, &Feature)| OutsideRecord {
        index,
        name: design.problem().names()[index].clone(),
        alone: alone(index).map(|(score, _)| score),
        rank_alone: alone(index).map(|(_, rank)| rank),
        nearest: step_trials.nearest[index],
        explained: explained.as_ref().map(|explained| explained[place]),
    };
    record.outside = outside.iter().enumerate().map(outside_record).collect();
    Ok(())
}

fn record_residuals(run: Run<'_>, found: &mut EvaluationResults, chosen: &[Feature]) -> Result<()> {
    let is_cheap = residuals::flops(run.design, chosen.len()) <= PART * run.budget.max(LEAST_WORK);
    let mut shown = if is_cheap { residuals::residuals_record(run, chosen)? } else { None };
    if let Some((from, rows)) = residuals::largest(run.prepared, found) {
        let residuals = shown.get_or_insert_with(Default::default);
        (residuals.largest, residuals.largest_from) = (rows, Some(from));
    }
    found.record.report.residuals = shown;
    Ok(())
}

#[cfg(test)]
mod tests;
