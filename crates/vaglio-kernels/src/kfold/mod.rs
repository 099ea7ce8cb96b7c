//! K-fold cross-validation for ridge regression in closed form, for any partition of the rows.
//!
//! Every fold is predicted by the ridge regression trained on all other folds. With an intercept it is centered on
//! their means, and optionally divided by their standard deviations.
//!
//! There are three engines, all derived in the book, *Cross-validation without refitting*. They share [`FoldedRows`]:
//! columns, targets and folds. Each engine answers with a [`Trial`](crate::Trial): a loss, and how many digits of it
//! cancellation left. No engine uses another; read the files of one.
//!
//! 1. Moments, for squared losses. [`GroupSums`] are products over groups of rows, from one read; [`Moments`] are those
//!    over the training and held-out rows of every fold. Nothing after depends on the number of rows.
//!    [`ForwardMoments`] and [`BackwardMoments`] try every one-column change of a subset for several λ, [`MomentTree`]
//!    all subsets depth first, [`losses_by_lambda`] many λ of one subset. Read `rows`, `group_sums`, `fold_moments`,
//!    `moments`, then one of `forward_moments`, `backward_moments` (on `downdates`), `tree` and `spectrum`.
//!    `moment_rows` computes moments of single columns on demand; [`NormalEquations`] are a by-product for final fits.
//! 2. Held-out rows. [`HoldOut`] tries every one-column change in O(m) for any loss and one λ. Read `rows`, then in
//!    `hold_out` the files `rows`, `chain`, `removal` and `mod`; `fold_products` has the loops over rows.
//! 3. One decomposition per subset. [`Decomposition`] predicts held-out rows for any λ, and for every column removed.
//!    [`SubsetRefit`] refits each fold from the rows, for cases where cancellation makes a closed form unreliable. Read
//!    `rows`, `decomposition`, `refit`.

mod backward_moments;
mod decomposition;
mod downdates;
mod fold_moments;
mod forward_moments;
mod group_sums;
mod hold_out;
mod moment_rows;
mod moments;
mod normal_equations;
mod refit;
mod rows;
mod spectrum;
mod tree;

pub use backward_moments::BackwardMoments;
pub use decomposition::Decomposition;
pub use forward_moments::ForwardMoments;
pub use group_sums::GroupSums;
pub use hold_out::HoldOut;
pub use moment_rows::{READ_AHEAD, ROWS_AT_ONCE};
pub use moments::Moments;
pub use normal_equations::NormalEquations;
pub use refit::SubsetRefit;
pub use rows::FoldedRows;
pub use spectrum::losses_by_lambda;
pub use tree::MomentTree;
