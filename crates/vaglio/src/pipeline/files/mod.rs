//! A run from files to files.

mod correlations;
mod data;
mod folder;
mod model;
mod plan;
mod roles;
mod run;
mod series;
mod targets;

pub use data::{Prepared, prepare};
pub use folder::{report, set_previous_aside, write_file};
pub use model::{Predictions, SavedModel};
pub use plan::plan;
pub use run::{Outcome, RunOptions, run};
