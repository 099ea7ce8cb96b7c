//! Searches of all folds in lockstep, with early stopping by their pooled loss.
//!
//! Sizes are chosen by the loss pooled over folds, so paths beyond the size with the lowest loss are useless. The
//! searches of every fold and λ pause at the same sizes, the checkpoints: 20, then every 5, and from 50 on every 10 %.
//! At a checkpoint c the searches at a λ end if
//!
//! * its lowest loss is at a size `patience` or more below c, or
//! * its lowest loss exceeds the lowest of any λ, over sizes up to c, by five standard errors of the difference on
//!   the same rows, or
//! * all of them have ended by themselves.
//!
//! The rules only use losses of sizes up to c, so neither threads nor the journal change where searches end. The number
//! of λ searched together follows from the estimated memory; later ones are compared with those that have ended. A
//! search that cannot pause, such as a backward one, runs to its end. If memory cannot hold all folds, each is searched
//! from the start at every checkpoint, with the same result.

use super::fold_paths::{FoldPath, LambdaPaths};
use super::loss_sums::{LossSums, most_clusters};
use super::path_predictions::{FoldTestRows, PathModels, PathReduction};
use super::validation::{Fold, Validation};
use crate::jobs::{FIRST_CHECKPOINT, SubTask, each, expected_sizes};
use crate::memory_slots::MemorySlots;
use crate::selector::ResumableSearch;
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{Design, Error, Loss, Result, SearchExtent};
use vaglio_search::{Journal, Path, PathEntry};

/// Approximate memory limit of the searches held at once, in bytes.
const MOST_HELD: f64 = 1e9;
/// Standard errors above the lowest loss at which a λ is abandoned.
const HOPELESS: f64 = 5.0;

fn next(checkpoint: usize) -> usize {
    checkpoint + (checkpoint / 10).max(5)
}

/// Searches of all folds at some λ.
pub(super) struct Lockstep<'a, 'o> {
    pub validation: &'a Validation<'a, 'o>,
    /// Folds with their designs; empty if each is rebuilt at every checkpoint.
    folds: &'a [Fold],
    lambdas: &'a [Option<f64>],
    journal: &'a Journal,
    /// Extent of one search.
    extent: SearchExtent,
    /// Number of λ searched together.
    together: usize,
    /// Number of clusters kept per loss sum.
    most: u32,
}

/// Search of one fold at one λ.
struct FoldSearch<'d> {
    /// Index of the λ.
    place: usize,
    /// The open search, unless the fold is rebuilt.
    search: Option<ResumableSearch<'d>>,
    /// Losses up to the last checkpoint.
    path: Option<Arc<FoldPath>>,
    is_paused: bool,
}

impl<'a, 'o> Lockstep<'a, 'o> {
    /// Prepares the searches. As many λ run together as memory holds, by the criterion's estimate.
    ///
    /// # Errors
    /// Returns the errors of the maps and of the search's extent.
    pub fn new(
        validation: &'a Validation<'a, 'o>,
        folds: &'a [Fold],
        lambdas: &'a [Option<f64>],
        journal: &'a Journal,
    ) -> Result<Self> {
        let rebuilt =
            if folds.is_empty() { Some(validation.fold(0, lambdas).map_err(validation.in_fold(0))?) } else { None };
        let first = folds.first().or(rebuilt.as_ref()).ok_or_else(|| Error::Shape("there is no fold".into()))?;
        let (selector, design) = (validation.selector, first.design.at_lambda(lambdas[0]));
        let extent = selector.search.extent(&design)?;
        let bytes =
            if extent.is_unscored(&design) { 0.0 } else { selector.criterion.plan(&design, &extent).estimate.bytes };
        let (bytes, count) = (bytes * validation.splits.count() as f64, lambdas.len());
        let together = if bytes > 0.0 { (MOST_HELD / bytes) as usize } else { count };
        let most = most_clusters(count * (expected_sizes(extent.largest, validation.how.patience) + 1));
        Ok(Lockstep { validation, folds, lambdas, journal, extent, together: together.clamp(1, count), most })
    }

    /// Runs the searches of all folds by groups of λ, unless the whole group is `known`. Early stopping also compares
    /// with `before`, the paths at other λ.
    ///
    /// # Errors
    /// [`Error::Stopped`]; errors of the search and the fits, on the training rows of the fold.
    pub fn walks(&self, before: &[LambdaPaths], known: Vec<Option<LambdaPaths>>) -> Result<Vec<LambdaPaths>> {
        let mut all = known;
        let places: Vec<usize> = (0..self.lambdas.len()).collect();
        for group in places.chunks(self.together) {
            if group.iter().all(|&place| all[place].is_some()) {
                group.iter().for_each(|&place| self.end(place));
                continue;
            }
            // Losses depend bitwise on the triangle of all λ that run together, so an incomplete group is searched
            // again.
            group.iter().for_each(|&place| all[place] = None);
            let begun = Instant::now();
            self.group(group, before, &mut all)?;
            for &place in group {
                self.journal.keep_worth(begun, format_args!("choose/walk/{place}"), &all[place]);
            }
        }
        Ok(all.into_iter().flatten().collect())
    }

