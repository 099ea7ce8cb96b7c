//! What a selection found.

use crate::final_model::FittedFinalModel;
use crate::resample::Chosen;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Instant;
use vaglio_core::{Coefficients, Model, Path, Score, StopReason};
use vaglio_report::record::{RaceRecord, Warning};

/// What a selection found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Selection {
    /// The steps and the best subset of each size.
    pub path: Path,
    /// How its result was taken.
    pub chosen: Chosen,
    /// How the searches that competed compare, where it was a race; the path is that of the one that won.
    pub race: Option<RaceRecord>,
    /// What is not to be trusted.
    pub warnings: Vec<Warning>,
    /// Names of the columns that were selected from: the learner's where it maps, else the problem's.
    pub names: Vec<String>,
    /// The learner trained on the chosen subset and all rows.
    pub model: Model,
    /// What was trained on the chosen columns in place of the learner, where the pipeline has a `model` and any were chosen.
    pub final_model: Option<FittedFinalModel>,
    /// The engine by which the criterion computed.
    pub engine: Cow<'static, str>,
    /// The criterion's approximation, if it made one.
    pub approximation: Option<Cow<'static, str>>,
    /// The criterion's own coefficients on the result, in order of entry, if it has any.
    pub alpha: Option<Vec<f64>>,
    /// Seconds of the search, the learner's map and the criterion's preparation included.
    pub search_seconds: f64,
    /// Seconds of the walks on folds that chose the result.
    pub choose_seconds: f64,
    /// Seconds of the final fit.
    pub fit_seconds: f64,
}

impl Selection {
    /// What predicts: the final model, or without one that of the learner.
    pub fn predictor(&self) -> &Model {
        self.final_model.as_ref().map_or(&self.model, |fitted| &fitted.model)
    }

    /// Its readout of the chosen features, in order of entry, if it has one.
    pub fn coefficients(&self) -> Option<&Coefficients> {
        self.final_model.as_ref().map_or(self.model.coefficients(), |fitted| fitted.readout.as_ref())
    }
}

/// Why a model has no columns although some were chosen.
pub(super) const UNTRAINED: &str = "the run was stopped while the model of the chosen columns was trained, so the model has no columns; \
                                    `path` holds the search, and `--resume` goes on from there";

/// What a search found, not yet trained.
#[derive(Debug, Serialize, Deserialize)]
pub struct Searched {
    /// The path.
    pub path: Path,
    pub(crate) engine: Cow<'static, str>,
    pub(crate) approximation: Option<Cow<'static, str>>,
    pub(crate) alpha: Option<Vec<f64>>,
    /// Whether the session of the design has moments, from which the final fit begins.
    #[serde(default)]
    pub has_moments: bool,
    #[serde(skip)]
    pub(crate) seconds: f64,
}

impl Searched {
    /// Nothing, of a search that was begun at `start` and stopped before its first score.
    pub(crate) fn stopped(reason: StopReason, start: Instant) -> Self {
        let (path, seconds) = (Path::stopped(Score::WORST, reason), start.elapsed().as_secs_f64());
        Searched { path, engine: "none".into(), approximation: None, alpha: None, has_moments: false, seconds }
    }
}
