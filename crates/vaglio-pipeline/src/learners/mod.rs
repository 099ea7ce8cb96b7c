//! Built-in learners, one file each.

mod crrr;
mod rls;

pub use crrr::Crrr;
pub use rls::Rls;
