//! Built-in criteria, one file each.

mod balance;
mod decomposed;
mod fits;
mod kernel;
mod kfold;
mod linear;
mod loo;
mod nhsic;
mod penalty;
mod round;
mod rounds;
mod session;
mod settle;
mod units;

pub(crate) use kernel::chosen_data;
pub use kfold::{By, Engine, KFold};
pub use loo::Loo;
pub(crate) use loo::predicted_left_out;
pub use nhsic::{Approximation, Kernel, Nhsic, Output, OutputApproximation};
pub(crate) use session::Session;
