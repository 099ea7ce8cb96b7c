//! Learning curve: held-out loss of the whole procedure against the number of training rows.
//!
//! Subsets are a quarter, a half, three quarters and all of each outer fold's training rows, each within the next. They
//! consist of whole groups or series, stratified by class, in random order; time-ordered rows are taken nearest to the
//! held-out rows first. All subsets are tested on the same rows.

use super::{Evaluation, RepetitionInput, Repetitions};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use vaglio_core::shuffle::{random_order, stream};
use vaglio_core::{ErrorClass, Loss, Result, gather, number_labels, rows_by_label};
use vaglio_pipeline::resampling::{
    FoldLosses, Jobs, LossSums, OuterFoldFit, RepeatedSplits, Sample, Splitter, StageMonitor, TrainTestSplit,
    on_training_rows, outer_fold,
};
use vaglio_report::record::{LearningCurve, LearningPoint};

/// Shares of the training rows.
const SHARES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

const PARTS: u64 = 23;
const PREFIX: &str = "learning/";

/// Learning curve over outer folds. Cost: 1.5 procedures per fold, 2.5 without nested cross-validation.
pub const EVALUATION: Evaluation = Evaluation {
    plan: |plan| {
        // The outer folds are described already.
        Ok(plan.split_sentence(plan.evaluate.learning_folds().filter(|_| plan.evaluate.outer_folds().is_none())))
    },
    repetitions: Some(Repetitions {
        prefix: PREFIX,
        units: "points of the learning curve",
        planned: "the same on N parts of their training rows",
        is_one_search: false,
        count: |input| Ok(splits(input)?.map_or(0, |splits| splits.folds * shares(input).len())),
        repeat: |input, _, watcher| evaluate_shares(input, watcher).map(drop),
    }),
    ..Evaluation::new("learning", |run, found, watcher| {
        found.record.learning_curve = learning_curve(&run.input, &found.outer, watcher)?;
        Ok(())
    })
};

/// Shares that are not those of nested cross-validation.
fn shares(input: &RepetitionInput<'_>) -> &'static [f64] {
    &SHARES[..SHARES.len() - usize::from(input.evaluate.outer_folds().is_some())]
}

/// Outer folds of the curve, if it is asked for.
fn splits<'s>(input: &RepetitionInput<'s>) -> Result<Option<RepeatedSplits<'s>>> {
    let how = input.evaluate.learning_folds();
    let splits = how.map(|how| input.sample.outer_splits(input.selector, &how)).transpose();
    splits.map_err(|error| error.under("evaluate.learning_curve"))
}

/// The procedure on a subset of a fold's training rows.
#[derive(Serialize, Deserialize)]
struct LearningCurvePoint {
    rows: usize,
    /// Held-out losses and number of selected columns, or the reason why so few rows do not suffice.
    found: Result<(LossSums, usize), String>,
}

/// Outer folds, and held-out losses for the shares of every fold's training rows, fold by fold. `None` if they are not
/// asked for, if stopped, or if some belong to another process.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for impossible folds; errors of the procedure on all training rows of a fold.
fn evaluate_shares<'s>(
    input: &RepetitionInput<'s>,
    watcher: &StageMonitor<'_>,
) -> Result<Option<(RepeatedSplits<'s>, Vec<LearningCurvePoint>)>> {
    let RepetitionInput { selector, sample, .. } = *input;
    let loss = &*selector.loss(sample.task());
    let Some(splits) = splits(input)? else { return Ok(None) };
    let shares = shares(input);
    let jobs = Jobs::new(PREFIX, splits.folds * shares.len());
    let done = jobs.run("learning curve", &selector.slots, watcher, |job, subtask| {
        let fold = job / shares.len();
        let share = shares[job % shares.len()];
        let mut part = splits.split(fold);
        let order = order(sample, &splits.splitter, &part, stream(selector.seed, PARTS, fold as u64));
        part.training = first_units(sample, order, share);
        let rows = part.training.len();
        let point = |found| Some(LearningCurvePoint { rows, found });
        match outer_fold(selector, sample, &part, subtask) {
            Ok(outer) => Ok(outer.and_then(|outer| point(Ok((outer.loss_sums(loss), outer.selected.len()))))),
            Err(error) if share < 1.0 && error.class() != ErrorClass::Numerical => Ok(point(Err(error.to_string()))),
            Err(error) => Err(on_training_rows(error, &format!("fold {} of the learning curve", fold + 1))),
        }
    })?;
    Ok(done.map(|done| (splits, done)))
}

/// Learning curve; the outer folds of nested cross-validation serve for the full share. `None` if it is not asked for,
/// or if stopped.
fn learning_curve(
    input: &RepetitionInput<'_>,
    outer: &[OuterFoldFit],
    watcher: &StageMonitor<'_>,
) -> Result<Option<LearningCurve>> {
    let loss = &*input.selector.loss(input.sample.task());
    let Some((splits, done)) = evaluate_shares(input, watcher)? else { return Ok(None) };
    let shares = shares(input);
    let mut points_by_share: Vec<Vec<LearningCurvePoint>> = SHARES.iter().map(|_| Vec::new()).collect();
    done.into_iter().enumerate().for_each(|(job, learned)| points_by_share[job % shares.len()].push(learned));
    for outer in outer.iter().filter(|fold| fold.repeat == 0) {
        let rows = splits.split(outer.fold).training.len();
        let found = Ok((outer.loss_sums(loss), outer.selected.len()));
        points_by_share[SHARES.len() - 1].push(LearningCurvePoint { rows, found });
    }
    let folds = splits.folds;
    let splits = splits.splitter.resampling().map(|splits| splits.sentence());
    Ok(Some(LearningCurve { folds, splits, points: curve_points(loss, &points_by_share)? }))
}

