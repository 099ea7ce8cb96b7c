//! Tuning of the learner's settings by the criterion, before the search.
//!
//! [`Tune`] is the `tune` block of a pipeline. Argmin's solvers choose points of the unit cube (`solvers`). They map to
//! settings of the learner (`setting`), each scored once (`ledger`).
//!
//! # Example
//! ```
//! use linfa::prelude::*;
//! use ndarray::array;
//! use vaglio::{Pipeline, criteria::Loo, learners::Rls, search::Greedy, tune::Tune};
//!
//! let x = array![[1.0, 0.3, 5.0], [2.0, -0.1, 3.0], [3.0, 0.2, 8.0], [4.0, 0.0, 1.0], [5.0, -0.4, 2.0]];
//! let dataset = Dataset::new(x, array![1.1, 2.0, 2.9, 4.2, 5.0]);
//! let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default())
//!     .tune(Tune::new(20).log("learner.lambda", 1e-3..=1e3));
//! assert_eq!(pipeline.fit(&dataset)?.selected(), ["feature-0"]);
//! # Ok::<(), vaglio::FitError>(())
//! ```

#![cfg_attr(not(feature = "tune"), allow(dead_code, unused_variables))]

mod bounds;
mod ledger;
mod request;
mod setting;
#[cfg(feature = "tune")]
mod solvers;

pub use request::Tune;

use crate::final_fit::subset_score;
use crate::jobs::{StageMonitor, SubTask};
use crate::selector::ValidSelector;
use ledger::CachedCriterion;
#[cfg(feature = "tune")]
use request::Method;
use std::sync::Arc;
use vaglio_core::{Error, Learner, Problem, Result, Score};
use vaglio_report::record::TunedSettings;
use vaglio_search::{Choose, Event, Monitor, Observer, Search};

/// Largest number of parameters tuned together.
const MOST_PARAMETERS: usize = 100;

/// Checks the bounds. Every parameter must be a setting of the learner that accepts the numbers in its range.
pub(crate) fn check(tune: &Tune, learner: &dyn Learner) -> Result<()> {
    Error::unless_between("budget", tune.budget, 1..=Tune::MOST_EVALUATIONS)?;
    for (place, search) in tune.search.iter().enumerate() {
        let checked = search.check_settings().and_then(|()| check_compared(search));
        checked.map_err(|error| error.under(&format!("search[{place}]")))?;
    }
    if tune.parameters.is_empty() && tune.search.is_empty() {
        return Err(Error::setting(
            "parameters",
            "at least one is needed, as in `learner.lambda: {from: 0.1, to: 10}`",
        ));
    }
    if !tune.parameters.is_empty() && !cfg!(feature = "tune") {
        let message = "this program was built without solvers; build it with the feature `tune`";
        return Err(Error::setting("parameters", message));
    }
    if tune.parameters.len() > MOST_PARAMETERS {
        return Err(Error::setting("parameters", format!("at most {MOST_PARAMETERS} are tuned together")));
    }
    let settings = setting::settings_json(learner)?;
    for (path, bounds) in &tune.parameters {
        let field = format!("parameters.{path}");
        bounds.check().map_err(|e| e.under(&field))?;
        setting::check(&settings, path, bounds, &field)?;
    }
    Ok(())
}

