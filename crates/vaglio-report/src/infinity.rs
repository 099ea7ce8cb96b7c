//! Numbers in JSON that may be +∞, which is written as null; older files have the string `Infinity`.

use serde::{Deserializer, Serializer};

pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    optional::serialize(&Some(*number), serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(optional::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// Optional numbers whose key is absent if they were not computed; null is +∞.
pub mod computed {
    pub use super::optional::serialize;

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}

/// Optional numbers; `None` is null as well.
pub mod optional {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub fn serialize<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        number.filter(|number| number.is_finite()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(None),
            value if value == "Infinity" => Ok(Some(f64::INFINITY)),
            value => value.as_f64().map(Some).ok_or_else(|| D::Error::custom(format!("{value} is not a number"))),
        }
    }
}

/// Lists of numbers.
pub mod several {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        let finite = |number: &f64| Some(*number).filter(|number| number.is_finite());
        numbers.iter().map(finite).collect::<Vec<Option<f64>>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let numbers = Vec::<Option<f64>>::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::INFINITY)).collect())
    }
}
