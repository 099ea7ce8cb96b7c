//! Walks of all folds that go on together, as long as the loss that they have in common falls.
//!
//! Sizes are chosen by the loss pooled over folds, so walks beyond the size at which that is lowest are worth nothing. The walks
//! of every fold and λ pause at the same sizes, the checkpoints: 20, then five more, from 50 on a tenth more. At a checkpoint c
//! the walks at a λ end where
//!
//! * its lowest loss is that of a size `patience` or more below c, or
//! * its lowest loss is above the lowest of any λ, both among sizes up to c, by five standard errors of the difference on the
//!   same rows, or
//! * they all have ended by themselves.
//!
//! All of this follows from losses of sizes up to c, whatever was walked first, so neither threads nor the journal change where
//! walks end. How many λ go together follows from the plan; those that come later are compared with those that have ended.
//! A search that may not pause, such as one that begins with all columns, walks as far as it goes. Where memory does not hold the
//! folds of all, a fold is made again for each checkpoint and walked there from the start, which changes nothing of it.

mod anew;
mod ends;
mod start;

pub(super) use start::FoldStart;

use ends::{Group, next};

use super::along::Reduced;
use super::pool::{Member, Piece, PieceWork, WalkExtent, Watcher, in_turn};
use super::table::Matched;
use super::validated::{FoldTraining, FoldTrainings, said_of_fold};
use super::walks::{Trail, gone_on, most_clusters};
use crate::final_model::Judging;
use crate::selector::{ValidSelector, Walking};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::time::Instant;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{AtPenalty, Design, Error, Journal, Loss, Monitor, Path, Result};

/// The first checkpoint of a choice.
pub const FIRST: usize = 20;
/// Bytes of the walks that are held at once, about.
const MOST_HELD: f64 = 1e9;

/// How many sizes cross-validated walks have as a rule, of a search that goes up to `largest`: as many as make one checkpoint
/// after the loss was lowest at a size that is usual.
pub fn expected_sizes(largest: usize, patience: Option<usize>) -> usize {
    patience.map_or(largest, |patience| largest.min(patience.saturating_mul(2).saturating_add(FIRST)))
}

/// The walks of all folds at one λ.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfLambda {
    /// Of every fold.
    pub trails: Vec<Trail>,
    /// The checkpoint at which they ended; `None` where they all ended by themselves.
    pub end: Option<usize>,
    /// The size of the walk on all rows, where the λ is a penalty to which all walk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<usize>,
}

impl OfLambda {
    /// With the size of all columns on all rows, and how often rows were dealt into folds.
    pub(super) fn matched(&self, (everything, repeats): (usize, usize)) -> Matched<'_> {
        Matched::new(&self.trails, (self.whole.unwrap_or(everything), repeats))
    }

    /// The same with the losses on the other scale of mapped targets, where there is one.
    pub(super) fn on_other_scale(&self) -> Option<OfLambda> {
        let trails = self.trails.iter().map(|trail| trail.other.as_deref().cloned()).collect::<Option<_>>()?;
        Some(OfLambda { trails, ..*self })
    }

    /// The walks to each penalty at which the path of all rows has a model that may be the result, of one walk a fold.
    pub(crate) fn to_penalties(&self, path: &Path) -> (Vec<Option<f64>>, Vec<OfLambda>) {
        let to = |at: &AtPenalty| OfLambda {
            trails: self.trails.iter().map(|trail| trail.to_penalty(at.lambda)).collect(),
            end: None,
            whole: Some(at.entry.subset.len()),
        };
        let allowed = path.at_penalties.iter().filter(|at| path.allowed.contains(&at.entry.subset.len()));
        allowed.map(|at| (Some(at.lambda), to(at))).unzip()
    }
}

