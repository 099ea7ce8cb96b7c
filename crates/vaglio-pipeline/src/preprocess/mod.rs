//! Preprocessing: the steps from rows with labels to a problem, fitted on training rows and applied to others.

mod missing;
mod numeric;
mod refit;
mod rows;

pub(crate) use missing::follow;
pub(crate) use numeric::{numeric, unless_too_large};
pub(crate) use refit::{RefittedMaps, first_that_may};
pub(crate) use rows::{FittedPreprocessing, in_units};
pub use rows::{LabeledTable, Preprocessing, TargetMapping};
