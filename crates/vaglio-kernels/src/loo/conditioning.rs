//! How far a state of nearly dependent columns is to be trusted.

use crate::Trial;
use crate::tolerance::{CANCELLED_PRODUCT, DIGITS_LEFT, NEARLY_DEPENDENT};

/// What is left where a column of which so much is left enters: nothing to be trusted where it is nearly dependent.
pub(super) fn left_with(left: f64, share: f64) -> f64 {
    if share < NEARLY_DEPENDENT { 0.0 } else { left.min(share) }
}

/// A trial by states of columns of which so much is left.
pub(super) fn judged(trial: Trial, left: f64) -> Trial {
    Trial { conditioning: conditioning(trial.conditioning, left), ..trial }
}

/// The conditioning of a row by its 1 − leverage, where so much is left of the columns.
pub(super) fn conditioning(of_row: f64, left: f64) -> f64 {
    of_row * (left / DIGITS_LEFT).min(1.0)
}

/// Whether cancellation counts in xᵀG x that was updated, given ‖x‖².
pub(super) fn is_cancelled(product: f64, squares: f64) -> bool {
    product < CANCELLED_PRODUCT * squares
}
