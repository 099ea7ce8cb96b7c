//! Leave-one-out for ridge regression: the score of every one-column change from one state.
//!
//! Rows are scaled by the root of their weight and, with an intercept, centered. For the selected columns X_S let
//! G = I − vvᵀ/‖v‖² − X_S(X_SᵀX_S + λI)⁻¹X_Sᵀ (v: the scaled ones-vector, absent without intercept): G y are the
//! residuals of the fit, and row j left out has residual (G y)_j / G_jj. G is never formed. Everything here is in
//! units in which λ does not divide, so the empty subset is exact for every λ.
//!
//! * [`Basis`] — a = G y, d = diag G and the vectors that G is made of, for one λ.
//! * [`Full`] — C_i = G x_i for every candidate: all trials of a step in one pass over C.
//! * [`Bounded`] — no C: a bound for every candidate from one pass over X, and exact trials of the few that could win.
//! * [`Branch`] — C of the columns that may still follow, for depth-first search; [`Possible`] bounds what is below.

mod basis;
mod bounded;
mod branch;
mod dual;
mod full;
mod held_out;
mod possible;
mod reduced;
mod selected;
mod trial;

pub use basis::Basis;
pub use bounded::Bounded;
pub use branch::Branch;
pub use full::Full;
pub(crate) use held_out::left_out;
pub use held_out::{Change, careful, careful_residuals};
pub use possible::Possible;
pub(crate) use reduced::Reduced;
