//! Built-in maps of targets: the model learns a transformed target, and predictions return to the units of the data.

mod logs;
mod power;
mod rank;

pub use logs::{FittedLog, FittedLog1pTarget, Log, Log1p};
pub use power::{FittedPowerTarget, Power};
pub use rank::{FittedRank, Rank, Scores};
