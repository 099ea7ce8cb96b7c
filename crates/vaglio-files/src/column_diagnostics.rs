//! Diagnostics of every column besides its scores in the result: alone, with others, and in plots.
//!
//! All figures are exact. Groups of figures are left out if their estimated work exceeds a sixteenth of the search and
//! some 5 ms; `vaglio explain` computes them then.

pub mod residuals;
pub mod span;

use super::evaluations::drop_column::{LEAST_WORK, PART};
use super::evaluations::{EvaluationResults, Run};
use super::trials::TrialDesign;
use span::ColumnSpan;
use vaglio_core::{Action, Design, Feature, Result, Score, SearchExtent};
use vaglio_report::record::{NearestStep, OutsideRecord, Record};

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
    let work = |steps: usize| trials.flops(&extent(design, steps));
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

/// Trials of all candidates added to the first columns of a result, in order of entry.
pub struct StepTrials {
    /// Score of each column alone and its rank, by index; `None` for a column that is no candidate.
    pub alone: Vec<Option<(f64, usize)>>,
    /// Step at which each column came nearest, by index; `None` if only single columns were tried.
    pub nearest: Vec<Option<NearestStep>>,
    /// Score of the result with each column added, by index; the worst if not tried.
    pub added: Vec<Score>,
}

/// Search extent of step trials: every candidate added to the first k columns, for k from 0.
fn extent(design: &Design, steps: usize) -> SearchExtent {
    SearchExtent::forward(design.candidates().len(), steps)
}

impl StepTrials {
    /// Adds each candidate to the first 0, 1, … columns of the result, for `steps` prefixes: at most one more than the
    /// result has columns. With fewer, no column has a nearest step; with 0, none has a score alone.
    pub fn new(trials: &TrialDesign<'_>, chosen: &[Feature], steps: usize) -> Result<Self> {
        let columns = trials.design.features();
        let mut step_trials =
            StepTrials { alone: vec![None; columns], nearest: vec![None; columns], added: vec![Score::WORST; columns] };
        if steps == 0 {
            return Ok(step_trials);
        }
        let mut subset = trials.scorer(&extent(&trials.design, steps))?;
        for k in 0..steps.min(chosen.len() + 1) {
            let open = trials.outside(&chosen[..k]);
            let scores = subset.scores(Action::Add, &open)?;
            if k == chosen.len() {
                open.iter().zip(&scores).for_each(|(&feature, score)| step_trials.added[feature] = *score);
            }
            let mut ranked: Vec<(f64, Feature)> = scores.iter().map(|score| score.loss).zip(open).collect();
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let taken = match chosen.get(k) {
                Some(next) => ranked.iter().find(|(_, feature)| feature == next).map(|(loss, _)| *loss),
                None => Some(subset.score()?.loss),
            };
            for (place, &(loss, feature)) in ranked.iter().enumerate().filter(|(_, (loss, _))| loss.is_finite()) {
                if k == 0 {
                    step_trials.alone[feature] = Some((loss, place + 1));
                }
                let nearest = &mut step_trials.nearest[feature];
                let above = taken.map(|taken| loss - taken).filter(|above| above.is_finite());
                if let (true, Some(above)) = (nearest.is_none_or(|nearest| place + 1 < nearest.rank), above) {
                    *nearest = Some(NearestStep { step: k + 1, rank: place + 1, above });
                }
            }
            if k + 1 < steps && k < chosen.len() {
                subset.add(chosen[k])?;
            }
        }
        if steps <= chosen.len() {
            step_trials.nearest.fill(None);
        }
        Ok(step_trials)
    }
}

#[cfg(test)]
mod tests;
