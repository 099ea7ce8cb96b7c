//! A whole search judged on rows held out.

use super::full::full;
use super::parting::{Part, Parting};
use super::pool::{Watcher, in_turn};
use super::sample::Sample;
use super::tally::Tally;
use super::walks::{Fold, Trail, said_of, trails};
use crate::selector::ValidSelector;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{CrossValidation, Design, Error, Monitor, Result};
use vaglio_search::shuffle::stream;

const ROUND: u64 = 1;

/// How rows are parted; into at most so many folds as there are units where the number was not written.
pub(crate) fn parting(
    selector: &ValidSelector,
    sample: &Sample,
    how: &CrossValidation,
    is_written: bool,
) -> Result<Parting> {
    Ok(match sample.parting(selector, how.splits.as_ref(), how.folds, 0)? {
        Parting::Folds(assignment, folds) if !is_written => {
            let most = assignment.most();
            Parting::Folds(assignment, folds.min(most))
        }
        parting => parting,
    })
}

/// The parts of every repeat; one repeat where all are the same.
///
/// # Errors
/// [`Error::Setting`] for parts that cannot be made.
pub(super) fn deals(
    selector: &ValidSelector,
    sample: &Sample,
    parting: &Parting,
    repeats: usize,
) -> Result<Vec<Vec<Part>>> {
    if repeats == 0 {
        return Err(Error::setting("search.choose.repeats", "0 repeats; 1 is the least"));
    }
    let deal = |repeat: usize| dealt(selector, sample, parting, repeat);
    let mut all: Vec<Vec<Part>> = (0..repeats).map(deal).collect::<Result<_>>()?;
    if all.iter().all(|parts| *parts == all[0]) {
        all.truncate(1);
    }
    Ok(all)
}

/// The parts of one repeat.
///
/// # Errors
/// [`Error::Setting`] for parts that cannot be made.
pub(super) fn dealt(selector: &ValidSelector, sample: &Sample, parting: &Parting, repeat: usize) -> Result<Vec<Part>> {
    let seed = stream(selector.seed, ROUND, repeat as u64);
    parting.parts(sample, seed).map_err(|error| error.under("search.choose"))
}

/// For each repeat the fold of each row, where rows are parted into folds.
pub(super) fn of_rows(parting: &Parting, all: &[Vec<Part>], rows: usize) -> Vec<Vec<usize>> {
    if parting.splits().is_some() {
        return Vec::new();
    }
    let of_row = |parts: &Vec<Part>| {
        let mut of_row = vec![0; rows];
        for (fold, part) in parts.iter().enumerate() {
            part.held.iter().for_each(|&row| of_row[row] = fold);
        }
        of_row
    };
    all.iter().map(of_row).collect()
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
    repeats: &[Vec<Part>],
    (lambdas, all): (&[Option<f64>], &[Option<f64>]),
    monitor: &mut Monitor<'_>,
) -> Result<Option<CrossValidated>> {
    let loss = &*selector.loss(sample.task());
    let watcher = Watcher::new(monitor);
    let parts: Vec<(usize, &Part)> = repeats.iter().flat_map(|parts| parts.iter().enumerate()).collect();
    watcher.stage("choose", parts.len() * lambdas.len());
    let done = in_turn(parts.len(), |job| {
        if watcher.stopped().is_some() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (fold, part) = parts[job];
        let in_fold = |error: Error| said_of_fold(error, fold);
        let key = format!("choose/{job}");
        let done = watcher.journal().once(&key, || {
            let fold = Fold::of(sample, part).map_err(in_fold)?;
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
