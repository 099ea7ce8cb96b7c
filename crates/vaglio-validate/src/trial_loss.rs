//! The loss of a trial with its rounding error.

use vaglio_kernels::parallel;
use vaglio_kernels::tolerance::{DIFFERENCE_ERROR, DIFFERENCE_LEFT, LOSS_ERROR, NO_DIGITS};
use vaglio_kernels::{Scorer, Trial, is_unreliable};

/// Held-out residuals, scaled by √r_j: outputs × rows in the given order.
pub(super) type Residuals = Vec<Vec<f64>>;

/// The loss of a trial over all rows, with its reliability.
#[derive(Clone, Copy)]
pub(super) struct TrialLoss {
    /// The mean loss.
    pub loss: f64,
    /// Whether cancellation makes the loss unreliable, so that a refit is needed.
    pub is_unreliable: bool,
    /// A lower bound of the true loss.
    pub lower_bound: f64,
    /// The conditioning, as input of [`is_unreliable`].
    pub conditioning: f64,
}

impl TrialLoss {
    /// Loss of a trial that must be refitted: +∞, without a lower bound.
    pub const UNKNOWN: TrialLoss =
        TrialLoss { loss: f64::INFINITY, is_unreliable: true, lower_bound: f64::NEG_INFINITY, conditioning: 1.0 };

    /// Creates a loss that is exact if its conditioning is reliable, and unknown otherwise.
    pub fn new(loss: f64, conditioning: f64) -> Self {
        let is_unreliable = is_unreliable(conditioning);
        let lower_bound = if is_unreliable || loss.is_nan() { f64::NEG_INFINITY } else { loss };
        TrialLoss { loss, is_unreliable, lower_bound, conditioning }
    }

    /// Marks the loss unreliable if residuals are so small relative to the targets that rounding matters.
    #[must_use]
    pub fn judged_by(self, scorer: &Scorer) -> Self {
        match scorer.is_rounding(self.loss, self.conditioning) {
            true => TrialLoss { is_unreliable: true, lower_bound: f64::NEG_INFINITY, ..self },
            false => self,
        }
    }

    /// Combines the trials of each group of rows into losses of changes.
    pub fn join(scorer: &Scorer, group_trials: &[Vec<Trial>]) -> Vec<Self> {
        if let [only] = group_trials {
            let judged = |trial: &Trial| TrialLoss::new(trial.loss, known(trial.conditioning)).judged_by(scorer);
            return only.iter().map(judged).collect();
        }
        let joined = |k: usize| {
            let contributions = group_trials.iter().map(|own| (own[k].loss, &*own[k].whole));
            let conditioning = group_trials.iter().map(|own| known(own[k].conditioning));
            TrialLoss::new(scorer.join(contributions), conditioning.fold(1.0, f64::min)).judged_by(scorer)
        };
        parallel::map(group_trials.first().map_or(0, Vec::len), joined)
    }

    /// Creates a mean of squares that was computed as a difference of sums of squares. `empty` is the mean for the
    /// empty subset.
    ///
    /// A difference of almost 0 is marked unreliable; rounding gives its lower bound.
    pub fn from_difference(loss: f64, conditioning: f64, empty: f64) -> Self {
        let trial = TrialLoss::from_squares(loss, conditioning, empty);
        if trial.is_unreliable || loss * conditioning >= DIFFERENCE_LEFT * empty {
            return trial;
        }
        let error = DIFFERENCE_ERROR / conditioning * (loss.abs() + empty);
        let lower_bound = if error.is_finite() { loss - error } else { f64::NEG_INFINITY };
        TrialLoss { is_unreliable: true, lower_bound, ..trial }
    }

    /// Creates a mean of squares with its conditioning. `empty` is the mean for the empty subset.
    pub fn from_squares(loss: f64, conditioning: f64, empty: f64) -> Self {
        if !is_unreliable(conditioning) {
            return TrialLoss::new(loss, conditioning);
        }
        let error = LOSS_ERROR / conditioning * (loss + empty);
        let is_known = conditioning > NO_DIGITS && error.is_finite();
        let lower_bound = if is_known { loss - error } else { f64::NEG_INFINITY };
        TrialLoss { lower_bound, ..TrialLoss::new(loss, conditioning) }
    }
}

/// Cleans a conditioning: 0, that is no digits, if it is negative or NaN.
pub(super) fn known(conditioning: f64) -> f64 {
    if conditioning > 0.0 { conditioning } else { 0.0 }
}
