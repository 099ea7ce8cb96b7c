//! Exact serialization of numbers, finite or not, to the last bit; used as `#[serde(with)]` on fields.

use serde::{Deserialize, Deserializer, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum SerializedFloat {
    Finite(f64),
    Bits(String),
}

/// Writes a number so that it is read back to the last bit, also if it is not finite.
pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match number.is_finite() {
        true => serializer.serialize_f64(*number),
        false => serializer.serialize_str(&format!("{:016x}", number.to_bits())),
    }
}

/// Reads a number that [`serialize`] wrote.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    match SerializedFloat::deserialize(deserializer)? {
        SerializedFloat::Finite(number) => Ok(number),
        SerializedFloat::Bits(bits) => {
            u64::from_str_radix(&bits, 16).map(f64::from_bits).map_err(serde::de::Error::custom)
        }
    }
}
