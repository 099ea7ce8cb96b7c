//! Searches of all folds in lockstep, with early stopping by their pooled loss.
//!
//! Sizes are chosen by the loss pooled over folds, so paths beyond the size with the lowest loss are useless. The
//! searches of every fold and λ end at the same sizes, the checkpoints: 20, then every 5, and from 50 on every 10 %.
//! A search that goes on begins again, to twice the size, and its losses are computed up to the next checkpoint. At a
//! checkpoint c the searches at a λ end if
//!
//! * its lowest loss is at a size `patience` or more below c, or
//! * its lowest loss exceeds the lowest of any λ, over sizes up to c, by five standard errors of the difference on
//!   the same rows, or
//! * all of them have ended by themselves.
//!
//! The rules only use losses of sizes up to c, so neither threads, memory nor the journal change where searches end. A
//! search that no checkpoint cuts, such as a backward one, runs to its end. If memory cannot hold all folds, each is
//! rebuilt at every checkpoint, with the same result.

use super::fold_losses::{LossSums, most_clusters};
use super::fold_paths::{FoldPath, LambdaPaths};
use super::path_predictions::{FoldTestRows, PathModels, PathReduction};
use super::validation::{Fold, Validation};
use crate::jobs::{FIRST_CHECKPOINT, expected_sizes, run_items};
use crate::memory_slots::MemorySlots;
use crate::selector::{SearchResult, takes_lambda_of_all};
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{Design, Error, Loss, Result, SearchExtent};
use vaglio_search::{Journal, Path, PathEntry};

/// Standard errors above the lowest loss at which a λ is abandoned.
const HOPELESS: f64 = 5.0;

fn next(checkpoint: usize) -> usize {
    checkpoint + (checkpoint / 10).max(5)
}

/// Size to which a search goes that has to reach a checkpoint: 20, 40, 80, …
fn reach(checkpoint: usize) -> usize {
    FIRST_CHECKPOINT * checkpoint.div_ceil(FIRST_CHECKPOINT).next_power_of_two()
}

/// Searches of all folds at some λ.
pub struct Lockstep<'a, 'o> {
    pub validation: &'a Validation<'a, 'o>,
    /// Folds with their designs; empty if each is rebuilt at every checkpoint.
    folds: &'a [Fold],
    lambdas: &'a [Option<f64>],
    journal: &'a Journal,
    /// Extent of one search.
    extent: SearchExtent,
    /// Number of clusters kept per loss sum.
    most: u32,
}

/// Search of one fold at one λ.
struct FoldSearch {
    /// Index of the λ.
    place: usize,
    /// The λ of the search, which the score of all columns may choose.
    lambda: Option<f64>,
    /// Result up to the last checkpoint, or beyond.
    found: Option<SearchResult>,
    /// Losses of the result up to the last checkpoint.
    losses: Option<Arc<FoldPath>>,
}

impl<'a, 'o> Lockstep<'a, 'o> {
    /// Prepares the searches.
    pub fn new(
        validation: &'a Validation<'a, 'o>,
        folds: &'a [Fold],
        lambdas: &'a [Option<f64>],
        journal: &'a Journal,
    ) -> Result<Self> {
        let rebuilt =
            if folds.is_empty() { Some(validation.fold(0, lambdas).map_err(validation.in_fold(0))?) } else { None };
        let first = folds.first().or(rebuilt.as_ref()).ok_or_else(|| Error::Shape("there is no fold".into()))?;
        let extent = validation.selector.search.extent(&first.design.at_lambda(lambdas[0]))?;
        let sizes = expected_sizes(extent.largest, validation.how.patience) + 1;
        let most = most_clusters(lambdas.len() * sizes);
        Ok(Lockstep { validation, folds, lambdas, journal, extent, most })
    }

    /// Runs the searches of all folds. Early stopping also compares with `before`, the paths at other λ.
    pub fn run(&self, before: &[LambdaPaths]) -> Result<Vec<LambdaPaths>> {
        let Validation { selector, watcher, how, .. } = *self.validation;
        let (begun, count, threads) = (Instant::now(), self.validation.splits.count(), rayon::current_num_threads());
        let new = |(place, &lambda): (usize, &Option<f64>)| FoldSearch { place, lambda, found: None, losses: None };
        let mut searches: Vec<Vec<FoldSearch>> =
            (0..count).map(|_| self.lambdas.iter().enumerate().map(new).collect()).collect();
        let mut all: Vec<Option<LambdaPaths>> = vec![None; self.lambdas.len()];
        let mut checkpoint = FIRST_CHECKPOINT;
        while all.iter().any(Option::is_none) {
            let until = how.patience.map(|_| checkpoint);
            let slots = if self.folds.is_empty() { &selector.slots } else { &MemorySlots::default() };
            let (workers, _occupied) = slots.some(threads.min(count));
            run_items(workers, &mut searches, |fold, own| {
                self.advance(fold, own, until).map_err(self.validation.in_fold(fold))
            })?;
            if selector.model.is_some() {
                // Interrupted training of final models leaves sizes without losses.
                watcher.check()?;
            }
            self.end_searches(&mut searches, before, &mut all, checkpoint)?;
            checkpoint = next(checkpoint);
        }
        let all: Vec<LambdaPaths> = all.into_iter().flatten().collect();
        self.journal.keep_worth(begun, "choose/walks", &all);
        Ok(all)
    }

