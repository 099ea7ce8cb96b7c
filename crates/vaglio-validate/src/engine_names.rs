//! Names of the engines that score subsets, and estimates of their cost.

use vaglio_core::Estimate;

/// Leave-one-out states: leverages and residuals of a subset, updated by one column.
pub(super) const STATES: &str = "states";
/// Moments of the columns in each fold.
pub(super) const MOMENTS: &str = "moments";
/// Residuals of each fold's held-out rows.
pub(super) const ROWS_HELD_OUT: &str = "rows_held_out";
/// Decomposition of each subset by itself.
pub(super) const DECOMPOSITION: &str = "decomposition";
/// Retraining of every fold of every subset.
pub(super) const REFIT: &str = "refit";

/// Estimated cost of an engine: the reason to take it, flops, and bytes.
pub(super) fn estimate(engine: &'static str, reason: impl Into<String>, flops: f64, bytes: f64) -> Estimate {
    Estimate { engine, reason: reason.into(), flops, bytes }
}
