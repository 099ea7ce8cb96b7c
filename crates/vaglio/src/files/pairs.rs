//! Models that were trained without two folds, beside those that were trained without one.
//!
//! With losses of fold k by the model without folds j and k, for every k, a fold j has a cross-validation of the rows outside it;
//! how far that is from the loss of fold j itself says how far a cross-validated figure is from the truth (`resample/interval.rs`). A
//! pair is trained once and serves both of its folds: K(K − 1)/2 repetitions of the procedure for K folds.

use crate::final_model::{Judging, Known};
use crate::pipeline::OuterFolds;
use crate::resample::along::Reduced;
use crate::resample::parting::Part;
use crate::resample::pool::in_turn;
use crate::resample::tally::EVERY;
use crate::resample::validated::{dealt, of_rows, parting};
use crate::resample::walks::{Fold, Trail, gone_on, held_by, order_of, said_of};
use crate::resample::whole::{HeldOut, outer_parts};
use crate::resample::{Chosen, Sample, Tally, Watcher, Whole};
use crate::selector::ValidSelector;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Result};

/// The places of the folds of every pair.
fn pairs(folds: usize) -> Vec<(usize, usize)> {
    (0..folds).flat_map(|j| (0..j).map(move |k| (k, j))).collect()
}

/// The rows that both parts train on, both in increasing order.
fn common(a: &Part, b: &Part) -> Vec<usize> {
    a.training.iter().filter(|row| b.training.binary_search(row).is_ok()).copied().collect()
}

/// From what each pair lost on its two folds: for each fold what the others lost without it.
fn by_fold<T: Clone>(folds: usize, of_pairs: Vec<[T; 2]>) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> = vec![Vec::with_capacity(folds); folds];
    for ((k, j), [of_k, of_j]) in pairs(folds).into_iter().zip(of_pairs) {
        all[j].push(of_k);
        all[k].push(of_j);
    }
    all
}

/// Pairs of outer folds that are left out where the user did not ask for an interval, at most.
const CHEAP_PAIRS: usize = 10;

/// How many pairs of outer folds everything is repeated without, for the interval.
pub(super) fn outer_pairs_of(how: &OuterFolds) -> usize {
    let pairs = how.folds * how.folds.saturating_sub(1) / 2;
    let is_cheap = pairs <= CHEAP_PAIRS && how.repeats == 1;
    if how.splits.is_none() && how.folds > 2 && (how.interval.is_some() || is_cheap) { pairs } else { 0 }
}

/// What was found without pairs; nothing where so few rows cannot be searched and the user did not ask for it.
///
/// # Errors
/// Those of the walks, where a level is written.
pub(super) fn unless_impossible<T>(found: Result<Option<T>>, level: Option<f64>) -> Result<Option<T>> {
    match found {
        Err(error) if level.is_none() => {
            tracing::debug!(%error, "no walks without pairs of folds");
            Ok(None)
        }
        found => found,
    }
}

/// What a model loses on rows held out, and what that without columns does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Lost {
    pub model: Tally,
    pub empty: Tally,
}

/// What the whole procedure loses on every outer fold of the first repeat where it is trained without that and another, for each
/// fold; `None` where [none](outer_pairs_of) are asked for, and when it was stopped.
///
/// # Errors
/// Those of the procedure, with the folds.
pub(super) fn of_outer(
    whole: Whole<'_>,
    sample: &Sample,
    how: &OuterFolds,
    watcher: &Watcher<'_>,
) -> Result<Option<Vec<Vec<Lost>>>> {
    let parting = how.parting(whole.selector, sample)?;
    if outer_pairs_of(how) == 0 || parting.splits().is_some() {
        return Ok(None);
    }
    let loss = &*whole.selector.loss(sample.task());
    let parts = outer_parts(whole.selector, sample, how, 0)?;
    let all = pairs(parts.len());
    watcher.stage("interval", all.len());
    let done = in_turn(all.len(), |job| {
        if watcher.stopped().is_some() {
            return Ok(None);
        }
        let (k, j) = all[job];
        let _pair = tracing::debug_span!("pair", first = k + 1, second = j + 1).entered();
        let key = format!("interval/nested/{job}");
        let lost = watcher.journal().once(&key, || {
            let at = (watcher, watcher.journal().within(&key));
            let Some(repeated) = whole.on(&sample.select(&common(&parts[k], &parts[j]))?, at)? else { return Ok(None) };
            let of = |fold: usize| -> Result<Lost> {
                let held = HeldOut::new(&repeated, sample, &parts[fold].held)?;
                Ok(Lost { model: held.tally(loss), empty: held.empty_tally(loss) })
            };
            Ok(Some([of(k)?, of(j)?]))
        });
        watcher.piece();
        lost.map_err(|error| said_of(error, &format!("outer folds other than {} and {}", k + 1, j + 1)))
    })?;
    let done: Option<Vec<[Lost; 2]>> = done.into_iter().collect();
    Ok(done.map(|done| by_fold(parts.len(), done)))
}

