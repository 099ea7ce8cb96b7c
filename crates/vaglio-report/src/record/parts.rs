//! Parts of a run: their kinds and settings, the final model, and further findings.

use super::LossName;
use crate::names::clause;
use serde_json::{Map, Value};
use vaglio_core::{join, pluralize, record, short};

/// Kinds and settings of the parts of a run.
#[record]
#[derive(Default)]
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
    #[optional]
    pub approximation: Option<String>,
    /// Kind of the target map, if any. Scores are on the mapped scale; all other figures are in the units of the data.
    #[optional]
    pub target_map: Option<String>,
    /// Whether scores are for standardized targets; all other figures are in the units of the data.
    #[optional]
    pub standardized_target: bool,
    /// Settings of learner, criterion, search and preprocessing, with every default.
    pub settings: Value,
}

/// Summary of tuning.
#[record]
pub struct TunedSettings {
    /// Method that chose the settings to try.
    pub method: String,
    /// Number of scored settings.
    pub evaluations: usize,
    /// The lowest score.
    pub score: f64,
    /// Settings with the lowest score, by their dotted paths.
    pub parameters: Map<String, Value>,
}

impl TunedSettings {
    /// Sentence with the method and the settings that it found.
    pub(crate) fn sentence(&self) -> String {
        let text = |value: &Value| value.as_f64().map_or_else(|| value.to_string(), short);
        let values = join(self.parameters.iter().map(|(path, value)| format!("{path} = {}", text(value))), ", ");
        let (method, count) = (&self.method, pluralize(self.evaluations, "evaluation"));
        format!("tuned by {method}, {count}: {values}")
    }
}

/// Final model, trained on the chosen columns instead of the learner of the selection. The weights and intercept of the
/// record belong to it, if it is linear.
#[record]
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
    #[optional]
    pub tuned: Option<TunedSettings>,
}

impl FinalModelRecord {
    /// Learner and chosen settings in words: `elm, lambda 0.1 by loo`.
    pub fn words(&self) -> String {
        let lambda = clause(", lambda {}", self.lambda.map(short));
        let by = clause(" by {}", self.criterion.as_ref());
        format!("{}{lambda}{by}", self.kind)
    }
}