/// What walks together: folds, and by what they are judged.
pub(super) struct Lockstep<'a, 'o> {
    pub selector: &'a ValidSelector,
    pub folds: TrainingRows<'a>,
    pub loss: &'a dyn Loss,
    pub patience: Option<usize>,
    /// The size of all columns on all rows, and how often rows were dealt into folds.
    pub of: (usize, usize),
    /// Of every fold where its walks stand at the first checkpoint, if that is known.
    pub starts: Option<&'a [FoldStart]>,
    pub watcher: &'a Watcher<'o>,
    pub journal: &'a Journal,
    /// The sizes of its walks.
    pub extent: WalkExtent,
    /// Fold by fold those of the stage at each λ; none where it is of whole folds.
    pub pieces: &'a [Piece<'a, 'o>],
}

/// The training rows of all folds.
#[derive(Clone, Copy)]
pub(super) enum TrainingRows<'a> {
    /// All at once, from when they are needed.
    Held(&'a FoldTrainings<'a>),
    /// Of so many folds, each made when it is needed.
    Anew(usize, &'a (dyn Fn(usize) -> Result<FoldTraining> + Sync)),
}

impl TrainingRows<'_> {
    fn count(&self) -> usize {
        match self {
            TrainingRows::Held(folds) => folds.count,
            TrainingRows::Anew(count, _) => *count,
        }
    }

    fn with<T>(&self, fold: usize, of: impl FnOnce(&FoldTraining) -> Result<T>) -> Result<T> {
        match self {
            TrainingRows::Held(folds) => of(&folds.get()?[fold]),
            TrainingRows::Anew(_, make) => of(&make(fold)?),
        }
    }
}

/// Where walks stand at a checkpoint: their trails by fold and active λ, and whether any walk at a λ may go on.
struct Reached {
    trails: Vec<Vec<Trail>>,
    paused: Vec<bool>,
}

/// The path of a walk that has gone on, with its trail before.
type Gone = (Path, Option<Trail>);

