//! A loss as a setting.

use super::{Loss, Squared};
use crate::{Role, title};
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Any loss, as criteria keep it among their settings: a bare word, or its `kind` with its settings.
///
/// Two are the same where they are written alike. By default it is [`Squared`].
#[derive(Clone)]
pub struct AnyLoss(Arc<dyn Loss>);

impl AnyLoss {
    /// Its identifier in pipeline files.
    pub fn name(&self) -> &'static str {
        self.0.typetag_name()
    }

    /// What people call it.
    pub fn title(&self) -> &'static str {
        title(Role::Loss, self.name())
    }

    /// As it is written.
    fn written(&self) -> serde_json::Value {
        serde_json::to_value(&*self.0).unwrap_or_default()
    }
}

impl Deref for AnyLoss {
    type Target = dyn Loss;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl<L: Loss + 'static> From<L> for AnyLoss {
    fn from(loss: L) -> Self {
        AnyLoss(Arc::new(loss))
    }
}

impl Default for AnyLoss {
    fn default() -> Self {
        Squared.into()
    }
}

impl PartialEq for AnyLoss {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.written() == other.written()
    }
}

impl fmt::Debug for AnyLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for AnyLoss {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.written().as_object() {
            Some(settings) if settings.len() > 1 => self.0.serialize(serializer),
            _ => serializer.serialize_str(self.name()),
        }
    }
}

impl<'de> Deserialize<'de> for AnyLoss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> de::Visitor<'de> for Words {
            type Value = Box<dyn Loss>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a loss: a word, or a map with its `kind`")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
                Deserialize::deserialize(MapDeserializer::new([("kind", word)].into_iter()))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_any(Words).map(|loss| AnyLoss(loss.into()))
    }
}

impl schemars::JsonSchema for AnyLoss {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Loss".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"$ref": "#/$defs/Loss"})
    }
}
