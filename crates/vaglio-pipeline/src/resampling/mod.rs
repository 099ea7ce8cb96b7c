//! Cross-validation of the whole procedure, to choose size and λ and to evaluate the result.
//!
//! An estimate is biased if held-out rows contributed to the model. So maps, search, λ and fit are repeated on the
//! training rows of every fold. Every repetition has its own index, fold and λ, and no result depends on their order.
//!
//! 1. A [`Sample`] holds rows before anything is learned from them. [`Sample::fit`] fits the maps and makes a problem.
//! 2. A [`Splitter`] splits the rows. A `Fold` is fitted on training rows, and holds out the others.
//! 3. `Lockstep` searches all folds at some λ. A `FoldPath` holds the held-out losses of one search path by size;
//!    `LambdaPaths` are the paths of all folds at one λ.
//! 4. `Validation` pools the paths into a `LossTable`, which decides size and λ. The result is a [`Choice`].
//! 5. `ValidSelector::tuned_search` tunes settings before, and compares searches. [`outer`] repeats it on outer folds.
//!
//! By default λ belongs to the search path, not to the subset. With more columns than rows, a λ chosen by the score of
//! each subset falls until noise is fitted.
//!
//! All models of a path use one triangular reduction of its columns. Designs of one fold at several λ share what does
//! not depend on λ. Folds share one pass over the columns (`vaglio_kernels::GramCache`) or the moments of cells. Rows
//! that no map changes are viewed, not copied.

mod choice;
pub mod fdr;
mod final_training;
mod fold_losses;
mod fold_paths;
mod full_model;
mod gain;
mod grid_extension;
mod held_out_predictions;
mod lockstep;
mod path_predictions;
mod permutation;
mod procedure;
mod sample;
mod score_choice;
mod selection;
mod splitter;
mod validation;

pub use crate::jobs::{Jobs, StageMonitor};
pub use choice::{accompany, is_in_parts, select};
use final_training::final_model;
use fold_losses::most_clusters;
pub use fold_losses::{EVERY, FoldLosses, LossSums};
use fold_paths::LambdaPaths;
pub use held_out_predictions::{PooledPredictions, TargetsAndPredictions, chosen_in_folds, held_out};
use lockstep::Lockstep;
pub(crate) use path_predictions::smear_units;
pub use path_predictions::{FoldTestRows, feature_places, order_features, weights_with_counts};
use path_predictions::{PathModels, predictions_along};
pub use procedure::{OuterFoldFit, TunedSearch, outer, outer_fold};
pub(crate) use sample::FittedProblem;
pub use sample::{Sample, clusters};
use score_choice::{choose_by_score, choose_confirmed, with_lambda_warnings};
use selection::ChosenSearch;
pub use selection::{Choice, Selection};
use splitter::empty_design;
pub use splitter::{PIECES, RepeatedSplits, Splitter, TrainTestSplit};
use validation::{Fold, Validation, choice_splits, in_choice_fold, not_validated, shared_design};
pub use validation::{choice_splitter, on_training_rows, validation_warning};
