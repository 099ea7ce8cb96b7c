//! A second learner for the selected columns, the `model` of a pipeline. It replaces the selection's own learner in
//! predictions and evaluation.

use crate::tune::Tune;
use serde::de::{IntoDeserializer, MapAccess};
use serde::{Deserialize, Serialize, Serializer, de};
use std::sync::Arc;
use vaglio_core::registered::WRITTEN;
use vaglio_core::{Coefficients, Criterion, Error, Learner, MixedSetting, Model, Result, first_key};
use vaglio_report::record::FinalModelRecord;

/// A learner to train on the selected columns: the `model` of a pipeline.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct FinalModel {
    /// Learner that is trained on the selected columns.
    pub learner: Arc<dyn Learner>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) criterion: Option<Arc<dyn Criterion>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tune: Option<Tune>,
}

/// A trained final model.
#[derive(Debug, Clone)]
pub struct FittedFinalModel {
    /// Model that predicts, from columns of the problem.
    pub model: Model,
    /// Learner, λ and settings, with the criterion that chose them.
    pub record: FinalModelRecord,
    /// Readout of the selected columns, in order of entry, if the model is linear in the columns.
    pub readout: Option<Coefficients>,
    /// Report values of the learner.
    pub found: serde_json::Map<String, serde_json::Value>,
}

impl FinalModel {
    /// A learner whose λ is chosen by the criterion of the pipeline, or by leave-one-out if that criterion has no loss.
    pub(crate) fn new(learner: Arc<dyn Learner>) -> Self {
        FinalModel { learner, criterion: None, tune: None }
    }

    fn is_learner_alone(&self) -> bool {
        self.criterion.is_none() && self.tune.is_none()
    }

    /// Prefixes an error of the learner with `learner`, unless the learner is written alone.
    pub(crate) fn in_learner(&self, error: Error) -> Error {
        if self.is_learner_alone() { error } else { error.under("learner") }
    }
}

/// Keys that distinguish a full final model from a bare learner.
const KEYS: &[&str] = &["learner", "criterion", "tune"];

impl Serialize for FinalModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_learner_alone() {
            self.learner.serialize(serializer)
        } else {
            // All fields, as `remote` derives them.
            FinalModel::serialize(self, serializer)
        }
    }
}

vaglio_core::mixed_setting!(FinalModel);

impl MixedSetting for FinalModel {
    const EXPECTED: &'static str = "a learner, or keys and values with `learner`";
    const NEWTYPE: &'static str = WRITTEN;

    fn from_text<E: de::Error>(word: &str) -> Result<Self, E> {
        Ok(FinalModel::new(Arc::<dyn Learner>::deserialize(word.into_deserializer())?))
    }

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let (first, map) = first_key(map)?;
        if first.is_some_and(|first| KEYS.contains(&&*first)) {
            FinalModel::deserialize(map)
        } else {
            Ok(FinalModel::new(Arc::<dyn Learner>::deserialize(map)?))
        }
    }
}
