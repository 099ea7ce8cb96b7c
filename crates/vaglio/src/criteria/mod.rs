//! Built-in criteria, one file each.

mod kfold;
mod loo;
mod refined;

pub use kfold::{By, Engine, KFold};
pub use loo::Loo;
pub(crate) use loo::kernel_column;
