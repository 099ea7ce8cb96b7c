//! Internal API shared with `vaglio-files`; methods for it are hidden from the documentation of their types.

pub use crate::pipeline::saved::chain::{PredictionChain, TablePredictions};
pub use crate::pipeline::saved::intervals::bounds;
pub use crate::pipeline::settings::Settings;
