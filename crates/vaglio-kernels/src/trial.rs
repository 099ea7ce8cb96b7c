//! Outcome of a trial: a loss and whether cancellation leaves it reliable.

use crate::tolerance::UNRELIABLE;

/// The loss of a subset, or of a subset after one change.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Mean loss; for a scorer of a part of the rows, the part's contribution.
    pub loss: f64,
    /// Smallest divisor relative to the terms it is a difference of; [`is_unreliable`] judges it.
    pub conditioning: f64,
    /// Partial sums that [`crate::Scorer::join`] adds up over parts if a part alone does not determine the loss.
    pub whole: Vec<f64>,
}

impl Trial {
    /// The trial of a column that cannot be added or removed.
    pub(crate) const IMPOSSIBLE: Trial = Trial { loss: f64::INFINITY, conditioning: f64::INFINITY, whole: Vec::new() };

    /// Creates a trial with a known loss.
    pub fn new(loss: f64, conditioning: f64) -> Self {
        Trial { loss, conditioning, whole: Vec::new() }
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
