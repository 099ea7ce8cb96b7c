//! Scores from trials: refits unreliable ones, then takes the lowest over λ.

use super::mean::lowest;
use super::trial_loss::{Residuals, TrialLoss, known};
use vaglio_core::{Design, Diagnostics, Recorder, Result, Score};

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
    ///
    /// # Errors
    /// Returns an error of `each`, or [`vaglio_core::Error::Numerical`] for NaN.
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

/// Refits of unreliable trials from the rows.
#[derive(Default)]
pub(super) struct TrialRefits {
    /// Losses, each with the indices of its λ and subset.
    pub losses: Vec<(usize, usize, f64)>,
    /// Residuals of the lowest loss of a subset, with the indices of its λ and subset.
    pub residuals: Vec<(usize, usize, Vec<Residuals>)>,
    /// Largest number of rows that a refit excluded.
    pub rows_kept_out: usize,
}

/// Scores of subsets, with their diagnostics.
#[derive(Default)]
pub(super) struct ScoresWithRefits {
    pub scored: Vec<SubsetScore>,
    /// Number of refitted trials.
    pub remade: usize,
    /// Largest number of rows that a refit excluded.
    pub rows_kept_out: usize,
}

impl ScoresWithRefits {
    /// Records the diagnostics and returns the scores.
    pub fn record(self, recorder: &Recorder) -> Vec<SubsetScore> {
        let conditioning = self.scored.iter().map(|scored| scored.conditioning).fold(1.0, f64::min);
        let (remade, rows_kept_out) = (self.remade as u64, self.rows_kept_out as u64);
        recorder.note(Diagnostics { conditioning, remade, rows_kept_out, ..Diagnostics::default() });
        self.scored
    }

    /// Like [`ScoresWithRefits::record`], but returns the scores alone.
    pub fn scores(self, recorder: &Recorder) -> Vec<Score> {
        self.record(recorder).into_iter().map(|scored| scored.score).collect()
    }
}

/// Scores subsets from their trials at each λ. The refits of `again` replace unreliable trials; then the lowest over λ
/// is taken.
///
/// # Errors
/// Returns an error of `again`, or [`vaglio_core::Error::Numerical`] for NaN.
pub(super) fn settle(
    lambdas: &[f64],
    mut trials: Vec<Vec<TrialLoss>>,
    again: impl FnOnce(&[Vec<TrialLoss>]) -> Result<Vec<TrialRefits>>,
) -> Result<ScoresWithRefits> {
    let count = trials.first().map_or(0, Vec::len);
    let refits = again(&trials)?;
    let remade = refits.iter().map(|refits| refits.losses.len()).sum();
    let rows_kept_out = refits.iter().map(|refits| refits.rows_kept_out).max().unwrap_or(0);
    for &(l, k, loss) in refits.iter().flat_map(|refits| &refits.losses) {
        trials[l][k].loss = loss;
    }
    let score = |k: usize| {
        let score = lowest(lambdas.iter().zip(&trials).map(|(&lambda, trials)| (lambda, trials[k].loss)))?;
        let conditioning = trials.iter().map(|lambda_trials| known(lambda_trials[k].conditioning)).fold(1.0, f64::min);
        Ok(SubsetScore { conditioning, ..SubsetScore::new(score) })
    };
    let mut scored = (0..count).map(score).collect::<Result<Vec<SubsetScore>>>()?;
    for (l, k, residuals) in refits.into_iter().flat_map(|refits| refits.residuals) {
        if lambdas.get(l).copied() == scored[k].score.lambda {
            scored[k].residuals = residuals;
        }
    }
    Ok(ScoresWithRefits { scored, remade, rows_kept_out })
}

/// Scores candidates, pairs of lower bound and index, in batches in the order of their bounds. The first batch has
/// `first` candidates; each next batch has twice as many, up to [`ROUND`]. `settle` receives a batch's indices and the
/// best score so far. Stops when the next bound is above the best score. Returns the scored indices with their scores,
/// or `None` if another batch is needed after `most` scores.
pub(super) fn in_order_of_bounds(
    mut candidates: Vec<(f64, usize)>,
    most: usize,
    first: usize,
    mut settle: impl FnMut(&[usize], f64) -> Result<ScoresWithRefits>,
) -> Result<Option<(Vec<usize>, ScoresWithRefits)>> {
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut places, mut all) = (Vec::new(), ScoresWithRefits::default());
    let (mut best, mut round) = (f64::INFINITY, first.clamp(1, ROUND));
    let mut rest = &candidates[..];
    while rest.first().is_some_and(|(bound, _)| *bound <= best) {
        if places.len() >= most {
            return Ok(None);
        }
        let could_win = rest.iter().take(round).take_while(|(bound, _)| *bound <= best);
        let batch: Vec<usize> = could_win.map(|(_, place)| *place).collect();
        let settled = settle(&batch, best)?;
        best = settled.scored.iter().map(|scored| scored.score.loss).fold(best, f64::min);
        rest = &rest[batch.len()..];
        places.extend(batch);
        all.scored.extend(settled.scored);
        all.remade += settled.remade;
        all.rows_kept_out = all.rows_kept_out.max(settled.rows_kept_out);
        round = (2 * round).min(ROUND);
    }
    Ok(Some((places, all)))
}
