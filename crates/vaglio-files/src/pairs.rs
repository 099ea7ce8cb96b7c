//! Models that were trained without two folds, beside those that were trained without one.
//!
//! With losses of fold k by the model without folds j and k, for every k, a fold j has a cross-validation of the rows outside it;
//! how far that is from the loss of fold j itself says how far a cross-validated figure is from the truth (`resample/interval.rs`). A
//! pair is trained once and serves both of its folds: K(K − 1)/2 walks for K folds.

use std::time::Instant;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Journal, Result};
use vaglio_pipeline::final_model::{Judging, Known};
use vaglio_pipeline::resample::along::Reduced;
use vaglio_pipeline::resample::parting::Part;
use vaglio_pipeline::resample::pool::repeated;
use vaglio_pipeline::resample::tally::EVERY;
use vaglio_pipeline::resample::validated::{dealt, of_rows, parting};
use vaglio_pipeline::resample::walks::{Fold, Trail, gone_on, held_by, order_of, said_of};
use vaglio_pipeline::resample::{Chosen, Sample, Watcher};
use vaglio_pipeline::selector::ValidSelector;

/// How many pairs so many folds have.
pub(super) fn count(folds: usize) -> usize {
    folds.saturating_mul(folds.saturating_sub(1)) / 2
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
    let loss = &*selector.loss(sample.task());
    // One size more, so that a search that takes steps back comes by all that it has of the sizes.
    let until = wanted.iter().max().map(|size| size + 1);
    let until = chosen.until().map_or(until, |end| until.map(|until| until.min(end)));
    let pairs: Vec<(usize, usize)> = (0..parts.len()).flat_map(|j| (0..j).map(move |k| (k, j))).collect();
    watcher.stage("interval", pairs.len());
    let one = |k: usize, j: usize, journal: Journal| {
        let rows = parts[k].in_both(&parts[j]);
        let fold = Fold::of(sample, &Part { training: rows.clone(), held: parts[k].held.clone() })?;
        let design = selector.design_at(&fold.fitted.problem, Some(whole))?.part_of(whole, &rows);
        let design = design.at_lambda(chosen.walk_lambda()).without_errors().stopping_at(watcher.sign().clone());
        let mut member = watcher.member(journal);
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
    let done = repeated(selector.room(), pairs.len(), |job| {
        if watcher.stopped().is_some() {
            return Ok(None);
        }
        let (k, j) = pairs[job];
        let _pair = tracing::debug_span!("pair", first = k + 1, second = j + 1).entered();
        let key = format!("interval/chosen/{job}");
        let found = watcher.journal().once(&key, || one(k, j, watcher.journal().within(&key)));
        watcher.piece();
        found.map_err(|error| said_of(error, &format!("folds other than {} and {}", k + 1, j + 1)))
    })?;
    let Some(done) = done.into_iter().collect::<Option<Vec<[Trail; 2]>>>() else { return Ok(None) };
    let mut all: Vec<Vec<Trail>> = parts.iter().map(|_| Vec::with_capacity(parts.len())).collect();
    for ((k, j), [of_k, of_j]) in pairs.into_iter().zip(done) {
        all[j].push(of_k);
        all[k].push(of_j);
    }
    Ok(Some(all))
}