/// What the walks at the λ that was chosen lose on every fold of the first repeat where they train without that and another,
/// for each fold; of the sizes `wanted`. `None` when they were stopped.
///
/// # Errors
/// Those of the maps, the search and the fits, with the folds.
pub(super) fn of_walks(
    selector: &ValidSelector,
    sample: &Sample,
    whole: &Design,
    (chosen, wanted): (&Chosen, &[usize]),
    watcher: &Watcher<'_>,
) -> Result<Option<Vec<Vec<Trail>>>> {
    let Some(how) = &chosen.folds else { return Ok(None) };
    let parting = parting(selector, sample, how, true)?;
    let parts = dealt(selector, sample, &parting, 0)?;
    let whole = &whole.clone().parted(&of_rows(&parting, std::slice::from_ref(&parts), sample.rows()));
    let all = pairs(parts.len());
    let loss = &*selector.loss(sample.task());
    // One size more, so that a search that takes steps back comes by all that it has of the sizes.
    let until = wanted.iter().max().map(|size| size + 1);
    let until = chosen.until.map_or(until, |end| until.map(|until| until.min(end)));
    watcher.stage("interval", all.len());
    let done = in_turn(all.len(), |job| {
        if watcher.stopped().is_some() {
            return Ok(None);
        }
        let (k, j) = all[job];
        let _pair = tracing::debug_span!("pair", first = k + 1, second = j + 1).entered();
        let key = format!("interval/chosen/{job}");
        let walked = || -> Result<Option<[Trail; 2]>> {
            let rows = common(&parts[k], &parts[j]);
            let fold = Fold::of(sample, &Part { training: rows.clone(), held: parts[k].held.clone() })?;
            let design = selector.design_at(&fold.fitted.problem, Some(whole))?.part_of(whole, &rows);
            let design = selector.at_lambda_of_all(&design.at_lambda(chosen.walk_lambda()))?;
            let design = design.without_errors().stopping_at(watcher.sign().clone());
            let mut member = watcher.member(watcher.journal().within(&key));
            let mut path = selector.search_on(&design, Instant::now(), until, &mut member.monitor())?.path;
            if path.stop_reason.is_partial() {
                return Ok(None);
            }
            path.entries.retain(|entry| wanted.contains(&entry.subset.len()));
            let (known, candidates) = (Known::default(), order_of(&path));
            let reduced = Reduced::once(&design, &candidates)?;
            let by = Judging { known: &known, stop: watcher.sign(), reduced: reduced.as_ref() };
            let first = gone_on(selector, (&fold, &design), (path.clone(), None), by, (loss, EVERY))?;
            let (held, clusters) = held_by(sample, &fold.fitted, &parts[j].held)?;
            let fold = Fold { held, clusters, ..fold };
            let second = gone_on(selector, (&fold, &design), (path, None), by, (loss, EVERY))?;
            Ok(watcher.stopped().is_none().then_some([first, second]))
        };
        let trails = watcher.journal().once(&key, walked);
        watcher.piece();
        trails.map_err(|error| said_of(error, &format!("folds other than {} and {}", k + 1, j + 1)))
    })?;
    let done: Option<Vec<[Trail; 2]>> = done.into_iter().collect();
    Ok(done.map(|done| by_fold(parts.len(), done)))
}
