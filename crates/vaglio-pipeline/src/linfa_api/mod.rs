//! linfa's traits for selections and pipelines: `ParamGuard`, `Fit`, `Predict`, `Transformer`.

mod fit;
mod fitted_pipeline;
mod nested_validation;
mod prediction;
mod rows;
#[cfg(feature = "sprs")]
mod sparse_records;
mod table_fit;
mod targets;

pub use fitted_pipeline::{FittedPipeline, OriginalScale};
pub use nested_validation::{NestedFold, NestedResult};
pub use rows::Rows;
#[cfg(feature = "sprs")]
pub use sparse_records::SparseRecords;
pub use table_fit::{TargetedTable, problem};
pub use targets::TargetValue;

use vaglio_core::Error;

/// Error of a fit through linfa.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Settings or data that cannot be fitted.
    #[error(transparent)]
    Vaglio(#[from] Error),
    /// An error of linfa itself.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}

/// Rewords an error for a program without a pipeline file.
fn in_rust(error: Error) -> Error {
    match error {
        Error::NonFinite { row, column, count, file, remedy: Some(_), .. } => {
            let remedy = Some("add the map `Impute` to the pipeline, or leave the column out".into());
            Error::NonFinite { row, column, value: "NaN".into(), count, file, remedy }
        }
        Error::Setting { field, message, place, from_root } => {
            // The fields of `evaluate` are direct parameters in Rust.
            let field = field.strip_prefix("evaluate.").map(str::to_owned).unwrap_or(field);
            Error::Setting { field, message, place, from_root }
        }
        other => other,
    }
}