    /// Runs the searches at some λ, given by index, until `all` holds their paths.
    fn group(&self, places: &[usize], before: &[LambdaPaths], all: &mut [Option<LambdaPaths>]) -> Result<()> {
        let Validation { selector, watcher, how, .. } = *self.validation;
        let (count, threads) = (self.validation.splits.count(), rayon::current_num_threads());
        let held = || (0..self.folds.len()).flat_map(|fold| places.iter().map(move |&place| (fold, place)));
        let design = |(fold, place): (usize, usize)| {
            self.design(&self.folds[fold], place).map_err(self.validation.in_fold(fold))
        };
        let designs: Vec<Design> = held().map(design).collect::<Result<_>>()?;
        let mut members: Vec<SubTask<'_, '_>> = held().map(|(fold, place)| self.member(fold, place)).collect();
        let monitors = members.iter_mut().map(SubTask::monitor);
        let mut open = each(threads, monitors, |job, monitor| {
            let opened = ResumableSearch::open(selector, &designs[job], Instant::now(), monitor);
            opened.map_err(self.validation.in_fold(job / places.len()))
        })?
        .into_iter();
        let mut search = |&place: &usize| FoldSearch { place, search: open.next(), path: None, is_paused: false };
        let mut searches: Vec<Vec<FoldSearch<'_>>> =
            (0..count).map(|_| places.iter().map(&mut search).collect()).collect();
        let mut checkpoint = FIRST_CHECKPOINT;
        while places.iter().any(|&place| all[place].is_none()) {
            let until = how.patience.map(|_| checkpoint);
            let room = if self.folds.is_empty() { &selector.room } else { &MemorySlots::default() };
            let (workers, _occupied) = room.some(threads.min(count));
            each(workers, &mut searches, |fold, own| {
                self.advance(fold, own, until).map_err(self.validation.in_fold(fold))
            })?;
            if selector.model.is_some() {
                // Interrupted training of final models leaves sizes without losses.
                watcher.check()?;
            }
            self.settle(&mut searches, before, all, checkpoint)?;
            checkpoint = next(checkpoint);
        }
        Ok(())
    }