/// A walk that may go on; its monitor until it begins.
enum HeldWalk<'a> {
    Unopened(Monitor<'a>),
    Open(Box<Walking<'a>>),
}

/// A walk that one thread at a time takes out, and puts back when it pauses.
type SharedWalk<'a> = Mutex<Option<HeldWalk<'a>>>;

impl<'a, 'o> Lockstep<'a, 'o> {
    /// The walks at each λ, some of which are known; `before` are those at others. `None` when they were stopped.
    ///
    /// As many λ go together as memory holds the walks of, by the plan's bytes.
    ///
    /// # Errors
    /// Those of the search and the fits, on the training rows of the fold.
    pub fn walks(
        &self,
        lambdas: &[Option<f64>],
        before: &[OfLambda],
        known: Vec<Option<OfLambda>>,
    ) -> Result<Option<Vec<OfLambda>>> {
        let (together, most) = match self.starts {
            Some([start, ..]) => start.extent,
            _ => match self.extent(lambdas) {
                Err(Error::Stopped(_)) => return Ok(None),
                extent => extent?,
            },
        };
        let mut all = known;
        for first in (0..lambdas.len()).step_by(together) {
            let open: Vec<usize> = (first..lambdas.len().min(first + together)).collect();
            if open.iter().all(|&at| all[at].is_some()) {
                (0..self.folds.count()).for_each(|fold| open.iter().for_each(|&at| self.end(fold, at)));
                continue;
            }
            // Losses have the bits of a triangle of all that go together, so that a part of them is walked again.
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

    /// How many of the λ go together, and how many clusters tallies tell apart.
    pub fn extent(&self, lambdas: &[Option<f64>]) -> Result<(usize, u32)> {
        let (true, Some(&lambda)) = (self.folds.count() > 0, lambdas.first()) else { return Ok((1, 32)) };
        let count = lambdas.len();
        let (outline, bytes) = self.folds.with(0, |first| {
            let design = first.design.at_lambda(lambda);
            let outline = self.selector.search().outline(&design)?;
            let bytes = match outline.is_unscored(&design) {
                true => 0.0,
                false => self.selector.criterion().estimate(&design, &outline).bytes,
            };
            Ok((outline, bytes))
        })?;
        let bytes = bytes * self.folds.count() as f64;
        let together = if bytes > 0.0 { (MOST_HELD / bytes) as usize } else { count };
        let sizes = expected_sizes(outline.largest, self.patience) + 1;
        Ok((together.clamp(1, count), most_clusters(count * sizes)))
    }

    /// The walks at some λ, by their places; `others` are those that have ended.
    fn group(
        &self,
        lambdas: &[Option<f64>],
        places: &[usize],
        others: &[&OfLambda],
        most: u32,
    ) -> Result<Option<Vec<OfLambda>>> {
        let count = places.len();
        let mut of_group = Group {
            trails: (0..count).map(|_| (0..self.folds.count()).map(|_| None).collect()).collect(),
            done: (0..count).map(|_| None).collect(),
            places: places.to_vec(),
        };
        let mut checkpoint = FIRST;
        if let Some(starts) = self.starts {
            let reached = Reached::of(starts, places);
            self.settle(&mut of_group, (reached, checkpoint), others)?;
            checkpoint = next(checkpoint);
            if of_group.is_done() {
                return Ok(of_group.done.into_iter().collect());
            }
        }
        let held = match self.folds {
            TrainingRows::Held(folds) => match folds.get() {
                Err(Error::Stopped(_)) => return Ok(None),
                folds => folds?,
            },
            TrainingRows::Anew(..) => &[],
        };
        let pairs = || (0..held.len()).flat_map(|fold| (0..count).map(move |at| (fold, at)));
        let design = |(fold, at): (usize, usize)| self.design(&held[fold], lambdas[places[at]]);
        let designs: Vec<Design> = match pairs().map(design).collect() {
            Err(Error::Stopped(_)) => return Ok(None),
            designs => designs?,
        };
        let mut members: Vec<_> = pairs().map(|(fold, at)| self.member(fold, places[at])).collect();
        let begin = |member| Mutex::new(Some(HeldWalk::Unopened(Member::monitor(member))));
        let walkings: Vec<SharedWalk<'_>> = members.iter_mut().map(begin).collect();
        loop {
            let active = of_group.active();
            if active.is_empty() {
                return Ok(of_group.done.into_iter().collect());
            }
            let until = self.patience.map(|_| checkpoint);
            let trails = &mut of_group.trails;
            let reached = match self.folds {
                TrainingRows::Held(_) => {
                    let walks = (held, &designs[..], &walkings[..]);
                    self.gone_on(walks, (&active, places), until, trails, most)?
                }
                TrainingRows::Anew(..) => self.made_anew((lambdas, places), &active, until, trails, most)?,
            };
            let Some(reached) = reached else { return Ok(None) };
            if self.selector.model.is_some() && self.watcher.stopped().is_some() {
                // Final models whose training was cut short lack sizes.
                return Ok(None);
            }
            for at in self.settle(&mut of_group, (reached, checkpoint), others)? {
                for walking in walkings.iter().skip(at).step_by(count) {
                    taken(walking);
                }
            }
            checkpoint = next(checkpoint);
        }
    }

    /// The design of a fold at a λ.
    fn design(&self, of: &FoldTraining, lambda: Option<f64>) -> Result<Design> {
        self.selector.at_lambda_of_all(&of.design.at_lambda(lambda).stopping_at(self.watcher.sign().clone()))
    }

    /// The monitor of a walk, with the part of the journal that it has.
    fn member(&self, fold: usize, place: usize) -> Member<'a, 'o> {
        let journal = self.journal.within(format_args!("choose/{fold}/walk/{place}"));
        self.watcher.member(journal).over(Some(self.extent)).of_piece(self.piece(fold, place))
    }

    /// The piece of the stage that a walk is, by its fold and the place of its λ.
    fn piece(&self, fold: usize, place: usize) -> Option<&'a Piece<'a, 'o>> {
        let lambdas = self.pieces.len() / self.folds.count().max(1);
        self.pieces.get(fold * lambdas + place)
    }

    /// Ends the piece of the stage that a walk is.
    fn end(&self, fold: usize, place: usize) {
        self.piece(fold, place).map_or_else(|| self.watcher.piece(), Piece::end);
    }

    /// The walks at the active λ go on to a size, and their trails follow; `None` when they were stopped.
    fn gone_on<'d>(
        &'d self,
        (folds, designs, walkings): (&'d [FoldTraining], &'d [Design], &[SharedWalk<'d>]),
        (active, places): (&[usize], &[usize]),
        until: Option<usize>,
        trails: &mut [Vec<Option<Trail>>],
        most: u32,
    ) -> Result<Option<Reached>> {
        let count = trails.len();
        let paths = in_turn(folds.len() * active.len(), |job| {
            let (fold, at) = (job / active.len(), active[job % active.len()]);
            let (place, number) = (fold * count + at, folds[fold].number);
            let path = self.advance(number, &walkings[place], &designs[place], until);
            if let (Some(piece), Ok(Some((_, false)))) = (self.piece(fold, places[at]), &path) {
                piece.to(PieceWork::Walked, 1.0);
            }
            path.map_err(|error| said_of_fold(error, number))
        })?;
        let Some(paths) = paths.into_iter().collect::<Option<Vec<(Path, bool)>>>() else { return Ok(None) };
        let (paths, paused): (Vec<Path>, Vec<bool>) = paths.into_iter().unzip();
        let is_paused = |k: usize| paused.iter().skip(k).step_by(active.len()).any(|paused| *paused);
        let begin = |(job, path): (usize, Path)| {
            Mutex::new(Some((path, trails[active[job % active.len()]][job / active.len()].take())))
        };
        let jobs: Vec<Mutex<Option<Gone>>> = paths.into_iter().enumerate().map(begin).collect();
        let trails = in_turn(folds.len(), |fold| {
            let own = &jobs[fold * active.len()..(fold + 1) * active.len()];
            let designs: Vec<&Design> = active.iter().map(|at| &designs[fold * count + at]).collect();
            let pieces: Vec<_> = active.iter().map(|&at| self.piece(fold, places[at])).collect();
            self.follow((&folds[fold], &designs), own.iter().filter_map(taken).collect(), &pieces, most)
        })?;
        Ok(Some(Reached { trails, paused: (0..active.len()).map(is_paused).collect() }))
    }

    /// A walk goes on to a size: its path, and whether it can go on from there; `None` when it was stopped.
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
            HeldWalk::Unopened(monitor) => Box::new(Walking::open(self.selector, design, Instant::now(), monitor)?),
            HeldWalk::Open(walking) => walking,
        };
        let path = walking.to(until)?.clone();
        span.record("size", path.entries.last().map_or(0, |entry| entry.subset.len()));
        let reached = (!path.stop_reason.is_partial()).then(|| (path, walking.is_paused()));
        *held.lock().map_err(|_| lost())? = Some(HeldWalk::Open(walking));
        Ok(reached)
    }

    /// The trails of a fold follow the paths of the active λ.
    fn follow(
        &self,
        (of, designs): (&FoldTraining, &[&Design]),
        gone: Vec<Gone>,
        pieces: &[Option<&Piece<'_, '_>>],
        most: u32,
    ) -> Result<Vec<Trail>> {
        let FoldTraining { fold: rows, design, number, known } = of;
        let _judged = tracing::debug_span!("losses", fold = number + 1, walks = gone.len()).entered();
        let reduced = Reduced::shared(design, &gone.iter().map(|(path, _)| &path.entries[..]).collect::<Vec<_>>())?;
        let by = Judging { known, stop: self.watcher.sign(), reduced: reduced.as_ref() };
        let gone: Vec<_> = gone.into_iter().map(|job| Mutex::new(Some(job))).collect();
        in_turn(gone.len(), |k| {
            let Some((path, before)) = taken(&gone[k]) else { return Err(Error::Shape("a walk was lost".into())) };
            let size = path.entries.last().map_or(0, |entry| entry.subset.len());
            let trail = gone_on(self.selector, (rows, designs[k]), (path, before), by, (self.loss, most));
            pieces[k].iter().for_each(|piece| piece.to(PieceWork::Judged, self.extent.share(size)));
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
