//! Serialization with sorted map keys, so that equal models are equal text.
//!
//! For `#[serde(with = "vaglio_linfa::sorted_maps")]`: linfa stores classes in hash maps, whose order changes from run
//! to run.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Serializes a value with the keys of its maps sorted.
///
/// # Errors
/// Forwards errors of the format.
pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(value).map_err(S::Error::custom)?;
    value.sort_all_objects();
    value.serialize(serializer)
}

/// Deserializes the output of [`serialize`].
///
/// # Errors
/// Forwards errors of the format.
pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    serde_json::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}
