//! Preprocessing: the steps from rows with labels to a problem, fitted on training rows and applied to others.

mod filled_cells;
mod refit;
mod rows;

pub(crate) use filled_cells::follow;
pub(crate) use refit::refit;
pub(crate) use rows::{FittedPreprocessing, in_units, numeric, unless_too_large};
pub use rows::{LabeledTable, Preprocessing};
