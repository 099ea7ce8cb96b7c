//! Maps that are built in: what is done to the columns before they are candidates.

mod constant;
mod one_hot;
mod standardize;
mod window;

pub use constant::{Constant, FittedConstant};
pub use one_hot::{FittedOneHot, OneHot};
pub use standardize::{FittedStandardize, Scope, Standardize};
pub use window::{FittedWindow, Window};
