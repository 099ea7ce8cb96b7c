//! Numbers in JSON that may be +∞, which is written as null; older files have the string `Infinity`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrInfinity {
    Finite(f64),
    Other(InfinityWord),
}

#[derive(Deserialize)]
enum InfinityWord {
    Infinity,
}

impl From<NumberOrInfinity> for f64 {
    fn from(number: NumberOrInfinity) -> Self {
        match number {
            NumberOrInfinity::Finite(number) => number,
            NumberOrInfinity::Other(InfinityWord::Infinity) => f64::INFINITY,
        }
    }
}

pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    optional::serialize(&Some(*number), serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(optional::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// Reads a number whose key is absent if it was not computed; null is +∞.
pub fn where_computed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    deserialize(deserializer).map(Some)
}

/// Optional numbers; `None` is null as well.
pub mod optional {
    use super::{Deserialize, Deserializer, NumberOrInfinity, Serialize, Serializer};

    pub fn serialize<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        number.filter(|number| number.is_finite()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<NumberOrInfinity>::deserialize(deserializer)?.map(f64::from))
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
