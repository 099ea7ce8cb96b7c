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
//! The rules only use losses of sizes up to c, so neither threads nor the journal change where searches end. The
//! number of λ searched together follows from the estimated memory; later ones are compared with those that have ended.
//! A search that cannot pause, such as a backward one, runs to its end. If memory cannot hold all folds, a fold is
//! rebuilt and searched from the start at each checkpoint, with the same result.

mod anew;
mod ends;

use ends::{LambdaGroup, next};

use super::path_predictions::PathReduction;
use super::pool::{Piece, PiecePhase, StageMonitor, SubTask, WalkExtent, in_turn};
use super::table::{PooledFolds, Pooling};
use super::validated::{FoldTraining, FoldTrainings, said_of_fold};
use super::walks::{FoldPath, PathEvaluation, most_clusters};
use crate::final_model::PredictionContext;
use crate::selector::{ResumableSearch, ValidSelector};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::time::Instant;
use vaglio_core::{AtPenalty, Design, Error, Journal, Loss, Monitor, Path, Result};

/// First checkpoint of a choice.
pub(super) const FIRST: usize = 20;
/// Approximate memory limit of the searches held at once, in bytes.
const MOST_HELD: f64 = 1e9;

/// Expected number of sizes of a cross-validated path, for a search of up to `largest` columns: one checkpoint more
/// than a typical size of the lowest loss.
pub(super) fn expected_sizes(largest: usize, patience: Option<usize>) -> usize {
    patience.map_or(largest, |patience| largest.min(patience.saturating_mul(2).saturating_add(FIRST)))
}

/// Search paths of all folds at one λ.
#[derive(Debug, Serialize, Deserialize)]
pub struct LambdaPaths {
    /// Losses along the path of every fold.
    pub trails: Vec<FoldPath>,
    /// Checkpoint at which the searches were ended; `None` if all ended by themselves.
    pub end: Option<usize>,
    /// Size of the path on all rows at this λ, if λ is a penalty of a least-angle path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<usize>,
}

impl LambdaPaths {
    /// Pools the folds.
    pub(super) fn matched(&self, pooling: Pooling) -> PooledFolds<'_> {
        PooledFolds::new(&self.trails, Pooling { everything: self.whole.unwrap_or(pooling.everything), ..pooling })
    }

    /// Copies the paths with losses on the other scale of mapped targets, if any.
    pub(super) fn on_other_scale(&self) -> Option<LambdaPaths> {
        let trails = self.trails.iter().map(|trail| trail.other.as_deref().cloned()).collect::<Option<_>>()?;
        Some(LambdaPaths { trails, ..*self })
    }

    /// Splits one path per fold into models at each penalty at which the path of all rows has an allowed model.
    pub(crate) fn to_penalties(&self, path: &Path) -> (Vec<Option<f64>>, Vec<LambdaPaths>) {
        let to = |at: &AtPenalty| LambdaPaths {
            trails: self.trails.iter().map(|trail| trail.to_penalty(at.lambda)).collect(),
            end: None,
            whole: Some(at.entry.subset.len()),
        };
        let allowed = path.at_penalties.iter().filter(|at| path.allowed.contains(&at.entry.subset.len()));
        allowed.map(|at| (Some(at.lambda), to(at))).unzip()
    }
}

/// State of searches in lockstep: folds, and how they are evaluated.
pub(super) struct Lockstep<'a, 'o> {
    pub selector: &'a ValidSelector,
    pub folds: FoldTrainingSource<'a>,
    pub loss: &'a dyn Loss,
    pub patience: Option<usize>,
    pub pooling: Pooling,
    pub watcher: &'a StageMonitor<'o>,
    pub journal: &'a Journal,
    /// Expected sizes of the paths.
    pub extent: WalkExtent,
    /// Progress items by fold and λ; empty if progress counts whole folds.
    pub pieces: &'a [Piece<'a, 'o>],
}

/// Training rows of all folds.
#[derive(Clone, Copy)]
pub(super) enum FoldTrainingSource<'a> {
    /// All folds in memory, built on first use.
    Held(&'a FoldTrainings<'a>),
    /// Number of folds, each built when needed.
    Anew(usize, &'a (dyn Fn(usize) -> Result<FoldTraining> + Sync)),
}

