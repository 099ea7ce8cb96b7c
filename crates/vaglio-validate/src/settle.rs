//! Scores from trials: the unreliable are made again, then the lowest over λ is taken.

use super::mean::lowest;
use super::trial_loss::{Residuals, TrialLoss, known};
use vaglio_core::{Design, Recorder, Result, Score};

/// Candidates that are settled at once, at most.
const ROUND: usize = 32;

/// The score of a subset, and the residuals of each round with the λ that won, where these are known.
pub(super) struct Scored {
    pub score: Score,
    pub residuals: Vec<Residuals>,
    /// Its standard error, where that is known.
    pub error: Option<f64>,
}

impl Scored {
    /// The lowest of the losses over λ, each given with its residuals.
    ///
    /// # Errors
    /// Those of `each`; [`vaglio_core::Error::Numerical`] for NaN.
    pub fn lowest(design: &Design, mut each: impl FnMut(f64) -> Result<(f64, Vec<Residuals>)>) -> Result<Self> {
        let (mut lowest, mut best) = (f64::INFINITY, Vec::new());
        let score = design.best_lambda(|lambda| {
            let (loss, residuals) = each(lambda.unwrap_or_default())?;
            if loss < lowest {
                (lowest, best) = (loss, residuals);
            }
            Ok(loss)
        })?;
        Ok(Scored { score: score.checked()?, residuals: best, error: None })
    }
}

/// Unreliable trials made again from the rows.
#[derive(Default)]
pub(super) struct Remade {
    /// The loss of each, by the places of its λ and subset.
    pub losses: Vec<(usize, usize, f64)>,
    /// The residuals of the lowest of a subset, likewise.
    pub residuals: Vec<(usize, usize, Vec<Residuals>)>,
    /// The rows that one of them kept out, at most.
    pub rows_kept_out: usize,
}

impl Remade {
    /// Those of several subsets together.
    pub fn all(of_subsets: Vec<Remade>) -> Self {
        let mut all = Remade::default();
        for Remade { losses, residuals, rows_kept_out } in of_subsets {
            all.losses.extend(losses);
            all.residuals.extend(residuals);
            all.rows_kept_out = all.rows_kept_out.max(rows_kept_out);
        }
        all
    }
}

/// Scores of subsets, and what rounding asked of them.
pub(super) struct Settled {
    pub scored: Vec<Scored>,
    /// The least conditioning of each.
    pub conditioning: Vec<f64>,
    /// Trials that were made again from the rows, and the rows that one of them kept out, at most.
    pub remade: usize,
    pub rows_kept_out: usize,
}

impl Settled {
    /// The scores, after what rounding asked of them was noted.
    pub fn noted(self, recorder: &Recorder) -> Vec<Scored> {
        self.conditioning.iter().for_each(|conditioning| recorder.met(*conditioning));
        recorder.remade(self.remade, self.rows_kept_out);
        self.scored
    }
}

/// The scores of subsets from their trials, given for each λ: what `again` made of the unreliable takes their place, then
/// the lowest over λ is taken.
///
/// # Errors
/// Those of `again`; [`vaglio_core::Error::Numerical`] for NaN.
pub(super) fn settle(
    lambdas: &[f64],
    mut trials: Vec<Vec<TrialLoss>>,
    again: impl FnOnce(&[Vec<TrialLoss>]) -> Result<Remade>,
) -> Result<Settled> {
    let count = trials.first().map_or(0, Vec::len);
    let least = |k: usize| trials.iter().map(|of_lambda| known(of_lambda[k].conditioning)).fold(1.0, f64::min);
    let conditioning = (0..count).map(least).collect();
    let Remade { losses, residuals, rows_kept_out } = again(&trials)?;
    for &(l, k, loss) in &losses {
        trials[l][k].loss = loss;
    }
    let score = |k: usize| {
        let score = lowest(lambdas.iter().zip(&trials).map(|(&lambda, trials)| (lambda, trials[k].loss)))?;
        Ok(Scored { score, residuals: Vec::new(), error: None })
    };
    let mut scored = (0..count).map(score).collect::<Result<Vec<Scored>>>()?;
    for (l, k, residuals) in residuals {
        if lambdas.get(l).copied() == scored[k].score.lambda {
            scored[k].residuals = residuals;
        }
    }
    Ok(Settled { scored, conditioning, remade: losses.len(), rows_kept_out })
}

/// Settles candidates, each with its lower bound and its place, in the order of their bounds, in rounds of `first`, twice as
/// many, …, until the next bound is above the best score; `None` where more than `most` would have to be.
///
/// `settle` is given the places of a round and the best score so far.
pub(super) fn in_order_of_bounds(
    mut candidates: Vec<(f64, usize)>,
    most: usize,
    first: usize,
    mut settle: impl FnMut(&[usize], f64) -> Result<Vec<Score>>,
) -> Result<Option<Vec<(usize, Score)>>> {
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut settled, mut best, mut round) = (Vec::new(), f64::INFINITY, first.clamp(1, ROUND));
    let mut rest = &candidates[..];
    while rest.first().is_some_and(|(bound, _)| *bound <= best) {
        if settled.len() >= most {
            return Ok(None);
        }
        let could_win = rest.iter().take(round).take_while(|(bound, _)| *bound <= best);
        let places: Vec<usize> = could_win.map(|(_, place)| *place).collect();
        let scores = settle(&places, best)?;
        best = scores.iter().map(|score| score.loss).fold(best, f64::min);
        rest = &rest[places.len()..];
        settled.extend(places.into_iter().zip(scores));
        round = (2 * round).min(ROUND);
    }
    Ok(Some(settled))
}
