//! Preprocessing: the steps from rows with labels to a problem, fitted on training rows and applied to others.

mod refit;
mod rows;

pub(crate) use rows::{FittedPreprocessing, check_size, in_units, numeric};
pub use rows::{LabeledTable, Preprocessing};