impl FoldTrainingSource<'_> {
    fn count(&self) -> usize {
        match self {
            FoldTrainingSource::Held(folds) => folds.count,
            FoldTrainingSource::Anew(count, _) => *count,
        }
    }

    fn with<T>(&self, fold: usize, of: impl FnOnce(&FoldTraining) -> Result<T>) -> Result<T> {
        match self {
            FoldTrainingSource::Held(folds) => of(&folds.get()?[fold]),
            FoldTrainingSource::Anew(_, make) => of(&make(fold)?),
        }
    }
}

/// State at a checkpoint: losses by fold and active λ, and whether any search at a λ can continue.
struct CheckpointState {
    trails: Vec<Vec<FoldPath>>,
    paused: Vec<bool>,
}

/// A continued path, with its losses so far.
type ContinuedPath = (Path, Option<FoldPath>);

/// A resumable search, or its monitor before it begins.
enum PendingSearch<'a> {
    Unopened(Monitor<'a>),
    Open(Box<ResumableSearch<'a>>),
}

/// A search that one thread at a time takes, and returns when it pauses.
type SharedWalk<'a> = Mutex<Option<PendingSearch<'a>>>;

impl<'a, 'o> Lockstep<'a, 'o> {
    /// Runs the searches at each λ, some of which are known; `before` are those at other λ. Returns `None` if stopped.
    ///
    /// As many λ run together as memory holds, by the criterion's estimate.
    ///
    /// # Errors
    /// Returns the errors of the search and the fits, on the training rows of the fold.
    pub fn walks(
        &self,
        lambdas: &[Option<f64>],
        before: &[LambdaPaths],
        known: Vec<Option<LambdaPaths>>,
    ) -> Result<Option<Vec<LambdaPaths>>> {
        let (together, most) = match self.extent(lambdas) {
            Err(Error::Stopped(_)) => return Ok(None),
            extent => extent?,
        };
        let mut all = known;
        for first in (0..lambdas.len()).step_by(together) {
            let open: Vec<usize> = (first..lambdas.len().min(first + together)).collect();
            if open.iter().all(|&at| all[at].is_some()) {
                (0..self.folds.count()).for_each(|fold| open.iter().for_each(|&at| self.end(fold, at)));
                continue;
            }
            // Losses depend bitwise on the triangle of all λ that run together, so an incomplete group is searched
            // again.
            open.iter().for_each(|&at| all[at] = None);
            let begun = Instant::now();
            let others = || before.iter().chain(all.iter().flatten());
            let Some(found) = self.group(lambdas, &open, &others().collect::<Vec<_>>(), most)? else {
                return Ok(None);
            };
            for (at, walks) in open.into_iter().zip(found) {
                self.journal.keep_worth(begun, format_args!("choose/walk/{at}"), &walks);
                all[at] = Some(walks);
            }
        }
        Ok(all.into_iter().collect())
    }

    /// Number of λ searched together, and number of clusters kept per loss sum.
    fn extent(&self, lambdas: &[Option<f64>]) -> Result<(usize, u32)> {
        let (true, Some(&lambda)) = (self.folds.count() > 0, lambdas.first()) else { return Ok((1, 32)) };
        let count = lambdas.len();
        let (search_extent, bytes) = self.folds.with(0, |first| {
            let design = first.design.at_lambda(lambda);
            let search_extent = self.selector.search().extent(&design)?;
            let bytes = match search_extent.is_unscored(&design) {
                true => 0.0,
                false => self.selector.criterion().plan(&design, &search_extent).estimate.bytes,
            };
            Ok((search_extent, bytes))
        })?;
        let bytes = bytes * self.folds.count() as f64;
        let together = if bytes > 0.0 { (MOST_HELD / bytes) as usize } else { count };
        let sizes = expected_sizes(search_extent.largest, self.patience) + 1;
        Ok((together.clamp(1, count), most_clusters(count * sizes)))
    }

    /// Runs the searches at some λ, given by index; `others` have ended.
    fn group(
        &self,
        lambdas: &[Option<f64>],
        places: &[usize],
        others: &[&LambdaPaths],
        most: u32,
    ) -> Result<Option<Vec<LambdaPaths>>> {
        let count = places.len();
        let mut of_group = LambdaGroup {
            trails: (0..count).map(|_| (0..self.folds.count()).map(|_| None).collect()).collect(),
            done: (0..count).map(|_| None).collect(),
            places,
            lambdas,
            most,
        };
        let mut checkpoint = FIRST;
        let held = match self.folds {
            FoldTrainingSource::Held(folds) => match folds.get() {
                Err(Error::Stopped(_)) => return Ok(None),
                folds => folds?,
            },
            FoldTrainingSource::Anew(..) => &[],
        };
        let pairs = || (0..held.len()).flat_map(|fold| (0..count).map(move |at| (fold, at)));
        let design = |(fold, at): (usize, usize)| self.design(&held[fold], lambdas[places[at]]);
        let designs: Vec<Design> = match pairs().map(design).collect() {
            Err(Error::Stopped(_)) => return Ok(None),
            designs => designs?,
        };
        let mut members: Vec<_> = pairs().map(|(fold, at)| self.member(fold, places[at])).collect();
        let begin = |member| Mutex::new(Some(PendingSearch::Unopened(SubTask::monitor(member))));
        let walkings: Vec<SharedWalk<'_>> = members.iter_mut().map(begin).collect();
        loop {
            if of_group.active().is_empty() {
                return Ok(of_group.done.into_iter().collect());
            }
            let until = self.patience.map(|_| checkpoint);
            let reached = match self.folds {
                FoldTrainingSource::Held(_) => self.continue_to(held, &designs, &walkings, &mut of_group, until)?,
                FoldTrainingSource::Anew(..) => self.rebuild_to(&mut of_group, until)?,
            };
            let Some(reached) = reached else { return Ok(None) };
            if self.selector.model.is_some() && self.watcher.stopped().is_some() {
                // Interrupted training of final models leaves sizes without losses.
                return Ok(None);
            }
            for at in self.settle(&mut of_group, reached, checkpoint, others)? {
                for walking in walkings.iter().skip(at).step_by(count) {
                    taken(walking);
                }
            }
            checkpoint = next(checkpoint);
        }
    }

    /// Design of a fold at a λ.
    fn design(&self, of: &FoldTraining, lambda: Option<f64>) -> Result<Design> {
        self.selector.at_lambda_of_all(&of.design.at_lambda(lambda).stopping_at(self.watcher.sign().clone()))
    }

    /// Monitor of one search, with its part of the journal.
    fn member(&self, fold: usize, place: usize) -> SubTask<'a, 'o> {
        let journal = self.journal.within(format_args!("choose/{fold}/walk/{place}"));
        self.watcher.member(journal).over(Some(self.extent)).for_piece(self.piece(fold, place))
    }

    /// Progress item of a search, by its fold and the index of its λ.
    fn piece(&self, fold: usize, place: usize) -> Option<&'a Piece<'a, 'o>> {
        let lambdas = self.pieces.len() / self.folds.count().max(1);
        self.pieces.get(fold * lambdas + place)
    }

    /// Marks the progress item of a search as finished.
    fn end(&self, fold: usize, place: usize) {
        self.piece(fold, place).map_or_else(|| self.watcher.piece(), Piece::end);
    }

    /// Continues the searches at the active λ to a size, and evaluates their new entries. Returns `None` if stopped.
    fn continue_to<'d>(
        &'d self,
        folds: &'d [FoldTraining],
        designs: &'d [Design],
        walkings: &[SharedWalk<'d>],
        group: &mut LambdaGroup<'_>,
        until: Option<usize>,
    ) -> Result<Option<CheckpointState>> {
        let active = group.active();
        let LambdaGroup { trails, places, most, .. } = group;
        let count = trails.len();
        let paths = in_turn(folds.len() * active.len(), |job| {
            let (fold, at) = (job / active.len(), active[job % active.len()]);
            let (place, number) = (fold * count + at, folds[fold].number);
            let path = self.advance(number, &walkings[place], &designs[place], until);
            if let (Some(piece), Ok(Some((_, false)))) = (self.piece(fold, places[at]), &path) {
                piece.to(PiecePhase::Walked, 1.0);
            }
            path.map_err(|error| said_of_fold(error, number))
        })?;
        let Some(paths) = paths.into_iter().collect::<Option<Vec<(Path, bool)>>>() else { return Ok(None) };
        let (paths, paused): (Vec<Path>, Vec<bool>) = paths.into_iter().unzip();
        let is_paused = |k: usize| paused.iter().skip(k).step_by(active.len()).any(|paused| *paused);
        let begin = |(job, path): (usize, Path)| {
            Mutex::new(Some((path, trails[active[job % active.len()]][job / active.len()].take())))
        };
        let jobs: Vec<Mutex<Option<ContinuedPath>>> = paths.into_iter().enumerate().map(begin).collect();
        let trails = in_turn(folds.len(), |fold| {
            let own = &jobs[fold * active.len()..(fold + 1) * active.len()];
            let designs: Vec<&Design> = active.iter().map(|at| &designs[fold * count + at]).collect();
            let pieces: Vec<_> = active.iter().map(|&at| self.piece(fold, places[at])).collect();
            self.follow(&folds[fold], &designs, own.iter().filter_map(taken).collect(), &pieces, *most)
        })?;
        Ok(Some(CheckpointState { trails, paused: (0..active.len()).map(is_paused).collect() }))
    }

    /// Continues a search to a size. Returns its path and whether it can continue, or `None` if stopped.
    fn advance<'d>(
        &'d self,
        number: usize,
        held: &SharedWalk<'d>,
        design: &'d Design,
        until: Option<usize>,
    ) -> Result<Option<(Path, bool)>> {
        if self.watcher.stopped().is_some() {
            return Ok(None);
        }
        let lambda = design.lambdas().first().copied().flatten();
        let span = tracing::debug_span!("walk", fold = number + 1, lambda, size = tracing::field::Empty).entered();
        let lost = || Error::Shape("a walk was lost".into());
        let mut walking = match taken(held).ok_or_else(lost)? {
            PendingSearch::Unopened(monitor) => {
                Box::new(ResumableSearch::open(self.selector, design, Instant::now(), monitor)?)
            }
            PendingSearch::Open(walking) => walking,
        };
        let path = walking.to(until)?.clone();
        span.record("size", path.entries.last().map_or(0, |entry| entry.subset.len()));
        let reached = (!path.stop_reason.is_partial()).then(|| (path, walking.is_paused()));
        *held.lock().map_err(|_| lost())? = Some(PendingSearch::Open(walking));
        Ok(reached)
    }

    /// Evaluates the new path entries of a fold at the active λ.
    fn follow(
        &self,
        of: &FoldTraining,
        designs: &[&Design],
        gone: Vec<ContinuedPath>,
        pieces: &[Option<&Piece<'_, '_>>],
        most: u32,
    ) -> Result<Vec<FoldPath>> {
        let FoldTraining { fold, design, number, known } = of;
        let _judged = tracing::debug_span!("losses", fold = number + 1, walks = gone.len()).entered();
        let reduced =
            PathReduction::shared(design, &gone.iter().map(|(path, _)| &path.entries[..]).collect::<Vec<_>>())?;
        let by = PredictionContext { problem: &fold.fitted.problem, known, stop: self.watcher.sign() };
        let gone: Vec<_> = gone.into_iter().map(|job| Mutex::new(Some(job))).collect();
        in_turn(gone.len(), |k| {
            let Some((path, before)) = taken(&gone[k]) else { return Err(Error::Shape("a walk was lost".into())) };
            let size = path.entries.last().map_or(0, |entry| entry.subset.len());
            let (selector, loss, reduced) = (self.selector, self.loss, reduced.as_ref());
            let evaluation = PathEvaluation { selector, fold, design: designs[k], reduced, by, loss, most };
            let trail = evaluation.update(path, before);
            pieces[k].iter().for_each(|piece| piece.to(PiecePhase::Judged, self.extent.share(size)));
            trail
        })
        .map_err(|error| said_of_fold(error, *number))
    }
}

fn taken<T>(job: &Mutex<Option<T>>) -> Option<T> {
    job.lock().ok().and_then(|mut job| job.take())
}

#[cfg(test)]
mod tests;
