//! Scores from trials: the unreliable are made again, then the lowest over λ is taken.

use super::fits::Residuals;
use super::mean::lowest;
use rayon::prelude::*;
use vaglio_core::{Design, Recorder, Result, Score};
use vaglio_kernels::tolerance::{DIFFERENCE_ERROR, DIFFERENCE_LEFT, LOSS_ERROR, NO_DIGITS};
use vaglio_kernels::{Scorer, Trial, is_unreliable};

/// The loss of a trial over all rows, with what is known of its rounding.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrialLoss {
    /// The mean loss.
    pub loss: f64,
    /// Whether cancellation makes it unreliable, so that the subset is to be refitted.
    pub is_unreliable: bool,
    /// A lower bound of the true loss.
    pub lower_bound: f64,
    /// What [`is_unreliable`] judges.
    pub conditioning: f64,
}

impl TrialLoss {
    /// Nothing is known.
    pub const UNKNOWN: TrialLoss =
        TrialLoss { loss: f64::INFINITY, is_unreliable: true, lower_bound: f64::NEG_INFINITY, conditioning: 1.0 };

    /// A loss that is right unless its conditioning is unreliable, and of which nothing is known then.
    pub fn new(loss: f64, conditioning: f64) -> Self {
        let is_unreliable = is_unreliable(conditioning);
        let lower_bound = if is_unreliable || loss.is_nan() { f64::NEG_INFINITY } else { loss };
        TrialLoss { loss, is_unreliable, lower_bound, conditioning }
    }

    /// The losses of changes of a subset from their trials in each part of the rows; `is_whole` where the only part is all of
    /// them.
    pub fn joined(scorer: &Scorer, is_whole: bool, of_parts: &[Vec<Trial>]) -> Vec<Self> {
        if let (true, [only]) = (is_whole, of_parts) {
            return only.iter().map(|trial| TrialLoss::new(trial.loss, known(trial.conditioning))).collect();
        }
        let joined = |k: usize| {
            let parts = of_parts.iter().map(|of_part| (of_part[k].loss, &*of_part[k].whole));
            let conditioning = of_parts.iter().map(|of_part| known(of_part[k].conditioning));
            TrialLoss::new(scorer.join(parts), conditioning.fold(1.0, f64::min))
        };
        (0..of_parts.first().map_or(0, Vec::len)).into_par_iter().map(joined).collect()
    }

    /// A mean of squares that is a difference of sums of squares, with the conditioning of these; `empty` is that of the
    /// empty subset.
    ///
    /// Where next to nothing is left of them, the digits of the difference are those that conditioning left.
    pub fn of_difference(loss: f64, conditioning: f64, empty: f64) -> Self {
        let trial = TrialLoss::of_squares(loss, conditioning, || empty);
        if trial.is_unreliable || loss * conditioning >= DIFFERENCE_LEFT * empty {
            return trial;
        }
        let error = DIFFERENCE_ERROR / conditioning * (loss.abs() + empty);
        let lower_bound = if error.is_finite() { loss - error } else { f64::NEG_INFINITY };
        TrialLoss { is_unreliable: true, lower_bound, ..trial }
    }

    /// A mean of squares with its conditioning, `empty` being that of the empty subset.
    pub fn of_squares(loss: f64, conditioning: f64, empty: impl FnOnce() -> f64) -> Self {
        if !is_unreliable(conditioning) {
            return TrialLoss::new(loss, conditioning);
        }
        let error = LOSS_ERROR / conditioning * (loss + empty());
        let is_known = conditioning > NO_DIGITS && error.is_finite();
        let lower_bound = if is_known { loss - error } else { f64::NEG_INFINITY };
        TrialLoss { lower_bound, ..TrialLoss::new(loss, conditioning) }
    }
}

/// A conditioning, 0 where it is negative or not a number: what is none has no digits.
fn known(conditioning: f64) -> f64 {
    if conditioning > 0.0 { conditioning } else { 0.0 }
}

/// Candidates that are settled at once, at most.
const ROUND: usize = 32;

/// The score of a subset, and the residuals of each round with the λ that won, where these are known.
pub(super) struct Scored {
    pub score: Score,
    pub residuals: Vec<Residuals>,
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
        Ok(Scored { score: score.checked()?, residuals: best })
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
        Ok(Scored { score, residuals: Vec::new() })
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
