//! Cross-validation of the whole procedure, to choose size and λ and to evaluate the result.
//!
//! A [`Sample`] holds rows before anything is learned from them. [`Sample::fitted`] turns training rows into a problem,
//! maps included, and held-out rows into the problem that tests it. A `FoldPath` holds the held-out
//! losses of one search path by size. Paths of one λ are pooled over folds into a row of a `LossTable`, from which size
//! and λ are chosen. Every repetition has its own index, fold and λ, and no result depends on their order.
//!
//! An estimate is biased if held-out rows contributed to the model. So maps, search, λ and fit are repeated on the
//! training rows of every fold: for the choice of size and λ, for `nested`, `permutations` and `stability`. By default
//! λ belongs to the search path, not to the subset: with more columns than rows, a λ chosen by the score of each subset
//! falls until noise is fitted. All models of a path use one triangular reduction of its columns. Designs of one fold
//! at several λ share what does not depend on λ; folds share one pass over the columns (`vaglio_kernels::BlockSums`) or
//! the moments of cells. Rows that no map changes are viewed, not copied.

pub mod choice;
pub mod fdr;
pub mod final_training;
mod fold_paths;
mod full_model;
mod gain;
mod grid_extension;
pub mod held_out_predictions;
mod interval;
mod lockstep;
pub mod loss_sums;
pub mod path_predictions;
mod permutation;
pub mod procedure;
pub mod sample;
mod score_choice;
mod selection;
mod size_stability;
pub mod split_rule;
pub mod validation;

pub use crate::jobs::{Jobs, StageMonitor};
pub use choice::{accompany, is_in_parts, select};
pub use held_out_predictions::held_out;
pub use interval::LEVEL;
pub use loss_sums::{FoldLosses, LossSums, Pooled};
pub use procedure::{OuterFoldFit, OuterFolds, Procedure, SearchOnDesign, outer};
pub use sample::{FittedProblem, Sample};
pub use selection::{Choice, ChosenSearch, Selection};
