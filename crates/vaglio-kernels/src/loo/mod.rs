//! Leave-one-out for ridge regression: the score of every one-column change from one state.
//!
//! Rows are scaled by the root of their weight and, with an intercept, centered. For the selected columns X_S let
//! G = I − vvᵀ/‖v‖² − X_S(X_SᵀX_S + λI)⁻¹X_Sᵀ (v: the scaled ones-vector, absent without intercept): G y are the
//! residuals of the fit, and row j left out has residual (G y)_j / G_jj, where G_jj is 1 − leverage. G is never formed.
//! Everything here is in units in which λ does not divide, so the empty subset is exact for every λ.
//!
//! * [`Basis`] — a = G y, d = diag G and the vectors that G is made of, for one λ.
//! * [`State`] — a basis and, of the candidates, nothing, lower bounds of their trials, or C_i = G x_i of each.
//! * [`residuals_after`] — the residuals after a change, exact also where 1 − leverage is unreliable.
//! * [`Branch`] — C of the columns that may still follow, for depth-first search; [`Possible`] bounds what is below.
//!
//! # Reference
//! T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
//! arXiv:1003.3570, algorithm 3 (with G for λ times theirs); the book, explanation/leave-one-out.md.

mod all;
mod basis;
mod bounds;
mod branch;
mod change;
mod directions;
mod dual;
mod excluded;
mod formed;
mod group;
mod new;
mod pass;
mod possible;
mod selected;
mod spread;
mod state;
mod trial;
mod weighing;

pub use basis::Basis;
pub use branch::Branch;
pub use change::{Change, residuals_after};
pub(crate) use excluded::Excluded;
pub(crate) use pass::{Found, Pass};
pub use possible::Possible;
pub use state::State;

use crate::Trial;
use crate::tolerance::{CANCELLED_PRODUCT, DIGITS_LEFT, NEARLY_DEPENDENT};

/// What is left where a column of which so much is left enters: nothing to be trusted where it is nearly dependent.
fn left_with(left: f64, share: f64) -> f64 {
    if share < NEARLY_DEPENDENT { 0.0 } else { left.min(share) }
}

/// A trial by states of columns of which so much is left.
fn judged(trial: Trial, left: f64) -> Trial {
    Trial { conditioning: conditioning(trial.conditioning, left), ..trial }
}

fn conditioning(of_row: f64, left: f64) -> f64 {
    of_row * (left / DIGITS_LEFT).min(1.0)
}

/// Whether cancellation counts in xᵀG x that was updated, given ‖x‖².
fn is_cancelled(product: f64, squares: f64) -> bool {
    product < CANCELLED_PRODUCT * squares
}
