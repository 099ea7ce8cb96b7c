//! Feature selection for regularised least squares: exact, fast, and open to plug-ins.

pub mod criteria;
pub mod learners;
pub mod report;
pub mod search;

pub use vaglio_core as core;
