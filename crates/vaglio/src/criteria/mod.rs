//! Built-in criteria, one file each.

mod loo;

pub use loo::Loo;
pub(crate) use loo::kernel_column;
