//! Built-in maps of targets: the model learns a transformed target, and predictions return to the units of the data.

mod logs;
mod power;
mod rank;
mod units;

pub use logs::{Log1pTarget, LogTarget};
pub use power::PowerTarget;
pub use rank::RankTarget;
pub use units::TargetUnits;
