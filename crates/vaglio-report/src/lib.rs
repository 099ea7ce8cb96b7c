//! The result of a run: the record in `selection.json`, its HTML report, and comparisons of several runs.
//!
//! The feature `page` adds the report and comparisons; without it, records are only written and read.

mod clusters;
#[cfg(feature = "page")]
pub mod comparison;
mod infinity;
mod interval;
mod quantile;
pub mod record;
#[cfg(feature = "page")]
pub mod report;

pub use clusters::{ClusterSum, MeanVariances, is_alone};
pub use interval::{StandardizedMoments, has_width};
pub use quantile::normal_quantile;
