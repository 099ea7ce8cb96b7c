//! The engine of a search on a design: decided once, told by `plan` and taken by the run.

use super::balance::Weighting;
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

    /// What its lower bounds rest on: what the least squares fit of all columns leaves over, with rows weighted by what is
    /// left of 1 − leverage.
    pub fn bound(self) -> Option<&'static str> {
        (self == EngineId::States).then_some("least_squares")
    }
}

/// How the scores of a design are computed.
pub(super) struct Plan {
    pub engine: EngineId,
    /// The folds of each round by their training weights; none where every fold of every subset is refitted.
    pub parts: Vec<Vec<Weighting>>,
    /// Whether the moments of each round are made column by column, as these are selected.
    pub by_columns: Vec<bool>,
    pub estimate: Estimate,
}
