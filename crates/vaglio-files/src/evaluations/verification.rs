//! Verifies scores of a search by plain retraining.

use super::{Evaluation, Run};
use vaglio_core::shuffle::{random_order, stream};
use vaglio_core::{Design, Error, Result, Task};
use vaglio_kernels::tolerance::{VERIFIED_ERROR, VERIFIED_SCALE};
use vaglio_pipeline::resampling::{Selection, StageMonitor};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::Verified;
use vaglio_search::{EntryFit, PathEntry};

const PURPOSE: u64 = 9;
/// Losses that depend on residuals only.
const OF_RESIDUALS: [&str; 4] = ["squared", "absolute", "huber", "pinball"];

/// Recomputes the scores of random steps of the search by plain retraining.
pub const EVALUATION: Evaluation = Evaluation::new("verify", |run, found, watcher| {
    if let Some(count) = run.verify {
        found.record.verify = verify_steps(run, count, watcher)?;
    }
    Ok(())
});

/// Recomputes the scores of `count` random steps of the search by [`vaglio_core::Criterion::evaluate`]; `None` if
/// stopped.
///
/// Cost of each: retraining for every held-out row or fold.
///
/// # Errors
/// [`Error::Numerical`] for a score that is off by more than 1e-6; [`Error::Setting`] if entries have coefficients of
/// their own.
fn verify_steps(run: Run<'_>, count: usize, watcher: &StageMonitor<'_>) -> Result<Option<Verified>> {
    let Run { selector, design, selection, .. } = run;
    let path = &selection.path;
    if path.entries.iter().any(|entry| matches!(entry.fit, EntryFit::Coefficients(_))) {
        let message = "the scores of a least-angle path with `coefficients: path` are of its own coefficients, which no retraining gives; leave it out";
        return Err(Error::setting("--verify", message));
    }
    let scores = random_steps(count, selector, selection);
    let empty = path.empty.loss;
    let loss = selector.criterion.traits().loss;
    let is_of_residuals = loss.is_some_and(|loss| OF_RESIDUALS.contains(&loss.kind()));
    let design = &if is_of_residuals { center_targets(design)? } else { design.clone() };
    let errors = watcher.jobs("verify", scores.len(), |at| {
        let (_, entry) = &scores[at];
        let defined = selector.criterion.evaluate(design, &entry.subset)?.loss;
        Ok(Some((relative_error(entry.score.loss, defined, empty), defined)))
    })?;
    let Some(errors) = errors else { return Ok(None) };
    let worst = scores.iter().zip(&errors).max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
    let Some(((number, entry), &(error, defined))) = worst else {
        return Ok(Some(Verified { steps: 0, max_relative_error: 0.0 }));
    };
    if error > VERIFIED_ERROR {
        let what = if path.steps.is_empty() { "the subset of size" } else { "step" };
        let loss = entry.score.loss;
        return Err(Error::Numerical(format!(
            "{what} {number}: the score {loss:e} is {defined:e} by plain retraining, which is off by {error:.1e}"
        )));
    }
    Ok(Some(Verified { steps: errors.len(), max_relative_error: error }))
}

/// Subtracts the mean of each output from numerical targets if there is an intercept, which absorbs it. Residuals then
/// keep the digits that predictions far from 0 lose.
fn center_targets(design: &Design) -> Result<Design> {
    if *design.problem().task() != Task::Regression || !design.has_intercept() {
        return Ok(design.clone());
    }
    let mut targets = design.targets().to_owned();
    for mut row in targets.rows_mut() {
        let mean = row.mean().unwrap_or(0.0);
        row -= mean;
    }
    let centered = design.problem().with_targets(targets)?;
    Ok(design.with_problem(|_| centered))
}

/// Entries of random steps with the number of each, from 1; of a path without steps its entries with their size.
fn random_steps(count: usize, selector: &ValidSelector, selection: &Selection) -> Vec<(usize, PathEntry)> {
    let path = &selection.path;
    let all = if path.steps.is_empty() { path.entries.len() } else { path.steps.len() };
    let mut places = random_order(all, stream(selector.seed, PURPOSE, 0));
    places.truncate(count);
    places.sort_unstable();
    let mut subset = path.start();
    let scores = (0..all).filter_map(|place| {
        let step = path.steps.get(place);
        if let Some(step) = step {
            step.follow(&mut subset);
        }
        places.binary_search(&place).ok()?;
        Some(match step {
            Some(step) => (place + 1, PathEntry::new(subset.clone(), step.score)),
            None => (path.entries[place].subset.len(), path.entries[place].clone()),
        })
    });
    scores.collect()
}

/// Error of a score relative to its definition, or to what rounding leaves of the empty model's score.
pub fn relative_error(loss: f64, defined: f64, empty: f64) -> f64 {
    if loss == defined {
        return 0.0;
    }
    let scale = if empty.is_finite() { defined.abs().max(VERIFIED_SCALE * empty.abs()) } else { defined.abs() };
    let error = (loss - defined).abs() / scale;
    if error.is_nan() { f64::INFINITY } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_parts_of_the_score_or_of_what_rounding_leaves() {
        assert_eq!(relative_error(1.0, 1.0, 2.0), 0.0);
        assert_eq!(relative_error(f64::INFINITY, f64::INFINITY, 1.0), 0.0);
        assert_eq!(relative_error(1.5, 1.0, 2.0), 0.5);
        assert!((relative_error(2e-30, 1e-30, 1.0) - 1e-20).abs() < 1e-30);
        for (loss, defined) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, f64::INFINITY)] {
            assert!(relative_error(loss, defined, 1.0) > VERIFIED_ERROR, "{loss} {defined}");
        }
    }
}
