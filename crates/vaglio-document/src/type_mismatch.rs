//! Errors of reading settings, before their places are known.

use super::setting_path::key_path;
use serde::de::{self, Expected, Unexpected};
use std::fmt;
use vaglio_core::{Error, SourceLocation, join, registrations};

/// A mismatch between a value and the type that it is read into.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeMismatch {
    /// A message of the type itself.
    Custom(String),
    /// A value of another kind than the expected one.
    Expected(String),
    /// An unknown key, and the known ones.
    UnknownKey(String, &'static [&'static str]),
    /// An unknown word, and the known ones.
    UnknownWord(String, &'static [&'static str]),
    /// A required key that is missing.
    MissingKey(String),
}

/// A value that was read, or why it cannot be.
pub type Outcome<T> = Result<T, TypeMismatch>;

impl fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TypeMismatch::Custom(message) => f.write_str(message),
            TypeMismatch::MissingKey(name) => write!(f, "{MISSING}{name}`"),
            // Other mismatches are noted as they occur, so that nobody reads this text.
            other => write!(f, "{other:?}"),
        }
    }
}

/// Prefix of serde's message for a missing field.
const MISSING: &str = "missing field `";

impl std::error::Error for TypeMismatch {}

impl de::Error for TypeMismatch {
    /// A missing key is recognized by serde's words, since trait objects hand errors on as text.
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        match message.strip_prefix(MISSING).and_then(|rest| rest.strip_suffix('`')) {
            Some(name) => TypeMismatch::MissingKey(name.to_owned()),
            None => TypeMismatch::Custom(message),
        }
    }

    fn invalid_type(_: Unexpected, expected: &dyn Expected) -> Self {
        TypeMismatch::Expected(user_words(&expected.to_string()))
    }

    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> Self {
        TypeMismatch::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        TypeMismatch::Custom(format!("expected {expected}, found {length} of them"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        TypeMismatch::UnknownWord(variant.to_owned(), expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        TypeMismatch::UnknownKey(field.to_owned(), expected)
    }
}

/// Serde's name of a type in the words of a user.
fn user_words(expected: &str) -> String {
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
        // A trait object, named by its `kind`.
        _ if expected.starts_with("dyn ") => "a word",
        _ if ["struct ", "a map"].iter().any(|start| expected.starts_with(start)) => "keys and values",
        _ => expected,
    }
    .to_owned()
}

impl TypeMismatch {
    /// The error for the setting `path` at `place`; `found` describes its value.
    pub fn locate(&self, path: &str, place: &SourceLocation, found: &str) -> Error {
        let place = Some(place.clone());
        match self {
            TypeMismatch::UnknownKey(name, known) => {
                Error::unknown(key_path(path, name), "key", name, known.iter().copied()).at(place)
            }
            TypeMismatch::UnknownWord(name, known) => {
                Error::unknown(path, noun(path), name, known.iter().copied()).at(place)
            }
            TypeMismatch::MissingKey(name) => Error::setting(key_path(path, name), "is required and missing").at(place),
            TypeMismatch::Expected(what) => {
                setting(path, format!("expected {what}, found {found}{}", hint(what, found)), place)
            }
            TypeMismatch::Custom(message) if message.starts_with("data did not match any variant of untagged enum") => {
                setting(path, format!("{found} is of none of the forms that this setting has"), place)
            }
            TypeMismatch::Custom(message) => {
                setting(path, explain_duplicate(message).unwrap_or_else(|| message.clone()), place)
            }
        }
    }
}

/// Advice for a number that should be text, or the reverse.
fn hint(expected: &str, found: &str) -> &'static str {
    if expected == "text" && (found.starts_with("the number") || found == "`true`" || found == "`false`") {
        "; put it in quotes to make it text"
    } else {
        ""
    }
}

/// Explains typetag's error for a word that several parts share, with their packages.
pub fn explain_duplicate(message: &str) -> Option<String> {
    let (of, word) = message.strip_prefix("non-unique tag of dyn ")?.split_once(": ")?;
    let word = word.split('"').nth(1)?;
    let all = registrations().into_iter().filter(|origin| origin.of == of && origin.kind == word);
    let packages = join(all.map(|origin| format!("of {} {}", origin.package, origin.version)), " and ");
    Some(format!("this program holds several parts `{word}`: {packages}; link it with one of them"))
}

/// An error for the setting `path`; the whole document has no path.
fn setting(path: &str, message: String, place: Option<SourceLocation>) -> Error {
    let error = if path.is_empty() {
        Error::Syntax { message: message.into(), place: None }
    } else {
        Error::setting(path, message)
    };
    error.at(place)
}

/// The noun for a word at `path`.
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
