//! The result of a run: the record in `selection.json`, with the settings of evaluations, its HTML report, and
//! comparisons of several runs.

pub mod comparison;
mod interval;
mod names;
pub mod page;
pub mod record;
pub mod report;

pub use interval::{ClusterSum, LEVEL, MeanVariances, StandardizedMoments, has_width};
