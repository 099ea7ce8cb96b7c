//! Numbers in JSON that may be +∞, which is written as null.

use serde::{Deserialize, Deserializer};

/// Reads a number; null is +∞. Number fields of records use it.
pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// Reads a number whose key is absent if it was not computed; null is +∞.
pub fn computed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    number(deserializer).map(Some)
}

/// Reads a list of numbers.
pub fn several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let numbers = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::INFINITY)).collect())
}
