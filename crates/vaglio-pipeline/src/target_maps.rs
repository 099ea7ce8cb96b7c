//! Maps of targets that are built in: a target is learned on another scale and predicted in the units of the data.

mod logs;
mod power;
mod rank;

pub use logs::{FittedLog, FittedLog1p, Log, Log1p};
pub use power::{FittedPower, Power};
pub use rank::{FittedRank, Rank, Scores};
