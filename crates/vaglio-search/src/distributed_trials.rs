//! Trials that several processes share.

use vaglio_core::{CacheEffect, Compute, Diagnostics, Error, Evaluator, Feature, Recorder, Result, Score, Trials};

/// The scores of all candidates, computed in parts by the processes. `None` if this process must run all trials itself:
/// they leave a lasting trace, or some are refitted.
///
/// # Errors
/// Returns an error of the evaluator or of `gather`.
pub(crate) fn distributed_scores(
    evaluator: &mut dyn Evaluator,
    recorder: &Recorder,
    subset: &[Feature],
    trials: Trials<'_>,
    gather: impl FnOnce(usize, &mut Compute<'_>) -> Result<Vec<Vec<f64>>>,
) -> Result<Option<Vec<Score>>> {
    let trace = evaluator.trace(trials);
    if trace == CacheEffect::Lasting {
        return Ok(None);
    }
    let candidates = trials.candidates;
    let before = recorder.take();
    if trace == CacheEffect::Begun {
        try_first(evaluator, subset, trials)?;
        recorder.take();
    }
    let parts = gather(candidates.len(), &mut |range| {
        let scores = evaluator.scores(trials.change, subset, &candidates[range])?;
        Ok(written(&scores, recorder.take().unwrap_or_default()))
    })?;
    let (mut scores, mut noted) = (Vec::with_capacity(candidates.len()), None);
    for part in parts {
        let Some((of_part, of_trials)) = read(&part) else { break };
        scores.extend(of_part);
        noted = Diagnostics::merge([noted, Some(of_trials)]);
    }
    if scores.len() != candidates.len() {
        return Err(Error::Shape("what another process has of a search is cut short".into()));
    }
    if noted.is_some_and(|noted: Diagnostics| noted.remade > 0) {
        // Trials are refitted jointly with others, which may be in other parts.
        recorder.note(before);
        return Ok(None);
    }
    recorder.note(Diagnostics::merge([before, noted]));
    Ok(Some(scores))
}

/// Brings caches to the state that trials with trace [`CacheEffect::Begun`] leave.
pub(crate) fn try_first(evaluator: &mut dyn Evaluator, subset: &[Feature], trials: Trials<'_>) -> Result<()> {
    let Trials { change, candidates, is_best } = trials;
    let first = &candidates[..candidates.len().min(2)];
    match is_best {
        true => evaluator.best(change, subset, first).map(drop),
        false => evaluator.scores(change, subset, first).map(drop),
    }
}

/// Serializes scores, each with its λ or NaN, and the diagnostics of their trials.
fn written(scores: &[Score], noted: Diagnostics) -> Vec<f64> {
    let of_score = |score: &Score| [score.loss, score.lambda.unwrap_or(f64::NAN)];
    let counts = [noted.remade, noted.rebuilt, noted.rows_kept_out].map(|count| count as f64);
    scores.iter().flat_map(of_score).chain([noted.conditioning]).chain(counts).collect()
}

/// The scores and diagnostics of a part; `None` if it is cut short.
fn read(part: &[f64]) -> Option<(impl Iterator<Item = Score>, Diagnostics)> {
    let (scores, &[conditioning, counts @ ..]) = part.split_last_chunk::<4>()?;
    let [remade, rebuilt, rows_kept_out] = counts.map(|count| count as u64);
    let of_score = |pair: &[f64]| Score { loss: pair[0], lambda: Some(pair[1]).filter(|lambda| !lambda.is_nan()) };
    let noted = Diagnostics { conditioning, remade, rebuilt, rows_kept_out, single: None };
    Some((scores.chunks_exact(2).map(of_score), noted))
}
