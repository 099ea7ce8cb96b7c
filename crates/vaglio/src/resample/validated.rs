//! A whole search judged on rows held out.

use super::full::full;
use super::pool::{Watcher, in_turn};
use super::sample::Sample;
use super::tally::Tally;
use super::walks::{Fold, Trail, said_of, trails};
use crate::selector::ValidSelector;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{CrossValidation, Design, Error, Monitor, Result};
use vaglio_search::shuffle::stream;

const ROUND: u64 = 1;

/// The fold of each row in every repeat.
///
/// # Errors
/// [`Error::Setting`] for folds that cannot be made.
pub(super) fn deals(selector: &ValidSelector, sample: &Sample, how: CrossValidation) -> Result<Vec<Vec<usize>>> {
    if how.repeats == 0 {
        return Err(Error::setting("search.choose.repeats", "0 repeats; 1 is the least"));
    }
    (0..how.repeats).map(|repeat| dealt(selector, sample, how, repeat)).collect()
}

/// The fold of each row in one repeat.
///
/// # Errors
/// [`Error::Setting`] for folds that cannot be made.
pub(super) fn dealt(
    selector: &ValidSelector,
    sample: &Sample,
    how: CrossValidation,
    repeat: usize,
) -> Result<Vec<usize>> {
    let seed = stream(selector.seed, ROUND, repeat as u64);
    sample.fold_assignment().folds(how.folds, seed).map_err(|error| error.under("search.choose"))
}

/// Losses of the whole selection on rows held out.
pub(super) struct CrossValidated {
    /// The walks of every fold.
    pub folds: Vec<Vec<Trail>>,
    /// What all columns lose in every fold.
    pub full: Vec<Vec<Tally>>,
}

/// By the walks at some λ of every fold, and all columns at some; `None` when they were stopped.
pub(super) fn cross_validated(
    selector: &ValidSelector,
    (sample, whole): (&Sample, &Design),
    how: CrossValidation,
    of_row: &[Vec<usize>],
    (lambdas, all): (&[Option<f64>], &[Option<f64>]),
    monitor: &mut Monitor<'_>,
) -> Result<Option<CrossValidated>> {
    let loss = &*selector.loss(sample.task());
    let watcher = Watcher::new(monitor);
    watcher.stage("choose", how.folds * how.repeats * lambdas.len());
    let done = in_turn(how.folds * how.repeats, |job| {
        if watcher.stopped().is_some() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (repeat, fold) = (job / how.folds, job % how.folds);
        let in_fold = |error: Error| said_of_fold(error, fold);
        let key = format!("choose/{job}");
        let done = watcher.journal().once(&key, || {
            let fold = Fold::of(sample, |row| of_row[repeat][row] == fold).map_err(in_fold)?;
            let design = selector.design_at(&fold.fitted.problem, Some(whole)).map_err(in_fold)?;
            let design = design.part_of(whole, &fold.training);
            let full = full(&design, all, &fold.held(), loss)?;
            let at = (&watcher, &watcher.journal().within(&key));
            let trails = trails(selector, &fold, &design, lambdas, loss, at)?;
            Ok((trails.len() == lambdas.len()).then_some((trails, full)))
        })?;
        Ok(done.unwrap_or_default())
    })?;
    if watcher.stopped().is_some() {
        return Ok(None);
    }
    let (folds, full): (Vec<Vec<Trail>>, Vec<Vec<Tally>>) = done.into_iter().unzip();
    Ok(Some(CrossValidated { folds, full }))
}

/// An error about settings, on the training rows of a fold.
pub(super) fn said_of_fold(error: Error, fold: usize) -> Error {
    said_of(error, &format!("fold {} of the cross-validated search", fold + 1))
}
