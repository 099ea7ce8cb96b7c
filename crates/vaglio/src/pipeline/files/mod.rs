//! A run from files to files.

mod correlations;
mod curve;
mod data;
mod evaluated;
mod folder;
mod model;
mod plan;
mod recorded;
mod repetition;
mod roles;
mod run;
mod series;
mod targets;
mod worth;

pub use data::{Prepared, prepare};
pub use folder::{report, set_previous_aside, write_file};
pub use model::{Predictions, SavedModel};
pub use plan::plan;
pub use run::{Outcome, RunOptions, run};
