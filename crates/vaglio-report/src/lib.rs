//! The result of a run: the record in `selection.json`, with the settings of evaluations, its HTML report, and
//! comparisons of several runs.

mod clusters;
pub mod comparison;
mod interval;
mod names;
pub mod page;
pub mod record;
pub mod report;

pub use clusters::{ClusterSum, MeanVariances};
pub use interval::{LEVEL, StandardizedMoments, has_width};
