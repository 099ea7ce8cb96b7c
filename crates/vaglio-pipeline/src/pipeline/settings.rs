//! Settings of a pipeline, as in its file.

use super::{DataSpec, EngineSpec, Limits};
use crate::final_model::FinalModel;
use crate::learners::Rls;
use crate::progress::SharedMonitor;
use crate::resampling::{Choice, PIECES};
use crate::selector::check_parts;
use crate::tune::{self, Tune};
use serde::{Serialize, Serializer};
use std::sync::{Arc, LazyLock};
use vaglio_core::{Criterion, Error, Lambda, Learner, Map, Result, TargetMap, saved};
use vaglio_report::record::{Evaluate, OuterFolds};
use vaglio_search::{Choose, Greedy, Search};
use vaglio_validate::Loo;

/// Settings of a pipeline, as in its file; checking a [`Pipeline`](super::Pipeline) checks them.
#[saved]
#[derive(Clone)]
pub struct ValidPipeline {
    /// Version of the format: 1.
    pub version: u32,
    /// Seed that determines every random choice.
    #[serde(default)]
    pub seed: u64,
    /// Location and meaning of the data.
    #[optional]
    pub data: Option<DataSpec>,
    /// Maps, applied in order and fitted on training rows only.
    #[serde(default)]
    pub preprocess: Vec<Arc<dyn Map>>,
    /// Map of the targets, applied before anything is learned from them.
    #[optional]
    pub target_map: Option<Arc<dyn TargetMap>>,
    /// Learner that fits a subset of columns.
    #[serde(default = "default_learner")]
    pub learner: Arc<dyn Learner>,
    /// Criterion that scores subsets.
    #[serde(default = "default_criterion")]
    pub criterion: Arc<dyn Criterion>,
    /// Search that walks subsets.
    #[serde(default = "default_search", serialize_with = "as_written")]
    pub search: Search,
    /// Final model, trained on the selected columns; it replaces the learner in evaluation and predictions.
    #[optional]
    pub model: Option<FinalModel>,
    /// Settings of the learner that the criterion chooses before the search.
    #[optional]
    pub tune: Option<Tune>,
    /// Evaluation of the whole procedure.
    #[optional]
    pub evaluate: Option<Evaluate>,
    /// Limits of the run.
    #[optional]
    pub limits: Limits,
    /// Location and number of threads of the computation.
    #[serde(default)]
    pub engine: EngineSpec,
    /// Observer and stop sign of a fit through linfa.
    #[serde(skip)]
    pub(crate) monitor: SharedMonitor,
}

fn default_learner() -> Arc<dyn Learner> {
    Arc::new(Rls::new(Lambda::auto()))
}

fn default_criterion() -> Arc<dyn Criterion> {
    Arc::new(Loo::default())
}

fn default_search() -> Search {
    Greedy::default().into()
}

/// Serializes a search as in files: a chain as its list.
fn as_written<S: Serializer>(search: &Search, serializer: S) -> Result<S::Ok, S::Error> {
    match search.stages() {
        [] => search.serialize(serializer),
        stages => stages.serialize(serializer),
    }
}

/// Evaluation without settings.
static DEFAULT_EVALUATION: LazyLock<Evaluate> = LazyLock::new(Evaluate::default);

impl ValidPipeline {
    /// Evaluation settings, by default of nothing but drop-column importance.
    pub fn evaluation(&self) -> &Evaluate {
        self.evaluate.as_ref().unwrap_or(&DEFAULT_EVALUATION)
    }

    /// Checks the settings that need no data.
    pub(super) fn check(&self) -> Result<()> {
        if self.version != 1 {
            return Err(Error::setting(
                "version",
                format!("{} is not known; this program reads version 1", self.version),
            ));
        }
        for (index, map) in self.preprocess.iter().enumerate() {
            map.check_settings().map_err(|e| e.under(&format!("preprocess[{index}]")))?;
        }
        if let Some(map) = &self.target_map {
            map.check_settings().map_err(|e| e.under("target_map"))?;
        }
        check_parts(&*self.criterion, &self.search, &*self.learner)?;
        self.model.as_ref().map_or(Ok(()), |model| model.check().map_err(|e| e.under("model")))?;
        if let Some(tune) = &self.tune {
            tune::check(tune, &*self.learner).map_err(|e| e.under("tune"))?;
            if !tune.search.is_empty() {
                tune::check_compared(&self.search).map_err(|e| e.under("search"))?;
            }
        }
        if let Some(evaluate) = &self.evaluate {
            evaluate.check(&*self.criterion).map_err(|e| e.under("evaluate"))?;
        }
        self.engine.check()?;
        self.data.as_ref().map_or(Ok(()), DataSpec::check)
    }

    /// A copy with data-dependent defaults written out: the choice of size, and the scope of λ.
    pub fn with_resolved_defaults(&self, chosen: &Choice) -> Result<Self> {
        let mut copy = self.clone();
        let is_compared = copy.tune.as_ref().is_some_and(|tune| !tune.search.is_empty());
        let choose = &mut copy.search.settings.choose;
        match (&*choose, &chosen.folds) {
            // Searches that are compared keep their settings.
            _ if is_compared => {}
            (Choose::Auto | Choose::CrossValidated(_) | Choose::FalseDiscoveries(_), Some(how)) => {
                *choose = how.clone().into();
            }
            (Choose::Auto, None) => *choose = Choose::Best,
            _ => {}
        }
        let around = |folds: usize| self.criterion.traits().splits.and_then(|splits| splits.around_search(folds));
        if let Some(evaluate) = &mut copy.evaluate {
            let nested = evaluate.outer_folds();
            if let Some(how) = nested.filter(|how| how.splits.is_none() && around(how.folds).is_some()) {
                evaluate.nested = Some(OuterFolds { splits: around(how.folds), ..how });
            }
            if let Some(how) = evaluate.stability.as_mut().filter(|how| how.splits.is_none()) {
                how.splits = around(PIECES - 1);
            }
        }
        let mut learner = serde_json::to_value(&copy.learner)?;
        let several = |lambda: &&mut serde_json::Value| lambda.get("grid").or(lambda.get("values")).is_some();
        if let Some(serde_json::Value::Object(lambda)) = learner.get_mut("lambda").filter(several) {
            let per = if chosen.of_path { "path" } else { "subset" };
            if lambda.get("per").and_then(serde_json::Value::as_str) != Some("all") {
                lambda.insert("per".into(), per.into());
            }
            copy.learner = serde_json::from_value(learner)?;
        }
        Ok(copy)
    }

    /// Settings that affect the results, as JSON. Omitted are file locations (contents are hashed separately), threads
    /// and limits.
    pub fn configuration(&self) -> Result<serde_json::Value> {
        let mut settings = serde_json::to_value(self)?;
        if let Some(settings) = settings.as_object_mut() {
            settings.retain(|key, _| key != "limits" && key != "engine");
            // Location and threads change no result; rounded columns do.
            if self.engine.is_single() {
                settings.insert("precision".into(), "single".into());
            }
            if let Some(data) = settings.get_mut("data").and_then(serde_json::Value::as_object_mut) {
                data.retain(|key, _| !["train", "test"].contains(&key.as_str()));
            }
        }
        Ok(settings)
    }
}
