//! Preprocessing: the steps from rows with labels to a problem, fitted on training rows and applied to others.

mod filled_cells;
mod numeric_columns;
mod refit;
mod rows;

pub use filled_cells::follow;
pub use numeric_columns::{numeric, unless_too_large};
pub use refit::refit;
pub use rows::{FittedPreprocessing, LabeledTable, Preprocessing, in_units};
