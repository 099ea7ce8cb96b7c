//! The engine of a search on a design: decided once, told by `plan` and taken by the run.

use vaglio_core::Estimate;

/// The engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineId {
    /// Leverage and residuals of a subset with each row left out, updated by one column.
    States,
    /// Moments of the columns in each fold.
    Moments,
    /// Residuals of the rows of each fold, held out.
    RowsHeldOut,
    /// Each subset decomposed by itself.
    Decomposition,
    /// Every fold of every subset retrained.
    Refit,
}

impl EngineId {
    /// Its identifier in results.
    pub fn name(self) -> &'static str {
        match self {
            EngineId::States => "states",
            EngineId::Moments => "moments",
            EngineId::RowsHeldOut => "rows_held_out",
            EngineId::Decomposition => "decomposition",
            EngineId::Refit => "refit",
        }
    }
}

/// The engine of a design whose outputs share λ, with what it costs.
pub(super) struct Decision {
    pub engine: EngineId,
    pub estimate: Estimate,
}
