//! The result of a run: a typed record, as `selection.json` holds it, the page that shows it, and several runs beside each other.
//!
//! The feature `page` draws; without it the record is written and read alone.

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
