//! The engine of a search on a design, decided once; `plan` prints it and the run uses it.

use vaglio_core::Estimate;

/// Engine that scores subsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineId {
    /// Leave-one-out states: leverages and residuals of a subset, updated by one column.
    States,
    /// Moments of the columns in each fold.
    Moments,
    /// Residuals of each fold's held-out rows.
    RowsHeldOut,
    /// Decomposition of each subset by itself.
    Decomposition,
    /// Retraining of every fold of every subset.
    Refit,
}

impl EngineId {
    /// Word for the engine in results.
    pub fn name(self) -> &'static str {
        match self {
            EngineId::States => "states",
            EngineId::Moments => "moments",
            EngineId::RowsHeldOut => "rows_held_out",
            EngineId::Decomposition => "decomposition",
            EngineId::Refit => "refit",
        }
    }

    /// Estimated cost of the engine: the reason to take it, flops, and bytes.
    pub fn estimate(self, reason: impl Into<String>, flops: f64, bytes: f64) -> Estimate {
        Estimate { engine: self.name(), reason: reason.into(), flops, bytes }
    }
}
