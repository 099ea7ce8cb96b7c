//! Internal API shared with `vaglio-files`; methods for it are hidden from the documentation of their types.

pub use crate::pipeline::saved::chain::{ColumnScale, PredictionChain, TablePredictions, scaled};
pub use crate::pipeline::saved::intervals::bounds;
pub use crate::pipeline::settings::Settings;
