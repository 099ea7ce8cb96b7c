//! Cross-validation without refitting: the criteria leave-one-out and k-fold, and their resamplings.
//!
//! [`Loo`] and [`KFold`] score subsets of columns on rows that the readout was not trained on. [`splits`] has
//! resamplings other than plain folds. Both criteria are exact: their definition retrains, and every engine is checked
//! against it.

mod engine_names;
mod fits;
mod fold_groups;
mod held_out_predictions;
mod kernel;
mod kfold;
mod loo;
mod mean;
mod pearson;
mod penalty;
mod round;
mod rounds;
mod shared_lambdas;
pub mod splits;
mod subset_score;

pub use held_out_predictions::{HeldOutPredictions, predicted_held_out};
pub use kernel::chosen_data;
pub use kfold::{Engine, FoldBy, KFold, searched_moments};
pub use loo::Loo;
