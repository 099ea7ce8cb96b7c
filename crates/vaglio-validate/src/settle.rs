//! Outcomes of trials, and candidates settled in the order of what their scores cannot be below.

use vaglio_core::{Result, Score};
use vaglio_kernels::is_unreliable;
use vaglio_kernels::tolerance::{DIFFERENCE_ERROR, DIFFERENCE_LEFT, LOSS_ERROR, NO_DIGITS};

/// The outcome of a trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// The mean loss.
    pub loss: f64,
    /// Whether cancellation makes it unreliable, so that the subset is to be refitted.
    pub is_unreliable: bool,
    /// A lower bound of the true loss.
    pub lower_bound: f64,
    /// What [`is_unreliable`] judges.
    pub conditioning: f64,
}

impl Outcome {
    /// Nothing is known.
    pub const UNKNOWN: Outcome =
        Outcome { loss: f64::INFINITY, is_unreliable: true, lower_bound: f64::NEG_INFINITY, conditioning: 1.0 };

    /// A loss that is right unless its conditioning is unreliable, and of which nothing is known then.
    pub fn new(loss: f64, conditioning: f64) -> Self {
        let is_unreliable = is_unreliable(conditioning);
        let lower_bound = if is_unreliable || loss.is_nan() { f64::NEG_INFINITY } else { loss };
        Outcome { loss, is_unreliable, lower_bound, conditioning }
    }

    /// The mean of outcomes, of which each counts by its share where there are some; as reliable as the least of them.
    pub fn mean(outcomes: &[Outcome], shares: Option<&[f64]>) -> Self {
        let mean = |f: &dyn Fn(&Outcome) -> f64| match shares {
            None => outcomes.iter().map(f).sum::<f64>() / outcomes.len() as f64,
            Some(shares) => outcomes.iter().zip(shares).map(|(outcome, share)| f(outcome) * share).sum(),
        };
        Outcome {
            loss: mean(&|outcome| outcome.loss),
            is_unreliable: outcomes.iter().any(|outcome| outcome.is_unreliable),
            lower_bound: mean(&|outcome| outcome.lower_bound),
            conditioning: outcomes.iter().map(|outcome| outcome.conditioning).fold(1.0, f64::min),
        }
    }

    /// A mean of squares that is a difference of sums of squares, with the conditioning of these; `empty` is that of the
    /// empty subset.
    ///
    /// Where next to nothing is left of them, the digits of the difference are those that conditioning left.
    pub fn of_difference(loss: f64, conditioning: f64, empty: f64) -> Self {
        let outcome = Outcome::of_squares(loss, conditioning, || empty);
        if outcome.is_unreliable || loss * conditioning >= DIFFERENCE_LEFT * empty {
            return outcome;
        }
        let error = DIFFERENCE_ERROR / conditioning * (loss.abs() + empty);
        let lower_bound = if error.is_finite() { loss - error } else { f64::NEG_INFINITY };
        Outcome { is_unreliable: true, lower_bound, ..outcome }
    }

    /// A mean of squares with its conditioning, `empty` being that of the empty subset.
    pub fn of_squares(loss: f64, conditioning: f64, empty: impl FnOnce() -> f64) -> Self {
        if !is_unreliable(conditioning) {
            return Outcome::new(loss, conditioning);
        }
        let error = LOSS_ERROR / conditioning * (loss + empty());
        let is_known = conditioning > NO_DIGITS && error.is_finite();
        let lower_bound = if is_known { loss - error } else { f64::NEG_INFINITY };
        Outcome { lower_bound, ..Outcome::new(loss, conditioning) }
    }
}

/// Candidates that are settled at once, at most.
const ROUND: usize = 32;

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
