//! Settings of a pipeline, as in its file.

use super::{DataSpec, EngineSpec, Limits};
use crate::final_model::FinalModel;
use crate::learners::Rls;
use crate::progress::SharedMonitor;
use crate::selector::check_parts;
use crate::tune::{self, Tune};
use serde::{Serialize, Serializer};
use std::sync::{Arc, LazyLock};
use vaglio_core::{Criterion, Error, Lambda, Learner, Map, Result, TargetMap, saved};
use vaglio_report::record::Evaluate;
use vaglio_search::{Greedy, Search};
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
}
