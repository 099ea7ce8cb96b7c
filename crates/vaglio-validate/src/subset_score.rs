//! Scores of subsets: the lowest loss over λ of their trials.

use super::fits::Residuals;
use super::mean::lowest;
use vaglio_core::{Design, Result, Score};
use vaglio_kernels::Trial;

/// Largest number of candidates in one batch.
const ROUND: usize = 32;

/// The score of a subset.
pub(super) struct SubsetScore {
    pub score: Score,
    /// The residuals of each round at the best λ, if known.
    pub residuals: Vec<Residuals>,
    /// The standard error of the score, if known.
    pub error: Option<f64>,
    /// The lowest conditioning of the trials at all λ.
    pub conditioning: f64,
}

impl SubsetScore {
    pub fn new(score: Score) -> Self {
        SubsetScore { score, residuals: Vec::new(), error: None, conditioning: 1.0 }
    }

    /// Takes the lowest loss over λ, with its residuals.
    pub fn lowest(design: &Design, mut each: impl FnMut(f64) -> Result<(f64, Vec<Residuals>)>) -> Result<Self> {
        let (mut lowest, mut best) = (f64::INFINITY, Vec::new());
        let score = design.best_lambda(|lambda| {
            let (loss, residuals) = each(lambda.unwrap_or_default())?;
            if loss < lowest {
                (lowest, best) = (loss, residuals);
            }
            Ok(loss)
        })?;
        Ok(SubsetScore { residuals: best, ..SubsetScore::new(score.checked()?) })
    }
}

/// Scores subsets from their trials at each λ: the lowest loss over λ.
pub(super) fn score_trials(lambdas: &[f64], trials: &[Vec<Trial>]) -> Result<Vec<SubsetScore>> {
    let score = |k: usize| {
        let score = lowest(lambdas.iter().zip(trials).map(|(&lambda, trials)| (lambda, trials[k].loss)))?;
        let conditioning = trials.iter().map(|lambda_trials| lambda_trials[k].conditioning).fold(1.0, f64::min);
        Ok(SubsetScore { conditioning, ..SubsetScore::new(score) })
    };
    (0..trials.first().map_or(0, Vec::len)).map(score).collect()
}

/// The scores alone.
pub(super) fn scores(scored: &[SubsetScore]) -> Vec<Score> {
    scored.iter().map(|scored| scored.score).collect()
}

/// The lowest conditioning of the trials of some subsets.
pub(super) fn lowest_conditioning(scored: &[SubsetScore]) -> f64 {
    scored.iter().map(|scored| scored.conditioning).fold(1.0, f64::min)
}

/// Scores candidates, pairs of lower bound and index, in batches in the order of their bounds. The first batch has
/// `first` candidates; each next batch has twice as many, up to [`ROUND`]. `score` receives a batch's indices and the
/// best score so far. Stops when the next bound is above the best score. Returns the scored indices with their scores,
/// or `None` if another batch is needed after `most` scores.
pub(super) fn in_order_of_bounds(
    mut candidates: Vec<(f64, usize)>,
    most: usize,
    first: usize,
    mut score: impl FnMut(&[usize], f64) -> Result<Vec<SubsetScore>>,
) -> Result<Option<(Vec<usize>, Vec<SubsetScore>)>> {
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut places, mut all) = (Vec::new(), Vec::new());
    let (mut best, mut round) = (f64::INFINITY, first.clamp(1, ROUND));
    let mut rest = &candidates[..];
    while rest.first().is_some_and(|(bound, _)| *bound <= best) {
        if places.len() >= most {
            return Ok(None);
        }
        let could_win = rest.iter().take(round).take_while(|(bound, _)| *bound <= best);
        let batch: Vec<usize> = could_win.map(|(_, place)| *place).collect();
        let scored = score(&batch, best)?;
        best = scored.iter().map(|scored| scored.score.loss).fold(best, f64::min);
        rest = &rest[batch.len()..];
        places.extend(batch);
        all.extend(scored);
        round = (2 * round).min(ROUND);
    }
    Ok(Some((places, all)))
}
