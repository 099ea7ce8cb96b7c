//! Serialization with sorted map keys, so that equal models are equal text.
//!
//! For `#[serde(with = "vaglio_linfa::sorted_maps")]`: linfa stores classes in hash maps, whose order changes from run
//! to run.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Serializes a value with the keys of its maps sorted.
///
/// # Errors
/// Forwards errors of the format.
pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let value = serde_json::to_value(value).map_err(S::Error::custom)?;
    sorted(value).serialize(serializer)
}

/// Deserializes the output of [`serialize`].
///
/// # Errors
/// Forwards errors of the format.
pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    serde_json::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().map(|(key, of)| (key, sorted(of))).collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(Map::from_iter(fields))
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}
