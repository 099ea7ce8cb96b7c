//! Built-in learners, one file each.

mod lambda;
mod rls;

pub use lambda::Lambda;
pub use rls::{Linear, Rls};
