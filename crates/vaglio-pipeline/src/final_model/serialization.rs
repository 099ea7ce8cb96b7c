//! Serialization of a final model: a learner, or `learner`, `criterion` and `tune`.

use super::FinalModel;
use serde::de::value::MapAccessDeserializer;
use serde::de::{IntoDeserializer, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::sync::Arc;
use vaglio_core::registered::WRITTEN;
use vaglio_core::{Criterion, Learner, MixedSetting, read_mixed};
use vaglio_report::record::Tune;
use vaglio_search::FromKey;

/// Keys that distinguish a full final model from a bare learner.
const KEYS: &[&str] = &["learner", "criterion", "tune"];

/// A learner with its criterion and tuning.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FinalModel", deny_unknown_fields)]
struct TunedLearner {
    learner: Arc<dyn Learner>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    criterion: Option<Arc<dyn Criterion>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tune: Option<Tune>,
}

impl Serialize for FinalModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_learner_alone() {
            self.learner.serialize(serializer)
        } else {
            TunedLearner::serialize(self, serializer)
        }
    }
}

impl<'de> Deserialize<'de> for FinalModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_mixed(WRITTEN, deserializer)
    }
}

impl MixedSetting for FinalModel {
    const EXPECTED: &'static str = "a learner, or keys and values with `learner`";

    fn from_text<E: de::Error>(word: &str) -> Result<Self, E> {
        let learner = Arc::<dyn Learner>::deserialize(word.into_deserializer())?;
        Ok(FinalModel { learner, criterion: None, tune: None })
    }

    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let first: Option<String> = map.next_key()?;
        let is_more = first.as_deref().is_some_and(|first| KEYS.contains(&first));
        let map = MapAccessDeserializer::new(FromKey { first, rest: map });
        if is_more {
            TunedLearner::deserialize(map)
        } else {
            Ok(FinalModel { learner: Arc::<dyn Learner>::deserialize(map)?, criterion: None, tune: None })
        }
    }
}
