//! Dense numerics of vaglio: plain functions and states over slices.
//!
//! Nothing here knows criteria, files or settings. Columns are feature-major slices ([`vaglio_columns::Column`]). Every
//! sum has a fixed order, so the number of threads changes no bit. The instruction set changes no choice, and scores
//! agree to 1e-12.

mod data;
pub mod duplicates;
pub mod elementary_functions;
mod exclusion;
mod folds;
pub mod freedom;
pub mod kfold;
mod level;
pub mod linalg;
pub mod loo;

pub mod f64x8;
pub mod parallel;
pub mod ridge;
mod row_groups;
mod score;
pub mod sums;
pub mod tile;
pub mod tolerance;
mod trial;
pub mod vectors;

pub use data::{ColumnEntries, Data, DataError, GramCache, caches_columns};
pub use folds::Folds;
pub use level::Level;
pub use score::{CustomLoss, Scorer, Targets};
pub use trial::{Trial, is_unreliable};
pub(crate) use vaglio_columns::{CancelToken, Column, Measure, ProductColumn, SparseColumn, checkpoint};
