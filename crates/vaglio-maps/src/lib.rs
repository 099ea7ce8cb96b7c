//! Maps of vaglio: columns and targets that are transformed before a selection.
//!
//! Programs name them as `vaglio::maps` and `vaglio::target_maps`. The functions below and [`folds`] also serve
//! `vaglio-pipeline`.

pub mod folds;
pub mod maps;
pub mod target_maps;

pub use maps::chain::block_of;
pub use maps::standardize::moments;
pub use maps::weights::{in_order, quantile};
