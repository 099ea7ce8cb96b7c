//! Leave-one-out for ridge regression: the score of every one-column change from one state.
//!
//! Rows are scaled by the root of their weight and, with an intercept, centered. For the selected columns X_S let G = I
//! − vvᵀ/‖v‖² − X_S(X_SᵀX_S + λI)⁻¹X_Sᵀ (v: the scaled ones-vector, absent without intercept). G y are the residuals of
//! the fit. Row j left out has residual (G y)_j / G_jj, where G_jj is 1 − leverage. G is never formed. All quantities
//! are scaled so that nothing is divided by λ, and the empty subset is exact for every λ.
//!
//! * [`LooState`] — a = G y, d = diag G and the vectors that represent G, for one λ; with caches of the candidates: none,
//!   lower bounds of their trials, or C_i = G x_i of each.
//! * [`RowSpectrum`] — with more columns than rows, every λ from one decomposition.
//! * [`ClassSums`] — one subset, with classes balanced in training.
//! * [`LooState::residuals_after`] — residuals after a change, exact even where 1 − leverage is unreliable.
//!
//! Read `basis`, which has a, d and G, then `trial` and `state`. Caches of candidates are `candidate` with
//! `candidate_cache`, and `candidate_bounds` with `scalars`, `row_weights`, `norm_interval` and `cached_product`.
//! `removal` tries removals, `change` has exact residuals; `row_spectrum` and `class_sums` use none of these.
//!
//! # Reference
//! T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
//! arXiv:1003.3570, algorithm 3 (with G for λ times theirs); the book, explanation/leave-one-out.md.

mod basis;
mod cached_product;
mod candidate;
mod candidate_bounds;
mod candidate_cache;
mod change;
mod class_sums;
mod norm_interval;
mod orthonormal_basis;
mod removal;
mod row_inverse;
mod row_spectrum;
mod row_weights;
mod scalars;
mod state;
mod trial;

use basis::RidgeState;
pub use change::ColumnChange;
pub use class_sums::ClassSums;
pub use row_spectrum::RowSpectrum;
pub use state::LooState;