    /// Ends the searches that stop at a checkpoint.
    fn settle(
        &self,
        searches: &mut [Vec<FoldSearch<'_>>],
        before: &[LambdaPaths],
        all: &mut [Option<LambdaPaths>],
        checkpoint: usize,
    ) -> Result<()> {
        let validation = self.validation;
        let own = |k: usize| {
            let folds = searches.iter().filter_map(|fold_searches| fold_searches[k].path.clone()).collect();
            let is_paused = searches.iter().any(|fold_searches| fold_searches[k].is_paused);
            validation.paths(self.lambdas[searches[0][k].place], folds, is_paused.then_some(checkpoint))
        };
        let active: Vec<LambdaPaths> = (0..searches.first().map_or(0, Vec::len)).map(own).collect();
        let ended: Vec<&LambdaPaths> = before.iter().chain(all.iter().flatten()).collect();
        let ends = ends(validation.loss, validation.how.patience, &active, &ended, checkpoint)?;
        for (k, paths) in active.into_iter().enumerate().rev().filter(|(k, _)| ends[*k]) {
            let place = searches[0][k].place;
            searches.iter_mut().for_each(|fold_searches| drop(fold_searches.remove(k)));
            self.end(place);
            all[place] = Some(paths);
        }
        Ok(())
    }

    /// Continues the searches of a fold to a size, and evaluates their new entries.
    fn advance(&self, job: usize, searches: &mut [FoldSearch<'_>], until: Option<usize>) -> Result<()> {
        let Validation { selector, watcher, .. } = *self.validation;
        watcher.check()?;
        let rebuilt = if self.folds.is_empty() { Some(self.validation.fold(job, self.lambdas)?) } else { None };
        let fold = self.folds.get(job).or(rebuilt.as_ref()).ok_or_else(|| Error::Shape("a fold was lost".into()))?;
        let threads = rayon::current_num_threads();
        // A rebuilt fold has one search in memory at a time.
        let walked = each(if rebuilt.is_some() { 1 } else { threads }, searches, |_, own| {
            let (design, (path, is_paused)) = match &mut own.search {
                Some(search) => (search.design.clone(), self.walk(job, own.place, search, until)?),
                None => {
                    let design = self.design(fold, own.place)?;
                    let mut member = self.member(job, own.place);
                    let search = ResumableSearch::open(selector, &design, Instant::now(), member.monitor());
                    let walked = self.walk(job, own.place, &mut search?, until)?;
                    (design, walked)
                }
            };
            own.is_paused = is_paused;
            Ok((own, design, path))
        })?;
        let _judged = tracing::debug_span!("losses", fold = job + 1, walks = walked.len()).entered();
        let paths: Vec<_> = walked.iter().map(|(_, _, path)| &path.entries[..]).collect();
        let shared = PathReduction::for_paths(&fold.design, &paths)?;
        each(threads, walked, |_, (own, design, path)| {
            let before = own.path.take().map(Arc::unwrap_or_clone);
            own.path = Some(Arc::new(self.evaluate(fold, &design, shared.as_ref(), path, before)?));
            Ok(())
        })?;
        Ok(())
    }

    /// Losses of a fold's search after it continued to `path`; entries evaluated before are not fitted again.
    ///
    /// # Errors
    /// Returns the errors of the fits.
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
            let new: Vec<PathEntry> = if at_penalties.is_empty() {
                path.entries.iter().filter(|entry| !is_known(entry)).cloned().collect()
            } else {
                at_penalties.iter().map(|(_, entry)| entry.clone()).collect()
            };
            let mut trail = FoldPath::new(path, design.candidates().len());
            trail.sizes = before.map(|before| before.sizes).unwrap_or_default();
            let models = PathModels { design, entries: &new, empty_lambda: trail.empty_score.lambda, reduced };
            selector.predictions(models, &watcher.stop, held, |index, rows| {
                let tally = LossSums::new(loss, rows, self.most);
                match index {
                    None => trail.empty = tally,
                    Some(index) if at_penalties.is_empty() => drop(trail.sizes.insert(new[index].subset.len(), tally)),
                    Some(index) => trail.penalties.push((at_penalties[index].0, new[index].clone(), tally)),
                }
                Ok(())
            })?;
            Ok(trail)
        };
        let judge = self.validation.sample.judge();
        let known = before.as_mut().and_then(|before| before.other.take()).map(Arc::unwrap_or_clone);
        let other = judge.map(|judge| fold.on_scale(judge.other(), |held| losses(path.clone(), known, held)));
        let other = other.transpose()?;
        let mut trail = fold.on_scale(judge.unwrap_or_default(), |held| losses(path, before, held))?;
        trail.other = other.map(Arc::new);
        Ok(trail)
    }

    /// Continues one search to a size. Returns its path and whether it can continue.
    fn walk(
        &self,
        job: usize,
        place: usize,
        search: &mut ResumableSearch<'_>,
        until: Option<usize>,
    ) -> Result<(Path, bool)> {
        self.validation.watcher.check()?;
        let (fold, lambda) = (job + 1, self.lambdas[place]);
        let span = tracing::debug_span!("walk", fold, lambda, size = tracing::field::Empty).entered();
        let path = search.to(until)?.clone();
        span.record("size", path.entries.last().map_or(0, |entry| entry.subset.len()));
        if path.stop_reason.is_partial() {
            Err(Error::Stopped(path.stop_reason))
        } else {
            Ok((path, search.is_paused()))
        }
    }

    /// Design of a fold at a λ.
    fn design(&self, fold: &Fold, place: usize) -> Result<Design> {
        let Validation { selector, watcher, .. } = *self.validation;
        selector.at_lambda_of_all(&fold.design.at_lambda(self.lambdas[place]).with_sign(watcher.stop.clone()))
    }

    /// Monitor of one search, with its part of the journal.
    fn member(&self, fold: usize, place: usize) -> SubTask<'a, 'o> {
        let Validation { watcher, how, .. } = *self.validation;
        let journal = self.journal.within(format_args!("choose/{fold}/walk/{place}"));
        watcher.member(journal, fold * self.lambdas.len() + place).over(Some(self.extent), how.patience)
    }

    /// Marks the searches at a λ as finished.
    fn end(&self, place: usize) {
        let pieces = (0..self.validation.splits.count()).map(|fold| fold * self.lambdas.len() + place);
        pieces.for_each(|piece| self.validation.watcher.end_piece(piece));
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
        let is_paused = paths.end.is_some();
        let (Some((size, own)), Some((best, of_best, least))) = (*lowest, best) else { return !is_paused };
        let is_hopeless = || {
            let error = paths.losses(size).difference(loss, &best.losses(of_best));
            error.is_some_and(|error| own - least > HOPELESS * error)
        };
        !is_paused || size.saturating_add(patience) <= checkpoint || (own > least && is_hopeless())
    });
    Ok(ends.collect())
}

#[cfg(test)]
mod tests;
