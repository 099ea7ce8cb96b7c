//! Built-in searches, one file each.

mod greedy;

pub use greedy::Greedy;
