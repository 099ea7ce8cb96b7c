//! The loss of a trial, with what is known of its rounding.

use vaglio_kernels::parallel;
use vaglio_kernels::tolerance::{DIFFERENCE_ERROR, DIFFERENCE_LEFT, LOSS_ERROR, NO_DIGITS};
use vaglio_kernels::{Scorer, Trial, is_unreliable};

/// Residuals held out, scaled by √r_j: outputs × rows as given.
pub(super) type Residuals = Vec<Vec<f64>>;

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

    /// The same, unreliable also where residuals are so small beside the targets that rounding counts in them.
    #[must_use]
    pub fn judged_by(self, scorer: &Scorer) -> Self {
        match scorer.is_rounding(self.loss, self.conditioning) {
            true => TrialLoss { is_unreliable: true, lower_bound: f64::NEG_INFINITY, ..self },
            false => self,
        }
    }

    /// The losses of changes of a subset from their trials in each part of the rows; `is_whole` where the only part is all of
    /// them.
    pub fn joined(scorer: &Scorer, is_whole: bool, of_parts: &[Vec<Trial>]) -> Vec<Self> {
        if let (true, [only]) = (is_whole, of_parts) {
            let judged = |trial: &Trial| TrialLoss::new(trial.loss, known(trial.conditioning)).judged_by(scorer);
            return only.iter().map(judged).collect();
        }
        let joined = |k: usize| {
            let parts = of_parts.iter().map(|of_part| (of_part[k].loss, &*of_part[k].whole));
            let conditioning = of_parts.iter().map(|of_part| known(of_part[k].conditioning));
            TrialLoss::new(scorer.join(parts), conditioning.fold(1.0, f64::min)).judged_by(scorer)
        };
        parallel::map(of_parts.first().map_or(0, Vec::len), joined)
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
pub(super) fn known(conditioning: f64) -> f64 {
    if conditioning > 0.0 { conditioning } else { 0.0 }
}
