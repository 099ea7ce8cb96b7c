//! The outcome of a trial: a loss, and whether cancellation leaves it reliable.

use crate::score::Outcome;

/// The loss of a subset, or of a subset after one change.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The mean loss, or with a scorer of a part of the rows what these add to it.
    pub loss: f64,
    /// What [`is_unreliable`] judges: the smallest number that was divided by, as a share of what it is a difference of.
    pub conditioning: f64,
    /// What [`crate::Scorer::join`] adds up over parts where a part alone does not know the loss.
    pub whole: Vec<f64>,
}

impl Trial {
    /// A loss that is known.
    pub fn of(loss: f64, conditioning: f64) -> Self {
        Trial { loss, conditioning, whole: Vec::new() }
    }

    pub(crate) fn from_outcome(outcome: Outcome, conditioning: f64) -> Self {
        Trial { loss: outcome.loss, conditioning, whole: outcome.whole }
    }

    /// Whether cancellation makes the loss unreliable.
    pub fn is_unreliable(&self) -> bool {
        is_unreliable(self.conditioning)
    }
}

/// Relative errors of a loss are about 1e-15 over its conditioning, so at this share ten digits are left.
const LEAST_CONDITIONING: f64 = 1e-5;

/// Whether a number is so small a share of what it is a difference of (1 − leverage of a row, a Schur diagonal), or not a
/// number, that cancellation makes whatever is divided by it unreliable. Such losses are refitted.
pub fn is_unreliable(conditioning: f64) -> bool {
    conditioning.is_nan() || conditioning < LEAST_CONDITIONING
}
