//! Parts of a run: their kinds and settings, the loss, and the final model.

use super::Record;
use crate::interval::normal_interval;
use crate::names::clause;
use crate::page::finite;
use serde_json::{Map, Value};
use vaglio_core::{Absolute, Loss, Part, Role, Squared, ZeroOne, join, pluralize, record, short, title};

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

/// Name of a loss in results: the word of the loss, or `1 - auc`.
#[record]
#[derive(Eq)]
#[serde(transparent)]
pub struct LossName(String);

impl From<&dyn Loss> for LossName {
    fn from(loss: &dyn Loss) -> Self {
        LossName(loss.label().into())
    }
}

impl LossName {
    /// Whether this is the name of `loss`.
    pub fn is(&self, loss: &dyn Loss) -> bool {
        self.0 == loss.label()
    }

    /// Name as written in results.
    pub fn result_name(&self) -> &str {
        &self.0
    }

    /// Display name of the loss.
    pub fn title(&self) -> &str {
        title(Role::Loss, self.word())
    }

    /// 95 % interval of a mean loss from its standard error, clipped to the range of the loss.
    pub(crate) fn interval(&self, mean: f64, error: f64) -> [f64; 2] {
        let loss = serde_json::from_value::<Part<dyn Loss>>(self.word().into());
        normal_interval(mean, error, loss.map_or([f64::NEG_INFINITY, f64::INFINITY], |loss| loss.traits().range))
    }

    /// Place of a mean loss with its 95 % interval, if it is finite and has a standard error.
    pub(crate) fn interval_at(&self, place: f64, mean: Option<f64>, error: Option<f64>) -> Option<[f64; 3]> {
        let [low, high] = self.interval(mean.and_then(finite)?, error.and_then(finite)?);
        Some([place, low, high])
    }

    /// Title of an axis that shows this loss.
    pub(crate) fn axis_title(&self) -> String {
        match self {
            _ if self.is(&Squared) => "mean squared error".into(),
            _ if self.is(&Absolute) => "mean absolute error".into(),
            _ => self.title().into(),
        }
    }

    fn word(&self) -> &str {
        self.0.strip_prefix("1 - ").unwrap_or(&self.0)
    }
}

impl Record {
    /// Whether scores are in the units of the losses, so that both can be drawn on one axis.
    pub(crate) fn is_comparable(&self) -> bool {
        let parts = &self.pipeline;
        parts.loss.is_some() && !parts.standardized_target && parts.target_map.is_none()
    }

    /// Setting `choose` of the search; a chain uses the setting of its last stage.
    pub(super) fn choose_settings(&self) -> &Value {
        let search = &self.pipeline.settings["search"];
        let last = search["stages"].as_array().and_then(|stages| stages.last());
        &last.unwrap_or(search)["choose"]
    }

    /// The score of the search as a phrase: `leave-one-out squared error`.
    pub(crate) fn score_title(&self) -> String {
        let parts = &self.pipeline;
        let criterion = title(Role::Criterion, &parts.criterion);
        format!("{criterion} {}{}", parts.loss.as_ref().map_or("score", LossName::title), parts.scale())
    }

    /// Name of the criterion's loss. For a criterion without one: the squared error, or the error rate of classes.
    pub fn loss(&self) -> LossName {
        let own: &dyn Loss = if self.data.classes.is_some() { &ZeroOne } else { &Squared };
        self.pipeline.loss.clone().unwrap_or_else(|| own.into())
    }
}
