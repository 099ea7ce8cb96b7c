//! linfa's traits on selections and pipelines: `ParamGuard`, `Fit`, `Predict`, `Transformer`.

mod fit;
mod fitted;
mod nested;
mod predicting;
mod rows;
mod targets;
mod watched;

pub use fitted::{FittedPipeline, FittedSelector};
pub use nested::{Nested, NestedFold, NestedResult, ValidNested};
pub use predicting::{Given, NamedRows};
pub use rows::{Rows, problem};
pub use targets::TargetValue;
#[cfg(feature = "files")]
pub(crate) use targets::largest;
pub(crate) use watched::Watched;

use vaglio_core::Error;

/// Why a fit through linfa failed.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Settings or data that cannot be fitted.
    #[error(transparent)]
    Vaglio(#[from] Error),
    /// An error of linfa itself.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}
