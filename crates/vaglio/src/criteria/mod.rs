//! Built-in criteria, one file each.

mod kernel;
mod kfold;
mod linear;
mod loo;
mod refined;

pub(crate) use kernel::kernel_column;
pub use kfold::{By, Engine, KFold};
pub use loo::Loo;
