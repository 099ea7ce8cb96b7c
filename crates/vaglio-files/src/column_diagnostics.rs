//! Diagnostics of every column besides its scores in the result: alone, with others, and in plots.
//!
//! All figures are exact. Groups of figures are left out if their estimated work exceeds a sixteenth of the search and
//! some 5 ms; `vaglio explain` computes them then.

pub mod span;

use super::evaluations::drop_column::{LEAST_WORK, PART};
use super::evaluations::{EvaluationResults, Run};
use super::rows::evenly_spaced;
use super::train_test::TrainTest;
use super::trials::TrialDesign;
use span::ColumnSpan;
use vaglio_core::{Action, Design, Feature, Result, Score, SearchExtent, gather, row_weights, sum_of_products};
use vaglio_pipeline::maps::scaled_source;
use vaglio_pipeline::resampling::PooledPredictions;
use vaglio_report::record::{
    DrawnColumn, NearestStep, OutsideRecord, PredictionRows, Record, ResidualsRecord, WorstRow, class_of,
};

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
    let is_cheap = residual_flops(run.design, chosen.len()) <= PART * run.budget.max(LEAST_WORK);
    let mut shown = if is_cheap { residuals_record(run, chosen)? } else { None };
    if let Some((from, rows)) = largest_errors(run.prepared, found) {
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

/// Number of columns with a residual plot.
const DRAWN: usize = 12;
/// Number of rows per plot.
const ROWS: usize = 300;
/// Limit on evenly spaced rows whose residuals are computed.
const COMPUTED: usize = 1 << 20;
/// Limit on evenly spaced rows that a trend is computed from.
const TREND_ROWS: usize = 5000;
/// Number of groups of rows whose means form a trend.
const TREND_PARTS: usize = 10;
/// Number of worst rows that are listed.
const WORST: usize = 10;
/// Limit on outputs listed for each worst row.
const OUTPUTS: usize = 12;

/// Flops of [`residuals_record`].
fn residual_flops(design: &Design, size: usize) -> f64 {
    design.rows() as f64 * (2 * size + 40 * size.min(DRAWN)) as f64
}

/// Plots of partial residuals. `None` if: targets are classes; the model is not linear in the columns; the design's
/// columns are not those of the training rows; rows are condensed.
fn residuals_record(run: Run<'_>, chosen: &[Feature]) -> Result<Option<ResidualsRecord>> {
    let Run { prepared, design, selection, .. } = run;
    let train = &prepared.train;
    let is_of_rows = train.labels().counts.is_none() && design.problem().has_columns_of(train);
    let is_drawn = prepared.is_regression() && is_of_rows && !chosen.is_empty();
    let Some(readout) = selection.coefficients().filter(|_| is_drawn) else { return Ok(None) };
    let unit = prepared.target_units.as_ref().map_or(1.0, |units| units[0].scale.scale);
    let rows = train.rows();
    let model = selection.predictor();
    let fitted = model.predict(&train.columns().select(model.inputs()), train.series())?;
    let residuals: Vec<f64> = (0..rows).map(|row| (train.targets()[[0, row]] - fitted[[0, row]]) * unit).collect();
    let kept: Vec<usize> = evenly_spaced(rows, ROWS).collect();
    let weight = row_weights(design.weights());
    let column = |(k, &feature): (usize, &Feature)| {
        let (values, divisor) = column_values(prepared, design, feature);
        let known = evenly_spaced(rows, COMPUTED).filter(|&row| values[row].is_finite());
        let known: Vec<usize> = known.collect();
        let x = gather(&values, &known);
        let weights: Vec<f64> = known.iter().map(|&row| weight(row)).collect();
        let mean = sum_of_products(&weights, &x) / weights.iter().sum::<f64>();
        let center = if mean.is_finite() { mean } else { 0.0 };
        let slope = Some(readout.weights[[k, 0]] * unit / divisor).filter(|slope| slope.is_finite());
        let local_means = |slope: f64| {
            let partial = |(&row, x): (&usize, &f64)| residuals[row] + slope * (x - center);
            let residuals: Vec<f64> = known.iter().zip(&x).map(partial).collect();
            trend(&x, &residuals, &weights).into_iter().map(|point| point.map(round_to_six_digits)).collect()
        };
        let rounded_value = |row: &usize| Some(values[*row]).filter(|value| value.is_finite()).map(round_to_six_digits);
        DrawnColumn {
            index: feature,
            values: kept.iter().map(rounded_value).collect(),
            slope,
            center,
            trend: slope.map_or_else(Vec::new, local_means),
        }
    };
    Ok(Some(ResidualsRecord {
        columns: chosen.iter().enumerate().take(DRAWN).map(column).collect(),
        fitted: kept.iter().map(|&row| round_to_six_digits(residuals[row])).collect(),
        ..ResidualsRecord::default()
    }))
}

/// Values of a column of the training rows, NaN if missing, with the divisor that the maps applied to them: as read and
/// the maps' divisor, where maps only shift and divide and keep all rows; else as in the design and 1.
fn column_values(prepared: &TrainTest, design: &Design, feature: Feature) -> (Vec<f64>, f64) {
    let as_read = || {
        let (source, divisor) = scaled_source(&prepared.maps, &design.problem().names()[feature])?;
        let cells = prepared.sample.table()?.get(&source)?.numbers()?;
        (cells.len() == design.rows()).then_some((cells.values().into_owned(), divisor))
    };
    as_read().unwrap_or_else(|| (design.column(feature).values().into_owned(), 1.0))
}

/// Weighted means of value and partial residual over tenths of the rows in order of the value; rows of one value stay
/// together.
///
/// # Reference
/// W. A. Larsen, S. J. McCleary, *The use of partial residual plots in regression analysis*, Technometrics 14(3), 1972.
fn trend(x: &[f64], residuals: &[f64], weights: &[f64]) -> Vec<[f64; 2]> {
    let mut order: Vec<usize> = evenly_spaced(x.len(), TREND_ROWS).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]).then(a.cmp(&b)));
    let mut points = Vec::new();
    let mut start = 0;
    for part in 1..=TREND_PARTS {
        let mut end = (part * order.len() / TREND_PARTS).max(start);
        while end > start && end < order.len() && x[order[end]] == x[order[end - 1]] {
            end += 1;
        }
        if end > start {
            let mean = |values: &[f64]| {
                let weight: f64 = order[start..end].iter().map(|&row| weights[row]).sum();
                order[start..end].iter().map(|&row| weights[row] * values[row]).sum::<f64>() / weight
            };
            points.push([mean(x), mean(residuals)]);
            start = end;
        }
    }
    points.retain(|point| point.iter().all(|value| value.is_finite()));
    points
}

