//! Quantities in settings: numbers with a unit.

use serde::de::{Deserializer, Error, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A number with a unit, or a plain number.
pub trait Quantity: Sized {
    /// Description of the expected form, for errors.
    const EXPECTED: &'static str;

    /// Parses a number with a unit, as people write it.
    fn parse(text: &str) -> Option<Self>;

    /// Converts a plain number.
    fn from_double(number: f64) -> Option<Self>;

    /// Converts a plain whole number.
    ///
    /// # Errors
    /// The number, as a message shows it.
    fn from_whole(number: i128) -> Result<Self, String> {
        let number = number as f64;
        Self::from_double(number).ok_or_else(|| format!("{number:e}"))
    }
}

/// Splits a text into the number at its start, the letters after it, and the rest.
pub fn split(text: &str) -> (&str, &str, &str) {
    let text = text.trim_start();
    let (number, after) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let after = after.trim_start();
    let (unit, rest) = after.split_at(after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len()));
    (number, unit, rest.trim_start())
}

/// Finds a unit by one of its names.
pub fn unit<T: Copy>(units: &[(&[&str], T)], name: &str) -> Option<T> {
    let is_this = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    units.iter().find(|(names, _)| is_this(names)).map(|(_, value)| *value)
}

/// Deserializes a quantity.
///
/// # Errors
/// Fails with the expected form and the value found.
pub fn deserialize<'de, Q: Quantity, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
    deserializer.deserialize_any(QuantityVisitor(PhantomData))
}

struct QuantityVisitor<Q>(PhantomData<Q>);

fn refused<Q: Quantity, E: Error>(found: impl fmt::Display) -> E {
    E::custom(format!("expected {}, found {found}", Q::EXPECTED))
}

impl<Q: Quantity> Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Q::EXPECTED)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Q, E> {
        Q::from_whole(value.into()).map_err(refused::<Q, E>)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Q, E> {
        Q::from_whole(value.into()).map_err(refused::<Q, E>)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Q, E> {
        Q::from_double(value).ok_or_else(|| refused::<Q, E>(format_args!("{value:e}")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Q, E> {
        Q::parse(value).ok_or_else(|| refused::<Q, E>(format_args!("`{value}`")))
    }
}