    /// Ends the searches that stop at a checkpoint.
    fn end_searches(
        &self,
        searches: &mut [Vec<FoldSearch>],
        before: &[LambdaPaths],
        all: &mut [Option<LambdaPaths>],
        checkpoint: usize,
    ) -> Result<()> {
        let validation = self.validation;
        let own = |k: usize| {
            let in_folds = || searches.iter().map(|fold_searches| &fold_searches[k]);
            let folds = in_folds().filter_map(|search| search.losses.clone()).collect();
            let goes_on = |found: &SearchResult| found.cut_at(checkpoint).is_some();
            let is_cut = in_folds().any(|search| search.found.as_ref().is_some_and(goes_on));
            let (lambda, end) = (self.lambdas[searches[0][k].place], is_cut.then_some(checkpoint));
            LambdaPaths { lambda, folds, end, everything: validation.everything, repeats: validation.how.repeats }
        };
        let active: Vec<LambdaPaths> = (0..searches.first().map_or(0, Vec::len)).map(own).collect();
        let ended: Vec<&LambdaPaths> = before.iter().chain(all.iter().flatten()).collect();
        let ends = ends(validation.loss, validation.how.patience, &active, &ended, checkpoint)?;
        for (k, paths) in active.into_iter().enumerate().rev().filter(|(k, _)| ends[*k]) {
            let place = searches[0][k].place;
            searches.iter_mut().for_each(|fold_searches| drop(fold_searches.remove(k)));
            (0..validation.splits.count()).for_each(|fold| validation.watcher.end_piece(self.piece(fold, place)));
            all[place] = Some(paths);
        }
        Ok(())
    }

    /// Searches a fold up to a checkpoint, and evaluates the new entries. A search that went beyond the checkpoint, or
    /// ended by itself, keeps its path.
    fn advance(&self, job: usize, searches: &mut [FoldSearch], until: Option<usize>) -> Result<()> {
        let Validation { selector, watcher, .. } = *self.validation;
        watcher.check()?;
        let rebuilt = if self.folds.is_empty() { Some(self.validation.fold(job, self.lambdas)?) } else { None };
        let fold = self.folds.get(job).or(rebuilt.as_ref()).ok_or_else(|| Error::Shape("a fold was lost".into()))?;
        let threads = rayon::current_num_threads();
        // Each search at once has engine data of its own in memory.
        let (workers, _occupied) = selector.slots.some(threads.min(searches.len()));
        let searched = run_items(workers, searches, |_, own| {
            let design = fold.design.at_lambda(own.lambda).with_sign(watcher.stop.clone());
            let design = selector.at_lambda_of_all(&design)?;
            if takes_lambda_of_all(&fold.design) {
                own.lambda = design.lambdas()[0];
            }
            let ended_before =
                |found: &SearchResult| found.until.is_some_and(|end| until > Some(end) && found.cut_at(end).is_some());
            let found = match own.found.take() {
                Some(found) if !ended_before(&found) => found,
                before => {
                    let known = before.map_or(0, |before| before.path.steps.len());
                    self.search_fold(job, own.place, known, &design, until.map(reach))?
                }
            };
            let mut path = found.path.clone();
            if let Some(size) = until.and_then(|until| found.cut_at(until)) {
                path.entries.retain(|entry| entry.subset.len() <= size);
            }
            own.found = Some(found);
            Ok((own, design, path))
        })?;
        let _judged = tracing::debug_span!("losses", fold = job + 1, walks = searched.len()).entered();
        let paths: Vec<_> = searched.iter().map(|(_, _, path)| &path.entries[..]).collect();
        let shared = PathReduction::for_paths(&fold.design, &paths)?;
        run_items(threads, searched, |_, (own, design, path)| {
            let before = own.losses.take().map(Arc::unwrap_or_clone);
            own.losses = Some(Arc::new(self.evaluate(fold, &design, shared.as_ref(), path, before)?));
            Ok(())
        })?;
        Ok(())
    }

