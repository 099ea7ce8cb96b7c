//! Trials that several processes share.

use vaglio_core::{
    CacheEffect, Diagnostics, Error, Evaluator, Feature, ProcessGroup, Recorder, Result, Score, Trials, WorkItem,
};

/// The scores of all candidates, computed in parts by the processes. `None` if this process must run all trials itself:
/// they leave a lasting trace, or some are refitted.
///
/// # Errors
/// Returns an error of the evaluator or of [`ProcessGroup::gather`].
pub(crate) fn distributed_scores(
    evaluator: &mut dyn Evaluator,
    recorder: &Recorder,
    subset: &[Feature],
    trials: Trials<'_>,
    processes: &dyn ProcessGroup,
    work: WorkItem<'_>,
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
    let parts = processes.gather(work, candidates.len(), &mut |range| {
        let scores = evaluator.scores(trials.change, subset, &candidates[range])?;
        Ok(written(&scores, recorder.take()))
    })?;
    let (mut scores, mut noted) = (Vec::with_capacity(candidates.len()), None);
    for part in parts {
        let (of_part, of_trials) = read(&part)?;
        scores.extend(of_part);
        noted = Diagnostics::merge([noted, of_trials]);
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

/// Serializes scores and diagnostics: count, scores (λ as NaN if absent), diagnostics.
fn written(scores: &[Score], noted: Option<Diagnostics>) -> Vec<f64> {
    let of_score = |score: &Score| [score.loss, score.lambda.unwrap_or(f64::NAN)];
    let noted = noted.map(|of| [of.conditioning, of.remade as f64, of.rebuilt as f64, of.rows_kept_out as f64]);
    std::iter::once(scores.len() as f64)
        .chain(scores.iter().flat_map(of_score))
        .chain(noted.into_iter().flatten())
        .collect()
}

/// # Errors
/// Returns [`Error::Shape`] if the part has another length.
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
