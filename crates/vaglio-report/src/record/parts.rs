//! The parts of a run, and what tuning found of their settings.

use super::{LossName, Method, TuningResult};
use serde::{Deserialize, Serialize};

/// The names of the parts of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartNames {
    /// The learner's kind.
    pub learner: String,
    /// The criterion's kind.
    pub criterion: String,
    /// The search's kind.
    pub search: String,
    /// The loss of which the score is a mean, if it is one: `squared`, `1 - auc`, …
    pub loss: Option<LossName>,
    /// The engine by which the criterion computed.
    pub engine: String,
    /// The criterion's approximation, if it made one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approximation: Option<String>,
    /// The map of targets, where there is one: scores are on its scale, all other figures in the units of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_map: Option<String>,
    /// Whether scores are those of standardized targets; all other figures are in the units of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standardized_target: bool,
    /// The settings of learner, criterion, search and preprocessing, with every default.
    pub settings: serde_json::Value,
}

/// Result of tuning, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunedSettings {
    /// Method that chose the settings to try.
    pub method: Method,
    /// How many were scored.
    pub evaluations: usize,
    /// The lowest score.
    pub score: f64,
    /// The settings of the lowest score by their dotted paths.
    pub parameters: serde_json::Map<String, serde_json::Value>,
}

impl TunedSettings {
    /// The result of tuning without the trials.
    pub fn new(tuned: &TuningResult) -> Self {
        TunedSettings {
            method: tuned.tune.method,
            evaluations: tuned.trials.len(),
            score: tuned.score(),
            parameters: tuned.parameters(),
        }
    }
}
