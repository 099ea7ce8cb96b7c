//! The result of a run: a typed record, as `selection.json` holds it, the page that shows it, and several runs beside each other.
//!
//! The feature `page` draws; without it the record is written and read alone.

#[cfg(feature = "page")]
pub mod compare;
mod infinity;
pub mod record;
#[cfg(feature = "page")]
pub mod report;