/// Curve points, each with the decrease in loss from the previous point.
fn curve_points(loss: &dyn Loss, points_by_share: &[Vec<LearningCurvePoint>]) -> Result<Vec<LearningPoint>> {
    let mut before: Option<(f64, FoldLosses<'_>)> = None;
    let mut points = Vec::new();
    for (share, folds) in SHARES.into_iter().zip(points_by_share) {
        let count = folds.len().max(1) as f64;
        let mean = |sum: usize| sum as f64 / count;
        let rows = mean(folds.iter().map(|fold| fold.rows).sum());
        let mut point = LearningPoint { share, rows, ..LearningPoint::default() };
        match folds.iter().map(|fold| fold.found.as_ref()).collect::<Result<Vec<_>, _>>() {
            Err(message) => point.refused = Some(message.clone()),
            Ok(found) => {
                point.size = Some(mean(found.iter().map(|(_, size)| size).sum()));
                let losses = FoldLosses::new(found.into_iter().map(|(losses, _)| losses), 1);
                let (value, error) = losses.pooled_mean(loss)?;
                (point.loss, point.standard_error) = (Some(value), error);
                if let Some((earlier, earlier_losses)) = &before {
                    point.gain = Some(earlier - value).filter(|gain| gain.is_finite());
                    point.gain_error = earlier_losses.difference(loss, &losses);
                }
                before = Some((value, losses));
            }
        }
        points.push(point);
    }
    Ok(points)
}

/// Training rows in the order of use, in units that stay together.
fn order(sample: &Sample, splitter: &Splitter, part: &TrainTestSplit, seed: u64) -> Vec<Vec<usize>> {
    let training = &part.training;
    let is_forward = splitter.resampling().is_some_and(|splits| splits.around_search(1).is_some());
    if sample.ordered || is_forward {
        return nearest(sample, part);
    }
    if let Some(labels) = sample.labels() {
        let units = rows_by_label(&number_labels(training.iter().map(|&row| labels[row])).0);
        let rows = |unit: usize| gather(training, &units[unit]);
        return random_order(units.len(), seed).into_iter().map(rows).collect();
    }
    let drawn = gather(training, &random_order(training.len(), seed));
    let Some(classes) = sample.classes() else { return drawn.into_iter().map(|row| vec![row]).collect() };
    let mut places = places(&drawn, |row| classes[row] as u32);
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    places.into_iter().map(|(_, row)| vec![row]).collect()
}

/// Time-ordered rows, nearest to the held-out rows first; series take turns.
fn nearest(sample: &Sample, part: &TrainTestSplit) -> Vec<Vec<usize>> {
    let label = |row: usize| sample.labels().map_or(0, |labels| labels[row]);
    let mut held: HashMap<u32, (usize, usize)> = HashMap::new();
    for &row in &part.held {
        let ends = held.entry(label(row)).or_insert((row, row));
        *ends = (ends.0.min(row), ends.1.max(row));
    }
    let last = part.training.last().map_or(0, |last| last + 1);
    let distance = |row: usize| {
        let (first, end) = held.get(&label(row)).copied().unwrap_or((last, last));
        first.saturating_sub(row).max(row.saturating_sub(end))
    };
    let mut rows = part.training.clone();
    rows.sort_by_key(|&row| (distance(row), row));
    let mut places = places(&rows, label);
    places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    places.into_iter().map(|(_, row)| vec![row]).collect()
}

/// Position of each row among the rows of its label, in this order, as a share of these rows.
fn places(rows: &[usize], label: impl Fn(usize) -> u32) -> Vec<(f64, usize)> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    rows.iter().for_each(|&row| *counts.entry(label(row)).or_default() += 1);
    let mut seen: HashMap<u32, usize> = HashMap::new();
    let place = |&row: &usize| {
        let seen = seen.entry(label(row)).or_default();
        *seen += 1;
        ((*seen as f64 - 0.5) / counts[&label(row)] as f64, row)
    };
    rows.iter().map(place).collect()
}

/// Rows of the first units up to a share of all rows, at least one unit, sorted.
fn first_units(sample: &Sample, units: Vec<Vec<usize>>, share: f64) -> Vec<usize> {
    let rows: usize = units.iter().map(Vec::len).sum();
    let wanted = (share * rows as f64).ceil().max(1.0) as usize;
    let mut taken: Vec<usize> = Vec::with_capacity(wanted.min(sample.rows()));
    for unit in units {
        if taken.len() >= wanted {
            break;
        }
        taken.extend(unit);
    }
    taken.sort_unstable();
    taken
}

#[cfg(test)]
mod tests;