/// Rows with the largest errors when held out. `None` if there are none, or row numbers are unknown.
fn largest_errors(prepared: &TrainTest, found: &EvaluationResults) -> Option<(PredictionRows, Vec<WorstRow>)> {
    let (from, PooledPredictions { targets, predictions, places, .. }) = found.held_out.as_ref()?;
    let number = |row: usize| match from {
        PredictionRows::Test => Some(prepared.test_numbers.as_ref()?[row] + 1),
        _ => places.get(row).map(|&place| prepared.row_number(place as usize)),
    };
    let square = |row: usize| {
        let errors = targets.column(row).into_iter().zip(predictions.column(row)).map(|(y, p)| (y - p).powi(2));
        errors.sum::<f64>()
    };
    let squares = (0..targets.ncols()).map(|row| (square(row), row)).filter(|(square, _)| square.is_finite());
    let mut squares: Vec<(f64, usize)> = squares.collect();
    squares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let order = prepared.train.class_order();
    let worst = |&(_, row): &(f64, usize)| {
        Some(WorstRow {
            row: number(row)?,
            observed: if prepared.is_regression() {
                targets.column(row).iter().copied().take(OUTPUTS).collect()
            } else {
                vec![class_of(targets.column(row)) as f64]
            },
            predicted: match &order {
                None => predictions.column(row).iter().copied().take(OUTPUTS).collect(),
                Some(order) => vec![order.class_of(predictions.column(row)) as f64],
            },
        })
    };
    Some((*from, squares.iter().take(WORST).map(worst).collect::<Option<_>>()?))
}

/// Rounds to six digits, enough for a plot.
fn round_to_six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests;
