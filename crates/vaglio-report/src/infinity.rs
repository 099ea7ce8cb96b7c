//! Numbers in JSON that may be +∞, which is written as null; older files have the string `Infinity`.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a number.
pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(optional(deserializer)?.unwrap_or(f64::INFINITY))
}

/// Reads a number whose key is absent if it was not computed; null is +∞.
pub fn computed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    number(deserializer).map(Some)
}

/// Reads an optional number; `None` is null as well.
pub fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        value if value == "Infinity" => Ok(Some(f64::INFINITY)),
        value => value.as_f64().map(Some).ok_or_else(|| D::Error::custom(format!("{value} is not a number"))),
    }
}

/// Reads a list of numbers.
pub fn several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let numbers = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::INFINITY)).collect())
}
