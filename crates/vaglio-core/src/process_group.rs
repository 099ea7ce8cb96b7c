//! One search that several processes make together.
//!
//! Each process runs the whole search, but makes only some parts of the trials of all columns and gets the other parts from the others. A
//! search is a function of its answers, so all go through the same steps. None is needed: a process makes a part that it misses.

use crate::{Diagnostics, Error, Evaluator, Feature, Recorder, Result, Score, Trace, Trials};
use std::fmt::Debug;
use std::ops::Range;

/// The processes that make one search together, as one of them sees them.
pub trait ProcessGroup: Debug + Send + Sync {
    /// The numbers of `count` items by parts, in the order of the items, from any process. `compute` gives those of some items, the same
    /// wherever it is called.
    ///
    /// # Errors
    /// Those of `compute`; [`crate::Error::Stopped`].
    fn gather(&self, work: WorkItem<'_>, count: usize, compute: &mut Compute<'_>) -> Result<Vec<Vec<f64>>>;
}

/// Work that all processes name in the same words.
#[derive(Debug, Clone, Copy)]
pub struct WorkItem<'w> {
    /// The kind of work: items of one kind take about as long.
    pub kind: &'w str,
    /// The name of the item among those of the kind.
    pub which: &'w str,
}

/// Computes the numbers of some items.
pub type Compute<'c> = dyn FnMut(Range<usize>) -> Result<Vec<f64>> + 'c;

/// Trials of a subset by its evaluator.
pub(crate) struct DistributedTrials<'t> {
    pub evaluator: &'t mut dyn Evaluator,
    pub recorder: &'t Recorder,
    pub subset: &'t [Feature],
    pub trials: Trials<'t>,
}

impl DistributedTrials<'_> {
    /// The scores of all candidates, of which each process tries some; `None` where this one makes all trials alone: they leave a lasting
    /// trace, or some are refitted.
    ///
    /// # Errors
    /// Those of the evaluator and of [`ProcessGroup::gather`].
    pub fn scores(self, processes: &dyn ProcessGroup, work: WorkItem<'_>) -> Result<Option<Vec<Score>>> {
        let DistributedTrials { evaluator, recorder, subset, trials } = self;
        let trace = evaluator.trace(trials);
        if trace == Trace::Lasting {
            return Ok(None);
        }
        let candidates = trials.candidates();
        let before = recorder.take();
        if trace == Trace::Begun {
            try_first(evaluator, subset, trials)?;
            recorder.take();
        }
        let parts = processes.gather(work, candidates.len(), &mut |range| {
            let mut scores = vec![Score::WORST; range.len()];
            evaluator.scores(trials.change(), subset, &candidates[range], &mut scores)?;
            Ok(written(&scores, recorder.take()))
        })?;
        let (mut scores, mut noted) = (Vec::with_capacity(candidates.len()), None);
        for part in parts {
            let (of_part, of_trials) = read(&part)?;
            scores.extend(of_part);
            noted = Diagnostics::of([noted, of_trials]);
        }
        if noted.is_some_and(|noted: Diagnostics| noted.remade > 0) {
            // Trials are refitted together with others, which may be in other parts.
            recorder.put(before);
            return Ok(None);
        }
        recorder.put(Diagnostics::of([before, noted]));
        Ok(Some(scores))
    }
}

/// Brings caches to where trials leave them that have [begun](Trace::Begun) something.
pub(crate) fn try_first(evaluator: &mut dyn Evaluator, subset: &[Feature], trials: Trials<'_>) -> Result<()> {
    let all = trials.candidates();
    let first = &all[..all.len().min(2)];
    match trials {
        Trials::BestAddition(_) | Trials::BestRemoval(_) => evaluator.best(trials.change(), subset, first).map(drop),
        _ => evaluator.scores(trials.change(), subset, first, &mut [Score::WORST; 2][..first.len()]),
    }
}

/// How many scores there are, the scores, λ being NaN where there is none, and what was noted of them.
fn written(scores: &[Score], noted: Option<Diagnostics>) -> Vec<f64> {
    let of_score = |score: &Score| [score.loss, score.lambda.unwrap_or(f64::NAN)];
    let noted = noted.map(|of| [of.conditioning, of.remade as f64, of.rebuilt as f64, of.rows_kept_out as f64]);
    std::iter::once(scores.len() as f64)
        .chain(scores.iter().flat_map(of_score))
        .chain(noted.into_iter().flatten())
        .collect()
}

/// # Errors
/// [`Error::Shape`] where that is not what they are.
fn read(part: &[f64]) -> Result<(Vec<Score>, Option<Diagnostics>)> {
    let lost = || Error::Shape("what another process has of a search is cut short".into());
    let (&count, rest) = part.split_first().ok_or_else(lost)?;
    let (scores, noted) = rest.split_at_checked(2 * count as usize).ok_or_else(lost)?;
    let of_score = |pair: &[f64]| Score { loss: pair[0], lambda: Some(pair[1]).filter(|lambda| !lambda.is_nan()) };
    let noted = match *noted {
        [] => None,
        [conditioning, remade, rebuilt, rows_kept_out] => {
            let [remade, rebuilt, rows_kept_out] = [remade, rebuilt, rows_kept_out].map(|count| count as u64);
            Some(Diagnostics { conditioning, remade, rebuilt, rows_kept_out, single: None })
        }
        _ => return Err(lost()),
    };
    Ok((scores.chunks_exact(2).map(of_score).collect(), noted))
}
