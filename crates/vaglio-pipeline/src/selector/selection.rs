//! Result of a selection.

use crate::final_model::FittedFinalModel;
use crate::resampling::Choice;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Instant;
use vaglio_core::{Coefficients, Feature, Model, Path, Score, StopReason};
use vaglio_report::record::{ComparedSearch, Warning};

/// Result of a selection.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Selection {
    /// Search path: its steps and the best subset of each size.
    pub path: Path,
    /// Choice of size and λ.
    pub chosen: Choice,
    /// Searches that were compared on the same folds, if there are several; the path is the winner's.
    pub searches: Vec<ComparedSearch>,
    /// Warnings about results to distrust.
    pub warnings: Vec<Warning>,
    /// Names of the candidate features: the learner's if it makes features, else the problem's columns.
    pub names: Vec<String>,
    /// The learner trained on the selected subset and all rows.
    pub model: Model,
    /// Final model trained on the selected columns, if the pipeline has a `model` and any were selected.
    #[serde(skip)]
    pub final_model: Option<FittedFinalModel>,
    /// Engine of the criterion.
    pub engine: Cow<'static, str>,
    /// Approximation of the criterion, if any.
    pub approximation: Option<Cow<'static, str>>,
    /// The criterion's own coefficients of the result, in order of entry, if it has any.
    pub alpha: Option<Vec<f64>>,
    /// Seconds of the search, with the learner's features and the criterion's preparation.
    pub search_seconds: f64,
    /// Seconds of the searches in folds that chose the result.
    pub choose_seconds: f64,
    /// Seconds of the final fit.
    pub fit_seconds: f64,
}

impl Selection {
    /// Name of a candidate feature.
    pub fn name(&self, feature: Feature) -> String {
        self.names.get(feature).cloned().unwrap_or_default()
    }

    /// The model that predicts: the final model if there is one, else the learner's.
    pub fn predictor(&self) -> &Model {
        self.final_model.as_ref().map_or(&self.model, |fitted| &fitted.model)
    }

    /// Readout of the selected features by the predictor, in order of entry, if it has one.
    pub fn coefficients(&self) -> Option<&Coefficients> {
        self.final_model.as_ref().map_or(self.model.coefficients(), |fitted| fitted.readout.as_ref())
    }
}

/// Warning for a model without columns although some were selected.
pub(super) const UNTRAINED: &str = "the run was stopped while the model of the chosen columns was trained, so the model has no columns; \
                                    `path` holds the search, and `--resume` goes on from there";

/// Result of a search, before training.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchResult {
    /// The search path.
    pub path: Path,
    pub(crate) engine: Cow<'static, str>,
    pub(crate) approximation: Option<Cow<'static, str>>,
    pub(crate) alpha: Option<Vec<f64>>,
    /// Whether the session of the design has moments that the final fit can use.
    #[serde(default)]
    pub has_moments: bool,
    #[serde(skip)]
    pub(crate) seconds: f64,
}

impl SearchResult {
    /// Empty result of a search that began at `start` and was stopped before its first score.
    pub(crate) fn stopped(reason: StopReason, start: Instant) -> Self {
        let (path, seconds) = (Path::stopped(Score::WORST, reason), start.elapsed().as_secs_f64());
        SearchResult { path, engine: "none".into(), approximation: None, alpha: None, has_moments: false, seconds }
    }
}
