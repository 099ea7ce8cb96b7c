//! Built-in criteria, one file each.

mod balance;
mod kernel;
mod kfold;
mod linear;
mod loo;
mod nhsic;
mod refined;

pub(crate) use kernel::kernel_column;
pub use kfold::{By, Engine, KFold};
pub use loo::Loo;
pub use nhsic::{Approximation, Kernel, Nhsic, Output};
