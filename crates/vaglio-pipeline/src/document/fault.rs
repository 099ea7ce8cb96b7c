//! What goes wrong while settings are read, before its place is known.

use serde::de::{self, Expected, Unexpected};
use std::fmt;
use vaglio_core::{Error, Place, registrations};

/// A mismatch between a value and the type that it is read into.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// In the words of the type.
    Custom(String),
    /// The value is not of this kind.
    Expected(String),
    /// A key that the type does not have.
    UnknownKey(String, Vec<String>),
    /// A word that is not among those allowed.
    UnknownWord(String, Vec<String>),
    /// A key that the type must have.
    MissingKey(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fault::Custom(message) => f.write_str(message),
            Fault::Expected(what) => write!(f, "expected {what}"),
            Fault::UnknownKey(name, _) => write!(f, "unknown key `{name}`"),
            Fault::UnknownWord(name, _) => write!(f, "unknown word `{name}`"),
            Fault::MissingKey(name) => write!(f, "{MISSING}{name}`"),
        }
    }
}

/// What serde's own text of a missing field starts with.
const MISSING: &str = "missing field `";

impl std::error::Error for Fault {}

impl de::Error for Fault {
    /// Trait objects hand errors on as text; a missing key is told apart by serde's words for it.
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        match message.strip_prefix(MISSING).and_then(|rest| rest.strip_suffix('`')) {
            Some(name) => Fault::MissingKey(name.to_owned()),
            None => Fault::Custom(message),
        }
    }

    fn invalid_type(_: Unexpected, expected: &dyn Expected) -> Self {
        Fault::Expected(plain(&expected.to_string()))
    }

    fn invalid_value(_: Unexpected, expected: &dyn Expected) -> Self {
        Fault::Expected(plain(&expected.to_string()))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Fault::Custom(format!("expected {expected}, found {length} of them"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Fault::UnknownWord(variant.to_owned(), expected.iter().map(|&name| name.to_owned()).collect())
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Fault::UnknownKey(field.to_owned(), expected.iter().map(|&name| name.to_owned()).collect())
    }

    fn missing_field(field: &'static str) -> Self {
        Fault::MissingKey(field.to_owned())
    }
}

/// Serde's name of a type as a user would say it.
fn plain(expected: &str) -> String {
    match expected {
        "usize" | "u64" | "u32" | "u128" => "a whole number from 0 up",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "isize" | "i64" | "i32" | "i16" | "i8" | "i128" => "a whole number",
        "f64" | "f32" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" => "text",
        "a sequence" => "a list",
        "unit" => "nothing",
        // Of a `kind`.
        _ if expected.starts_with("dyn ") => "a word",
        _ if ["struct ", "a map"].iter().any(|start| expected.starts_with(start)) => "keys and values",
        _ => expected,
    }
    .to_owned()
}

impl Fault {
    /// The error for the setting `path`, whose value stands at `place` and is described by `found`.
    pub(super) fn locate(&self, path: &str, place: &Place, found: &str) -> Error {
        let place = Some(place.clone());
        match self {
            Fault::UnknownKey(name, known) => {
                Error::unknown(join(path, name), "key", name, known.iter().map(String::as_str)).at(place)
            }
            Fault::UnknownWord(name, known) => {
                Error::unknown(path, noun(path), name, known.iter().map(String::as_str)).at(place)
            }
            Fault::MissingKey(name) => Error::setting(join(path, name), "is required and missing").at(place),
            Fault::Expected(what) => {
                setting(path, format!("expected {what}, found {found}{}", hint(what, found)), place)
            }
            Fault::Custom(message) if message.starts_with("data did not match any variant of untagged enum") => {
                setting(path, format!("{found} is of none of the forms that this setting has"), place)
            }
            Fault::Custom(message) => setting(path, twice(message).unwrap_or_else(|| message.clone()), place),
        }
    }
}

/// What to do about a number that should be text, or the reverse.
fn hint(expected: &str, found: &str) -> &'static str {
    if expected == "text" && (found.starts_with("the number") || found == "`true`" || found == "`false`") {
        "; put it in quotes to make it text"
    } else {
        ""
    }
}

/// What typetag says of a word that several parts have, with the packages of these.
pub fn twice(message: &str) -> Option<String> {
    let (of, word) = message.strip_prefix("non-unique tag of dyn ")?.split_once(": ")?;
    let word = word.split('"').nth(1)?;
    let all = registrations().into_iter().filter(|origin| (origin.of, origin.kind) == (of, word));
    let packages: Vec<String> = all.map(|origin| format!("of {} {}", origin.package, origin.version)).collect();
    Some(format!("this program holds several parts `{word}`: {}; link it with one of them", packages.join(" and ")))
}

/// The whole document has no path to name it by.
fn setting(path: &str, message: String, place: Option<Place>) -> Error {
    if path.is_empty() { Error::Syntax { message, place } } else { Error::setting(path, message).at(place) }
}

/// The path of `key` below `path`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// What a word at `path` names.
fn noun(path: &str) -> &'static str {
    let owner = path.strip_suffix(".kind");
    let last = owner.unwrap_or(path).rsplit('.').next().unwrap_or_default();
    match (last.split('[').next().unwrap_or_default(), owner) {
        ("loss", _) => "loss",
        ("splits", _) => "resampling",
        ("criterion", Some(_)) => "criterion",
        ("search", Some(_)) => "search",
        ("learner", Some(_)) => "learner",
        ("preprocess", Some(_)) => "map",
        (_, Some(_)) => "kind",
        (_, None) => "value",
    }
}
