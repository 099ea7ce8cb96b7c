//! One search that several processes make together.
//!
//! Each runs the whole search and makes only some parts of what it asks of all columns; the parts of the others it gets from them. A search
//! is a function of its answers, so all of them go through the same steps, and none needs to be there: whoever misses a part makes it.

use crate::{Diagnostics, Error, Evaluator, Feature, Recorder, Result, Score, Trials};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// The processes that make one search together, as one of them sees them.
pub trait ProcessGroup: Debug + Send + Sync {
    /// The numbers of `count` items by parts, in the order of the items, whoever made them. `make` gives those of some items, which are
    /// the same wherever it is called.
    ///
    /// # Errors
    /// Those of `make`; [`crate::Error::Stopped`].
    fn gather(&self, question: Question<'_>, count: usize, make: &mut Make<'_>) -> Result<Vec<Vec<f64>>>;
}

/// What is asked, which all processes ask in the same words.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// Its kind: questions of one kind take about as long.
    pub kind: &'q str,
    /// Which of its kind it is.
    pub which: &'q str,
}

/// The numbers of some of the items of a question.
pub type Make<'m> = dyn FnMut(Range<usize>) -> Result<Vec<f64>> + 'm;

/// Trials of all candidates, which a group of processes makes by parts.
#[derive(Clone)]
pub(crate) struct Together {
    pub processes: Arc<dyn ProcessGroup>,
    pub recorder: Recorder,
    /// The search, and which of its answers it is.
    pub kind: String,
    pub which: String,
}

impl Together {
    /// The scores of trials; `None` where the evaluator makes them alone, as it does where some are refitted.
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn scores(
        &self,
        evaluator: &mut dyn Evaluator,
        subset: &[Feature],
        trials: Trials<'_>,
    ) -> Result<Option<Vec<Score>>> {
        if !evaluator.is_in_parts(trials) {
            return Ok(None);
        }
        let candidates = trials.candidates();
        let mut tried = |some: &[Feature], scores: &mut [Score]| match trials.are_additions() {
            true => evaluator.score_additions(subset, some, scores),
            false => evaluator.score_removals(subset, some, scores),
        };
        // Caches are begun by all alike.
        tried(&[], &mut [])?;
        let recorder = &self.recorder;
        let question = Question { kind: &self.kind, which: &self.which };
        let before = recorder.take();
        let parts = self.processes.gather(question, candidates.len(), &mut |range| {
            let mut scores = vec![Score::WORST; range.len()];
            tried(&candidates[range], &mut scores)?;
            Ok(written(&scores, recorder.take()))
        })?;
        let (mut scores, mut noted) = (Vec::with_capacity(candidates.len()), None);
        for part in parts {
            let (of_part, of_trials) = read(&part)?;
            scores.extend(of_part);
            noted = Diagnostics::of([noted, of_trials]);
        }
        if noted.is_some_and(|noted: Diagnostics| noted.remade > 0) {
            // What is refitted is refitted with its neighbors, whose parts are others': all make these trials alone.
            recorder.put(before);
            return Ok(None);
        }
        recorder.put(Diagnostics::of([before, noted]));
        Ok(Some(scores))
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
