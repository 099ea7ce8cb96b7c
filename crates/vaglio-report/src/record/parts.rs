//! Kinds and settings of the parts of a run, and the tuned settings.

use super::{LossName, Method, TuningResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use vaglio_core::{counted, joined, short};

/// Kinds and settings of the parts of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartNames {
    /// The learner's kind.
    pub learner: String,
    /// The criterion's kind.
    pub criterion: String,
    /// The search's kind.
    pub search: String,
    /// Loss whose mean is the score, if it is one: `squared`, `1 - auc`, …
    pub loss: Option<LossName>,
    /// Engine that computed the criterion.
    pub engine: String,
    /// Approximation of the criterion, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximation: Option<String>,
    /// Kind of the target map, if any. Scores are on the mapped scale; all other figures are in the units of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_map: Option<String>,
    /// Whether scores are for standardized targets; all other figures are in the units of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standardized_target: bool,
    /// Settings of learner, criterion, search and preprocessing, with every default.
    pub settings: Value,
}

/// Summary of tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TunedSettings {
    /// Method that chose the settings to try.
    pub method: Method,
    /// Number of scored settings.
    pub evaluations: usize,
    /// The lowest score.
    pub score: f64,
    /// Settings with the lowest score, by their dotted paths.
    pub parameters: Map<String, Value>,
}

impl TunedSettings {
    /// Summarizes the result of tuning, without the trials.
    pub fn new(tuned: &TuningResult) -> Self {
        TunedSettings {
            method: tuned.tune.method,
            evaluations: tuned.trials.len(),
            score: tuned.score(),
            parameters: tuned.parameters(),
        }
    }

    /// Sentence with the method and the settings that it found.
    pub(super) fn sentence(&self) -> String {
        let text = |value: &Value| value.as_f64().map_or_else(|| value.to_string(), short);
        let values = joined(self.parameters.iter().map(|(path, value)| format!("{path} = {}", text(value))), ", ");
        let (method, count) = (self.method.name(), counted(self.evaluations, "evaluation"));
        format!("tuned by {method}, {count}: {values}")
    }
}
