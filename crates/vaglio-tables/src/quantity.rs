//! Quantities in settings: numbers with a unit.

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
