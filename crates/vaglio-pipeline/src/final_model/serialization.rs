//! Serialization of a final model: a learner, or `learner`, `criterion` and `tune`.

use super::FinalModel;
use serde::de::value::MapAccessDeserializer;
use serde::de::{IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::sync::Arc;
use vaglio_core::registered::WRITTEN;
use vaglio_core::{Criterion, Learner};
use vaglio_report::record::Tune;
use vaglio_search::FromKey;

/// Keys that distinguish a full final model from a bare learner.
const KEYS: &[&str] = &["learner", "criterion", "tune"];

#[derive(Serialize)]
struct SavedFinalModelRef<'m> {
    learner: &'m Arc<dyn Learner>,
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: &'m Option<Arc<dyn Criterion>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tune: &'m Option<Tune>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedFinalModel {
    learner: Arc<dyn Learner>,
    #[serde(default)]
    criterion: Option<Arc<dyn Criterion>>,
    #[serde(default)]
    tune: Option<Tune>,
}

impl Serialize for FinalModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FinalModel { learner, criterion, tune } = self;
        match self.is_learner_alone() {
            true => learner.serialize(serializer),
            false => SavedFinalModelRef { learner, criterion, tune }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FinalModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(WRITTEN, FinalModelVisitor)
    }
}

struct FinalModelVisitor;

impl<'de> Visitor<'de> for FinalModelVisitor {
    type Value = FinalModel;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a learner, or keys and values with `learner`")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
        let learner = Arc::<dyn Learner>::deserialize(word.into_deserializer())?;
        Ok(FinalModel { learner, criterion: None, tune: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let first: Option<String> = map.next_key()?;
        let is_more = first.as_deref().is_some_and(|first| KEYS.contains(&first));
        let map = MapAccessDeserializer::new(FromKey { first, rest: map });
        if is_more {
            let SavedFinalModel { learner, criterion, tune } = SavedFinalModel::deserialize(map)?;
            return Ok(FinalModel { learner, criterion, tune });
        }
        Ok(FinalModel { learner: Arc::<dyn Learner>::deserialize(map)?, criterion: None, tune: None })
    }
}
