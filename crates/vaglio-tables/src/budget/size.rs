//! Byte sizes in settings.

use crate::quantity::{split, unit};
use serde::de::Error;
use serde::{Serialize, Serializer};
use std::fmt;
use vaglio_core::MixedSetting;

/// A number of bytes: `8GiB`, `500 MB`, or a plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

/// Units, from the largest; powers of 1024 first.
const UNITS: [(&[&str], u64); 9] = [
    (&["TiB"], 1 << 40),
    (&["GiB"], 1 << 30),
    (&["MiB"], 1 << 20),
    (&["KiB"], 1 << 10),
    (&["TB"], 1_000_000_000_000),
    (&["GB"], 1_000_000_000),
    (&["MB"], 1_000_000),
    (&["kB"], 1000),
    (&["B", "bytes"], 1),
];

impl MixedSetting for ByteSize {
    const EXPECTED: &'static str = "a number of bytes, such as 8GiB, `500 MB` or 8000000000";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        ByteSize::parse(text).ok_or_else(|| Self::refusal(format_args!("`{text}`")))
    }

    fn from_whole<E: Error>(bytes: i128) -> Result<Self, E> {
        u64::try_from(bytes).ok().and_then(ByteSize::unless_zero).ok_or_else(|| Self::refusal(bytes))
    }

    fn from_number<E: Error>(bytes: f64) -> Result<Self, E> {
        ByteSize::from_double(bytes).ok_or_else(|| Self::refusal(format_args!("{bytes:e}")))
    }
}

impl ByteSize {
    fn parse(text: &str) -> Option<Self> {
        let (number, name, rest) = split(text);
        if !rest.is_empty() {
            return None;
        }
        let factor = if name.is_empty() { 1 } else { unit(&UNITS, name)? };
        match number.parse::<u64>() {
            Ok(whole) => whole.checked_mul(factor).and_then(ByteSize::unless_zero),
            Err(_) => ByteSize::from_double(number.parse::<f64>().ok()? * factor as f64),
        }
    }

    fn from_double(bytes: f64) -> Option<Self> {
        (bytes >= 1.0 && bytes <= (1u64 << 62) as f64).then_some(ByteSize(bytes as u64))
    }

    fn unless_zero(bytes: u64) -> Option<Self> {
        (bytes > 0).then_some(ByteSize(bytes))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.iter().find(|(_, size)| self.0.is_multiple_of(*size));
        unit.map_or(Ok(()), |(names, size)| write!(f, "{}{}", self.0 / size, names[0]))
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

vaglio_core::mixed_setting!(ByteSize);

vaglio_core::schema!(ByteSize => {
    "description": "A number of bytes: `8GiB`, `500 MB`, or a plain number.",
    "type": ["integer", "string"],
    "minimum": 1,
    "pattern": "^\\s*[0-9.]+\\s*([TtGgMmKk][Ii]?[Bb]|[Bb]|[Bb][Yy][Tt][Ee][Ss])?\\s*$"
});

/// Formats a number of bytes for people.
pub fn shown(value: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = UNITS.iter().find(|(size, _)| value >= *size);
    unit.map_or_else(|| format!("{value:.0} B"), |(size, name)| format!("{:.1} {name}", value / size))
}
