//! Reliability of states of nearly dependent columns.

use crate::Trial;
use crate::tolerance::{CANCELLED_PRODUCT, DIGITS_LEFT, NEARLY_DEPENDENT};

/// Remaining share of the columns after adding one with the given remaining share; 0 if it is nearly dependent.
pub(super) fn left_with(left: f64, share: f64) -> f64 {
    if share < NEARLY_DEPENDENT { 0.0 } else { left.min(share) }
}

/// Adjusts the conditioning of a trial to the remaining share of the columns.
pub(super) fn judged(trial: Trial, left: f64) -> Trial {
    Trial { conditioning: conditioning(trial.conditioning, left), ..trial }
}

/// Conditioning of a row by its 1 − leverage and the remaining share of the columns.
pub(super) fn conditioning(of_row: f64, left: f64) -> f64 {
    of_row * (left / DIGITS_LEFT).min(1.0)
}

/// Whether cancellation in an updated xᵀG x matters, given ‖x‖².
pub(super) fn is_cancelled(product: f64, squares: f64) -> bool {
    product < CANCELLED_PRODUCT * squares
}