/// Tunes the learner of a selector on `problem`, and returns the record of tuning. Returns the learner unchanged if
/// there is nothing to tune, or if stopped before any score. The result has nothing left to tune.
///
/// One criterion tunes and selects, on the same rows. So its score is optimistic; unbiased estimates need other rows.
/// If the monitor stops it, the best settings so far are used.
///
/// # Errors
/// Returns the first failure if no setting has a finite score.
pub(crate) fn tune_learner(
    selector: &ValidSelector,
    problem: &Problem,
    monitor: &mut Monitor<'_>,
) -> Result<(ValidSelector, Option<TunedSettings>)> {
    let untuned = ValidSelector { tune: None, ..selector.clone() };
    let tune = selector.tune.as_ref().filter(|tune| !tune.parameters.is_empty());
    let Some(tune) = tune else { return Ok((untuned, None)) };
    let _entered = tracing::info_span!("tune", method = tune.method.word(), budget = tune.budget).entered();
    let settings = setting::settings_json(&*selector.learner)?;
    let watcher = StageMonitor::new(monitor);
    let (journal, mut tried) = (watcher.journal.under("tune"), 0);
    watcher.stage("tune", tune.budget);
    let mut evaluate = |values: &[f64]| {
        if watcher.check_stop().is_some() {
            return Ok(None);
        }
        let mut subtask = watcher.subtask(journal.within(tried + 1), tried);
        tried += 1;
        let scored = learner_with(tune, &settings, values).and_then(|learner| {
            let tuned = ValidSelector { learner, ..untuned.clone() };
            journal.once(tried, || score_selection(tune, &tuned, problem, &mut subtask))
        });
        subtask.observe(&Event::Tick);
        watcher.end_piece(tried - 1);
        scored.map(|score| score.map(|score| score.loss))
    };
    let start: Vec<f64> = tune.parameters.iter().map(|(path, b)| b.place(setting::value(&settings, path))).collect();
    let ledger = CachedCriterion::new(tune, &mut evaluate);
    #[cfg(feature = "tune")]
    match tune.method {
        Method::NelderMead => solvers::nelder_mead(&ledger, &start)?,
        Method::ParticleSwarm => solvers::particle_swarm(&ledger, &start, selector.seed)?,
    }
    let best = ledger.best_values().filter(|(_, score)| *score < f64::INFINITY);
    let (evaluations, failure) = ledger.into_counts();
    let Some((values, score)) = best else {
        return match failure {
            Some(failure) => Err(failure),
            None if evaluations == 0 => Ok((untuned, None)),
            None => Err(Error::Numerical("every setting that was tried while tuning scores +∞".into())),
        };
    };
    let learner = learner_with(tune, &settings, &values)?;
    let parameters = tune.parameters.iter().zip(&values);
    let parameters = parameters.map(|((path, bounds), &value)| (path.clone(), bounds.number(value))).collect();
    let tuned = TunedSettings { method: tune.method.word().into(), evaluations, score, parameters };
    Ok((ValidSelector { learner, ..untuned }, Some(tuned)))
}

/// Refuses a search that is not cross-validated, which cannot be compared with others.
pub(crate) fn check_compared(search: &Search) -> Result<()> {
    match search.size_choice() {
        Choose::Auto | Choose::CrossValidated(_) => Ok(()),
        _ => {
            let message =
                "searches are compared by cross-validation; leave it out, or give its folds, as in {folds: 10}";
            Err(Error::setting("choose", message))
        }
    }
}

/// A copy of the learner with these settings.
fn learner_with(tune: &Tune, settings: &serde_json::Value, values: &[f64]) -> Result<Arc<dyn Learner>> {
    let mut settings = settings.clone();
    for ((path, bounds), &value) in tune.parameters.iter().zip(values) {
        setting::set(&mut settings, path, bounds.number(value));
    }
    let learner = setting::read(&settings)?;
    learner.check_settings().map_err(|e| e.under("learner"))?;
    Ok(learner)
}

/// Scores a selection by its criterion; `None` if stopped.
fn score_selection(
    tune: &Tune,
    selector: &ValidSelector,
    problem: &Problem,
    subtask: &mut SubTask<'_, '_>,
) -> Result<Option<Score>> {
    let design = selector.design(problem)?;
    if !tune.scores_search() {
        return subset_score(&*selector.criterion, &design, &design.candidates()).map(Some);
    }
    let path = selector.search_on(&design, None, &mut subtask.monitor())?.path;
    Ok((!path.stop_reason.is_partial()).then(|| path.score()))
}
