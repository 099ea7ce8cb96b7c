//! Built-in criteria, one file each.

mod balance;
mod kernel;
mod kfold;
mod linear;
mod loo;
mod nhsic;
mod refined;

pub use kfold::{By, Engine, KFold};
pub use loo::Loo;
pub use nhsic::{Approximation, Kernel, Nhsic, Output};
