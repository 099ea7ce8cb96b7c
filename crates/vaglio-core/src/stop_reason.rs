//! Reasons why a search ended.

use serde::{Deserialize, Serialize};

/// The reason why a search ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The largest size was reached.
    MaxFeatures,
    /// The smallest size was reached.
    MinFeatures,
    /// No column has a positive correlation with the residual of the target.
    NoCorrelation,
    /// The columns on the path depend on each other.
    Singular,
    /// The path reached the smallest penalty at which it is judged.
    Penalty,
    /// Every subset was scored or proven worse.
    AllSubsets,
    /// No step reached the tolerance.
    Tolerance,
    /// Too many steps in a row brought no improvement.
    Patience,
    /// No step lowered the score.
    NoImprovement,
    /// No candidate was left.
    #[default]
    NoCandidates,
    /// No change keeps the constraints.
    Constraints,
    /// The user interrupted; the result so far is valid.
    Interrupted,
    /// A limit was hit; the result so far is valid.
    Limit,
}

impl StopReason {
    /// Whether the search was cut short.
    pub fn is_partial(self) -> bool {
        matches!(self, StopReason::Interrupted | StopReason::Limit)
    }

    /// The reason as the rest of a sentence after "because".
    pub fn sentence(self) -> &'static str {
        match self {
            StopReason::MaxFeatures => "the largest size was reached",
            StopReason::MinFeatures => "the smallest size was reached",
            StopReason::NoCorrelation => "no column is positively correlated with the residual of the target",
            StopReason::Singular => "the columns on the path are linearly dependent",
            StopReason::Penalty => "the smallest penalty was reached",
            StopReason::AllSubsets => "every subset was scored or proven worse",
            StopReason::Tolerance => "no step reached the tolerance",
            StopReason::Patience => "too many steps in a row brought no improvement",
            StopReason::NoImprovement => "no step lowered the score",
            StopReason::NoCandidates => "no candidate was left",
            StopReason::Constraints => "no change keeps the constraints",
            StopReason::Interrupted => "it was interrupted",
            StopReason::Limit => "a limit was hit",
        }
    }
}

/// Writes the [sentence](StopReason::sentence).
impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.sentence())
    }
}
