//! Feature selection for regularised least squares: exact, fast, and open to plug-ins.

pub mod criteria;
pub mod document;
pub mod learners;
mod linfa_face;
pub mod maps;
pub mod pipeline;
pub mod read;
pub mod report;
pub mod search;
mod selector;

pub use linfa_face::{FitError, FittedSelector, TargetValue};
pub use pipeline::{FittedPipeline, Pipeline, ValidPipeline};
pub use selector::{Selection, Selector, ValidSelector};
pub use vaglio_core as core;
