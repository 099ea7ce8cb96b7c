//! What runs from files to files see of pipelines and saved models, and programs do not; methods of the same kind are left out of the documentation of their
//! types.

pub use crate::pipeline::saved::chain::{Chain, Predicted, Scaled, scaled};
pub use crate::pipeline::saved::intervals::bounds;
pub use crate::pipeline::settings::Settings;