    /// Losses of a fold's search, whose path is now `path`; entries evaluated before are not fitted again.
    fn evaluate(
        &self,
        fold: &Fold,
        design: &Design,
        reduced: Option<&PathReduction>,
        path: Path,
        mut before: Option<FoldPath>,
    ) -> Result<FoldPath> {
        let Validation { selector, loss, watcher, .. } = *self.validation;
        let losses = |path: Path, before: Option<FoldPath>, held: &FoldTestRows<'_>| -> Result<FoldPath> {
            let at_penalties = path.at_penalties.clone();
            let is_known = |entry: &PathEntry| before.as_ref().is_some_and(|before| before.has(entry));
            // The empty subset comes first.
            let mut entries = vec![PathEntry::new(Vec::new(), path.empty)];
            if at_penalties.is_empty() {
                entries.extend(path.entries.iter().filter(|entry| !is_known(entry)).cloned());
            } else {
                entries.extend(at_penalties.iter().map(|(_, entry)| entry.clone()));
            }
            let mut fold_path = FoldPath::new(path, design.candidates().len());
            fold_path.sizes = before.map(|before| before.sizes).unwrap_or_default();
            let models = PathModels { design, entries: &entries, reduced };
            selector.predictions(models, &watcher.stop, held, |index, rows| {
                let sums = LossSums::new(loss, rows, self.most);
                match index.checked_sub(1).and_then(|at| at_penalties.get(at)) {
                    Some((lambda, entry)) => fold_path.penalties.push((*lambda, entry.clone(), sums)),
                    None => drop(fold_path.sizes.insert(entries[index].subset.len(), sums)),
                }
                Ok(())
            })?;
            Ok(fold_path)
        };
        let judge = self.validation.sample.judge();
        let known = before.as_mut().and_then(|before| before.other.take()).map(Arc::unwrap_or_clone);
        let other = judge.map(|judge| fold.on_scale(judge.other(), |held| losses(path.clone(), known, held)));
        let other = other.transpose()?;
        let mut fold_path = fold.on_scale(judge.unwrap_or_default(), |held| losses(path, before, held))?;
        fold_path.other = other.map(Arc::new);
        Ok(fold_path)
    }

    /// Searches a fold at one λ, given by index, up to a size. The first `known` steps were taken before.
    fn search_fold(
        &self,
        job: usize,
        place: usize,
        known: usize,
        design: &Design,
        until: Option<usize>,
    ) -> Result<SearchResult> {
        let Validation { selector, watcher, how, .. } = *self.validation;
        watcher.check()?;
        let (fold, lambda) = (job + 1, self.lambdas[place]);
        let span = tracing::debug_span!("walk", fold, lambda, size = tracing::field::Empty).entered();
        let journal = self.journal.within(format_args!("choose/{job}/walk/{place}"));
        let subtask = watcher.subtask(journal, self.piece(job, place));
        let mut subtask = subtask.with_sizes(Some(self.extent), how.patience);
        let found = selector.search(design, until, known, subtask.monitor())?;
        span.record("size", found.path.entries.last().map_or(0, |entry| entry.subset.len()));
        let reason = found.path.stop_reason;
        if reason.is_partial() { Err(Error::Stopped(reason)) } else { Ok(found) }
    }

    /// Index of one search among the pieces of the stage.
    fn piece(&self, fold: usize, place: usize) -> usize {
        fold * self.lambdas.len() + place
    }
}

/// Whether the searches of each active λ end at a checkpoint; `ended` are those that have ended before.
fn ends(
    loss: &dyn Loss,
    patience: Option<usize>,
    active: &[LambdaPaths],
    ended: &[&LambdaPaths],
    checkpoint: usize,
) -> Result<Vec<bool>> {
    let Some(patience) = patience else { return Ok(vec![true; active.len()]) };
    let all = active.iter().chain(ended.iter().copied());
    let lowest: Vec<_> = all.map(|paths| Ok((paths, paths.lowest(loss, checkpoint)?))).collect::<Result<_>>()?;
    let known = lowest.iter().filter_map(|(paths, lowest)| lowest.map(|(size, least)| (*paths, size, least)));
    let best = known.min_by(|(.., a), (.., b)| a.total_cmp(b));
    let ends = lowest.iter().take(active.len()).map(|(paths, lowest)| {
        let is_cut = paths.end.is_some();
        let (Some((size, own)), Some((best, of_best, least))) = (*lowest, best) else { return !is_cut };
        let is_hopeless = || {
            let error = paths.losses(size).difference(loss, &best.losses(of_best));
            error.is_some_and(|error| own - least > HOPELESS * error)
        };
        !is_cut || size.saturating_add(patience) <= checkpoint || (own > least && is_hopeless())
    });
    Ok(ends.collect())
}
