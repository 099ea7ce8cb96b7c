//! Preprocessing: the steps from rows with labels to a problem, fitted on training rows and applied to others.

mod filled_cells;
mod refit;
mod rows;

pub(crate) use filled_cells::track_cells;
pub(crate) use refit::refit;
pub(crate) use rows::{FittedPreprocessing, check_size, in_units, numeric};
pub use rows::{LabeledTable, Preprocessing};
