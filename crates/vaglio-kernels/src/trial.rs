//! The outcome of a trial: a loss, and whether cancellation leaves it reliable.

use crate::tolerance::UNRELIABLE;

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

    pub(crate) fn from_partial(outcome: PartialLoss, conditioning: f64) -> Self {
        Trial { loss: outcome.loss, conditioning, whole: outcome.whole }
    }

    /// Whether cancellation makes the loss unreliable.
    pub fn is_unreliable(&self) -> bool {
        is_unreliable(self.conditioning)
    }
}

/// A loss, or what it is made of with that of the other parts.
#[derive(Debug, Clone)]
pub(crate) struct PartialLoss {
    /// The mean loss, or what a part adds to it.
    pub loss: f64,
    /// What the loss is made of, where a part alone does not know it.
    pub whole: Vec<f64>,
}

impl PartialLoss {
    /// A loss that is known.
    pub fn of(loss: f64) -> Self {
        PartialLoss { loss, whole: Vec::new() }
    }
}

/// The worse of two conditionings: 0 where the second is negative or not a number, so that no NaN comes out.
pub(crate) fn worse(conditioning: f64, other: f64) -> f64 {
    if other >= conditioning { conditioning } else { other.max(0.0) }
}

/// Whether a number is so small a share of what it is a difference of (1 − leverage of a row, a Schur diagonal), or not a
/// number, that cancellation makes whatever is divided by it unreliable. Such losses are refitted.
pub fn is_unreliable(conditioning: f64) -> bool {
    conditioning.is_nan() || conditioning < UNRELIABLE
}
