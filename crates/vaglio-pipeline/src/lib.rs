//! Selection, resampling, tuning and pipelines of vaglio, and linfa's traits on them.
//!
//! Programs name these parts through the crate `vaglio`, which re-exports its public API. The other public items of
//! `resampling`, `selector` and the modules below serve `vaglio-files`, which repeats a selection piece by piece.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod final_fit;
mod final_model;
mod jobs;
pub mod learners;
mod linfa_api;
mod memory_slots;
pub mod pipeline;
pub mod preprocess;
mod progress;
pub mod resampling;
pub mod selector;
pub mod tune;

#[cfg(feature = "sprs")]
pub use linfa_api::SparseRecords;
pub use linfa_api::{
    FitError, FittedPipeline, NestedFold, NestedResult, OriginalScale, Rows, TargetValue, TargetedTable, problem,
};
pub use pipeline::{Pipeline, ValidPipeline};
pub use progress::Progress;
pub use resampling::{Choice, Selection};
pub use selector::{Selector, ValidSelector};
pub use vaglio_document as document;
pub use vaglio_maps::{maps, target_maps};
