//! K-fold cross-validation for ridge regression in closed form, for any partition of the rows.
//!
//! Every fold is predicted by the ridge readout trained on the rows of all other folds, centred on their means with an
//! intercept and, on demand, divided by their standard deviations.
//!
//! * [`Folds`] — which rows are held out together.
//! * [`Rows`] — columns, targets and folds, shared by all states.
//! * [`Refitted`], [`careful`] — losses by refitting from the rows: the last resort where a closed form has lost its digits.

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
mod tree;
mod trials;

pub use backward::Backward;
pub use careful::{Refitted, careful, careful_residuals};
pub use folds::Folds;
pub use forward::Forward;
pub use moments::Moments;
pub use rows::Rows;
pub use spectrum::Spectrum;
pub use tree::Tree;
pub use trials::{Trials, is_weak};
