//! Sentences and sources of errors.

use super::{Error, SourceLocation};
use crate::{Role, pluralize};
use std::fmt::{Debug, Display};

/// Prints the sentence of [`Display`], since a `main` that returns the error prints it with `Debug`.
impl Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Setting { field, message, place, .. } => write!(f, "{}`{field}`: {message}", at(place)),
            Error::UnknownName { field, what, name, suggestion, known, place, .. } => {
                write!(f, "{}`{field}`: there is no {what} `{name}`", at(place))?;
                write!(f, "{}{}", did_you_mean(suggestion, known), unlinked_hint(what, suggestion))
            }
            Error::Syntax { message, place } => write!(f, "{}{message}", at(place)),
            Error::Unreadable { path, message } | Error::JournalRefused { path, message } => {
                write!(f, "{}: {message}", path.display())
            }
            Error::Unwritable { path, message } => write!(f, "{}: cannot be written: {message}", path.display()),
            Error::NonFinite { row, column, value, count, file, remedy } => {
                let count = not_finite(value, *count);
                let (file, remedy) =
                    (enclose("", file.as_ref().map(|file| file.display()), ": "), enclose("; ", remedy.as_ref(), ""));
                write!(f, "{file}row {row}, column `{column}`: {count} in this column){remedy}")
            }
            Error::Shape(message) | Error::Numerical(message) => f.write_str(message),
            Error::ModelRefused { path, message } => write!(f, "{}: model refused: {message}", path.display()),
            Error::Failed { part: None, message, .. } => write!(f, "{message}"),
            Error::Failed { part: Some(part), subset, message } => {
                write!(f, "{part}{}: {message}", enclose(" on ", subset.as_ref(), ""))
            }
            Error::Stopped(reason) => write!(f, "the run was stopped, since {}", reason.sentence()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Setting { message, .. }
            | Error::Syntax { message, .. }
            | Error::Unreadable { message, .. }
            | Error::Unwritable { message, .. }
            | Error::ModelRefused { message, .. }
            | Error::JournalRefused { message, .. }
            | Error::Failed { message, .. } => message.source(),
            _ => None,
        }
    }
}

/// Puts a text between two others; nothing if it is absent.
fn enclose(before: &str, text: Option<impl Display>, after: &str) -> String {
    text.map(|text| format!("{before}{text}{after}")).unwrap_or_default()
}

fn at(place: &Option<SourceLocation>) -> String {
    enclose("", place.as_ref(), ": ")
}

/// Describes a value that is missing or not finite, and counts such values.
fn not_finite(value: &str, count: usize) -> String {
    match value.ends_with(" cell") {
        true => format!("{value} ({}", pluralize(count, "such cell")),
        false => format!("{value} is not a finite number ({}", pluralize(count, "such value")),
    }
}

fn did_you_mean(suggestion: &Option<String>, known: &[String]) -> String {
    match suggestion {
        Some(name) => format!("; did you mean `{name}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; there are: {}", known.join(", ")),
    }
}

/// Hint that an unknown part may come from a plug-in, if no known name is similar.
fn unlinked_hint(what: &str, suggestion: &Option<String>) -> &'static str {
    let is_part = suggestion.is_none() && Role::ALL.iter().any(|role| role.word() == what);
    if is_part { "; a plug-in's are there in programs that are linked with its crate" } else { "" }
}
