//! The settings of a pipeline, as its file names them.

use super::{DataSpec, EngineSpec, Evaluate, Limits};
use crate::criteria::Loo;
use crate::final_model::FinalModel;
use crate::learners::Rls;
use crate::linfa_api::SharedMonitor;
use crate::search::Greedy;
use crate::selector::check_parts;
use crate::tune::{Tune, Tuning};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;
use vaglio_core::{AnyResampling, Criterion, Error, Lambda, Learner, Map, Result, SearchStrategy, TargetMap};

/// The settings of a pipeline, as its file names them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of the format: 1.
    pub version: u32,
    /// Every random choice follows from it.
    #[serde(default)]
    pub seed: u64,
    /// Where the data are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataSpec>,
    /// Maps, applied in order and fitted on training rows only.
    #[serde(default)]
    pub preprocess: Vec<Arc<dyn Map>>,
    /// What is done to targets before anything is learned from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_map: Option<Arc<dyn TargetMap>>,
    /// What gives a subset of columns its meaning.
    #[serde(default = "default_learner")]
    pub learner: Arc<dyn Learner>,
    /// What scores subsets.
    #[serde(default = "default_criterion")]
    pub criterion: Arc<dyn Criterion>,
    /// What walks subsets.
    #[serde(default = "default_search", serialize_with = "as_written")]
    pub search: Arc<dyn SearchStrategy>,
    /// What is trained on the chosen columns, judged and predicted with in place of the learner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<FinalModel>,
    /// Settings of the learner that the criterion chooses before the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<Tune>,
    /// What the whole selection is worth: figures beside its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluate: Option<Evaluate>,
    /// What the run may take.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// Where and on how many threads to compute.
    #[serde(default)]
    pub engine: EngineSpec,
    /// How rows that stand for many are parted around a search, and whether these would be by splits of the criterion.
    #[serde(skip)]
    pub dealt: Option<(AnyResampling, bool)>,
    /// What watches a fit through linfa.
    #[serde(skip)]
    pub(crate) monitor: SharedMonitor,
}

fn default_learner() -> Arc<dyn Learner> {
    Arc::new(Rls::new(Lambda::auto()))
}

fn default_criterion() -> Arc<dyn Criterion> {
    Arc::new(Loo::default())
}

fn default_search() -> Arc<dyn SearchStrategy> {
    Arc::new(Greedy::default())
}

/// A search as files have it: a chain as its list.
fn as_written<S: Serializer>(search: &Arc<dyn SearchStrategy>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    if search.typetag_name() != "chain" {
        return search.serialize(serializer);
    }
    serde_json::to_value(search).map_err(serde::ser::Error::custom)?["stages"].serialize(serializer)
}

impl Settings {
    /// Checks everything that does not need data.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path in the pipeline.
    pub(super) fn check(&self) -> Result<()> {
        if self.version != 1 {
            return Err(Error::setting(
                "version",
                format!("{} is not known; this program reads version 1", self.version),
            ));
        }
        for (index, map) in self.preprocess.iter().enumerate() {
            map.check().map_err(|e| e.under(&format!("preprocess[{index}]")))?;
        }
        if let Some(map) = &self.target_map {
            map.check().map_err(|e| e.under("target_map"))?;
        }
        check_parts(&*self.criterion, &*self.search, &*self.learner, self.model.as_ref())?;
        if let Some(tune) = &self.tune {
            tune.check(&*self.learner).map_err(|e| e.under("tune"))?;
        }
        if let Some(evaluate) = &self.evaluate {
            evaluate.check(&*self.criterion).map_err(|e| e.under("evaluate"))?;
        }
        self.engine.check()?;
        self.data.as_ref().map_or(Ok(()), DataSpec::check)
    }
}
