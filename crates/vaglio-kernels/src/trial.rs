//! Outcome of a trial: a loss, whether cancellation leaves it reliable, and a lower bound.
//!
//! Digits of a loss are judged here, by a conditioning that the engine keeps:
//!
//! * [`Trial::new`] judges the conditioning of any loss; scorers create their trials by it.
//! * [`Trial::from_squares`] and `from_difference` also bound a mean of squares from below. The second is for moments,
//!   whose losses are differences of sums.
//! * [`Scorer::judge`](crate::Scorer::judge) judges residuals that are small next to the targets.
//!
//! Whoever asks for trials refits the unreliable ones that may still be lowest.

use crate::tolerance::{DIFFERENCE_ERROR, DIFFERENCE_LEFT, LOSS_ERROR, NO_DIGITS, UNRELIABLE};

/// The loss of a subset, or of a subset after one change.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Mean loss; for a scorer of a part of the rows, the part's contribution.
    pub loss: f64,
    /// Smallest divisor relative to the terms it is a difference of; [`is_unreliable`] judges it. 0, that is no digits,
    /// if it is negative or NaN.
    pub conditioning: f64,
    /// Whether the loss has too few digits, so that a refit is needed.
    pub is_unreliable: bool,
    /// A lower bound of the true loss.
    pub lower_bound: f64,
    /// Partial sums that [`crate::Scorer::join`] adds up over parts if a part alone does not determine the loss.
    pub whole: Vec<f64>,
}

impl Trial {
    /// The trial of a column that cannot be added or removed.
    pub(crate) const IMPOSSIBLE: Trial = Trial {
        loss: f64::INFINITY,
        conditioning: f64::INFINITY,
        is_unreliable: false,
        lower_bound: f64::INFINITY,
        whole: Vec::new(),
    };

    /// A trial that must be refitted: its loss is +∞, without a lower bound.
    pub const UNKNOWN: Trial = Trial {
        loss: f64::INFINITY,
        conditioning: 1.0,
        is_unreliable: true,
        lower_bound: f64::NEG_INFINITY,
        whole: Vec::new(),
    };

    /// Creates a trial whose loss is exact if its conditioning is reliable, and unknown otherwise.
    pub fn new(loss: f64, conditioning: f64) -> Self {
        let conditioning = if conditioning > 0.0 { conditioning } else { 0.0 };
        let is_unreliable = is_unreliable(conditioning);
        let lower_bound = if is_unreliable || loss.is_nan() { f64::NEG_INFINITY } else { loss };
        Trial { loss, conditioning, is_unreliable, lower_bound, whole: Vec::new() }
    }

    /// Creates a mean of squares that was computed as a difference of sums of squares. `empty` is the mean for the
    /// empty subset.
    ///
    /// A difference of almost 0 is marked unreliable; rounding gives its lower bound.
    pub(crate) fn from_difference(loss: f64, conditioning: f64, empty: f64) -> Self {
        let trial = Trial::from_squares(loss, conditioning, empty);
        if trial.is_unreliable || loss * conditioning >= DIFFERENCE_LEFT * empty {
            return trial;
        }
        let error = DIFFERENCE_ERROR / conditioning * (loss.abs() + empty);
        let lower_bound = if error.is_finite() { loss - error } else { f64::NEG_INFINITY };
        Trial { is_unreliable: true, lower_bound, ..trial }
    }

    /// Creates a mean of squares with its conditioning. `empty` is the mean for the empty subset.
    pub fn from_squares(loss: f64, conditioning: f64, empty: f64) -> Self {
        let trial = Trial::new(loss, conditioning);
        if !trial.is_unreliable {
            return trial;
        }
        let error = LOSS_ERROR / conditioning * (loss + empty);
        let is_known = conditioning > NO_DIGITS && error.is_finite();
        let lower_bound = if is_known { loss - error } else { f64::NEG_INFINITY };
        Trial { lower_bound, ..trial }
    }
}

/// The worse of two conditionings; 0 if the second is negative or NaN, so that the result is never NaN.
pub(crate) fn worse(conditioning: f64, other: f64) -> f64 {
    if other >= conditioning { conditioning } else { other.max(0.0) }
}

/// Whether cancellation makes a quotient unreliable: its divisor is NaN, or a tiny share of the terms it is a difference
/// of. Divisors are 1 − leverage of a row, or a Schur complement. Such losses are refitted.
pub fn is_unreliable(conditioning: f64) -> bool {
    conditioning.is_nan() || conditioning < UNRELIABLE
}
