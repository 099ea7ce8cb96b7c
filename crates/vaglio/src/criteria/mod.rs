//! Built-in criteria, one file each.

mod balance;
mod decomposed;
mod fits;
mod kernel;
mod kfold;
mod linear;
mod loo;
mod mean;
mod nhsic;
mod penalty;
mod plan;
mod round;
mod rounds;
mod settle;

pub(crate) use kernel::chosen_data;
pub use kfold::{By, Engine, KFold};
pub(crate) use kfold::{is_of_moments, moments_of_search};
pub use loo::Loo;
pub(crate) use loo::predicted_left_out;
pub use nhsic::{Approximation, Kernel, Nhsic, Output, OutputApproximation};
