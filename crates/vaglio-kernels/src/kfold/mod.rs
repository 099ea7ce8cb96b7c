//! K-fold cross-validation for ridge regression in closed form, for any partition of the rows.
//!
//! Every fold is predicted by the ridge readout trained on the rows of all other folds, centred on their means with an
//! intercept and, on demand, divided by their standard deviations.
//!
//! * [`Folds`] — which rows are held out together.
//! * [`Rows`] — columns, targets and folds, shared by all states.
//! * [`Moments`] — products over the training rows and the rows held out of every fold, for squared losses: one read of
//!   the rows, and nothing below depends on how many there are.
//! * [`Spectrum`] — every λ for one subset; [`AllLambdas`] for any loss, from the rows.
//! * [`Forward`], [`Backward`] — every one-column change of one subset, for several λ.
//! * [`Tree`] — all subsets, depth first.
//! * [`hold_out`] — any loss of every one-column change in O(m), for one λ.
//! * [`Refitted`], [`careful`] — losses by refitting from the rows: the last resort where a closed form has lost its
//!   digits.

mod all_lambdas;
mod backward;
mod careful;
mod combine;
mod factor;
mod folds;
mod forward;
mod gram;
pub mod hold_out;
mod moments;
mod packed;
mod rows;
mod spectrum;
mod tiles;
mod totals;
mod tree;
mod trials;

pub use all_lambdas::AllLambdas;
pub use backward::Backward;
pub use careful::{Refitted, careful, careful_residuals};
pub use folds::Folds;
pub use forward::Forward;
pub use moments::Moments;
pub use rows::Rows;
pub use spectrum::Spectrum;
pub use tree::Tree;
pub use trials::Trials;
