//! The searches of vaglio, one file each, and what they are written on.

mod backward;
mod copies;
mod exhaustive;
mod floating;
mod frame;
mod greedy;
mod lars;
mod rank;
mod settings;
mod swaps;
mod tree;
mod walk;

pub use backward::Backward;
pub use exhaustive::Exhaustive;
pub use floating::Floating;
pub use greedy::Greedy;
pub use lars::Lars;
pub use rank::Rank;
pub use settings::{Blocks, Origin, Polish};
