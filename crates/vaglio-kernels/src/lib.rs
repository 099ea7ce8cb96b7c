//! Dense numerics of vaglio: plain functions and states over slices.
//!
//! Nothing here knows criteria, files or settings. Columns are feature-major slices ([`Column`]); every sum has a fixed
//! order that depends on neither the number of threads nor the instruction set, so results are equal bit for bit.

mod data;
pub mod distinct;
mod eight;
pub mod elementary;
mod folds;
mod halt;
pub mod hsic;
mod inner;
pub mod kfold;
pub mod landmarks;
pub mod lars;
pub mod level;
pub mod linalg;
pub mod loo;
mod parts;
pub mod reservoir;
pub mod ridge;
mod score;
pub mod similarity;
pub mod sums;
pub mod tile;
pub mod tolerance;
mod trial;
pub mod vectors;
mod wide;

pub use data::{Data, DataError, Entries};
pub use folds::Folds;
pub use halt::Halt;
pub use inner::Inner;
pub use level::Level;
pub use parts::Parts;
pub use score::{Rule, Scorer, Targets};
pub use trial::{Trial, is_unreliable};
pub use vaglio_columns::{Column, Measure};
