//! The model that was trained on the chosen columns.

use super::TunedSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use vaglio_core::short;

/// The model that was trained on the chosen columns in place of the learner of the selection; weights and intercept of the
/// result are its own, where it is linear in the columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinalModelRecord {
    /// The word of its learner.
    pub kind: String,
    /// The settings of its learner, tuned, with every default.
    pub settings: Value,
    /// The word of the criterion that chose λ or settings, where anything was chosen.
    pub criterion: Option<String>,
    /// The penalty that it was trained with, if it has one.
    pub lambda: Option<f64>,
    /// The score of that criterion on all training rows.
    pub score: Option<f64>,
    /// The settings that tuning found, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<TunedSettings>,
}

impl FinalModelRecord {
    /// Learner with what was chosen for it: `elm, lambda 0.1 by loo`.
    pub fn words(&self) -> String {
        let lambda = self.lambda.map(|lambda| format!(", lambda {}", short(lambda))).unwrap_or_default();
        let by = self.criterion.as_ref().map(|criterion| format!(" by {criterion}")).unwrap_or_default();
        format!("{}{lambda}{by}", self.kind)
    }
}
