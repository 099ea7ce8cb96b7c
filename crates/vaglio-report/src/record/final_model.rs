//! The final model, trained on the chosen columns.

use super::TunedSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use vaglio_core::short;

/// Final model, trained on the chosen columns instead of the learner of the selection. The weights and intercept of the
/// record belong to it, if it is linear.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalModelRecord {
    /// Kind of the learner.
    pub kind: String,
    /// Settings of the learner after tuning, with every default.
    pub settings: Value,
    /// Kind of the criterion that chose λ or settings, if any were chosen.
    pub criterion: Option<String>,
    /// Penalty of the training, if any.
    pub lambda: Option<f64>,
    /// Score of `criterion` on all training rows.
    pub score: Option<f64>,
    /// Settings found by tuning, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuned: Option<TunedSettings>,
}

impl FinalModelRecord {
    /// Learner and chosen settings in words: `elm, lambda 0.1 by loo`.
    pub fn words(&self) -> String {
        let lambda = self.lambda.map(|lambda| format!(", lambda {}", short(lambda))).unwrap_or_default();
        let by = self.criterion.as_ref().map(|criterion| format!(" by {criterion}")).unwrap_or_default();
        format!("{}{lambda}{by}", self.kind)
    }
}
