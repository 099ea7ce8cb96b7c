//! Numbers in JSON that may be +∞, which is written as the string `Infinity`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Other(Other),
}

#[derive(Serialize, Deserialize)]
enum Other {
    Infinity,
}

pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *number {
        f64::INFINITY => Number::Other(Other::Infinity),
        number => Number::Finite(number),
    }
    .serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Number::deserialize(deserializer).map(|number| match number {
        Number::Finite(number) => number,
        Number::Other(Other::Infinity) => f64::INFINITY,
    })
}

/// The same for numbers that may be absent.
pub mod optional {
    use super::{Number, Other};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        let number = number.map(|number| match number {
            f64::INFINITY => Number::Other(Other::Infinity),
            number => Number::Finite(number),
        });
        number.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        let number = Option::<Number>::deserialize(deserializer)?;
        Ok(number.map(|number| match number {
            Number::Finite(number) => number,
            Number::Other(Other::Infinity) => f64::INFINITY,
        }))
    }
}
