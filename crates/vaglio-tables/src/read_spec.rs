//! Settings for reading text files.

use crate::quote_for_yaml;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vaglio_core::{Error, Result, join, setting};

/// Settings for reading text files; `auto` is resolved from the first rows.
#[setting]
#[derive(PartialEq, Eq)]
pub struct ReadSpec {
    /// Delimiter of cells: one character, `tab`, `blanks` for runs of blanks and tabs, or `auto` for the one of `,` `;`
    /// tab `|` and runs of blanks that gives all rows the same number of cells.
    pub delimiter: Delimiter,
    /// Number of characters of each column, for fixed-width files; the header has the same widths.
    #[optional]
    pub widths: Option<Vec<usize>>,
    /// Decimal mark of numbers: `.`, `,` or `auto`. The other one, blanks and `'` may separate thousands.
    pub decimal: Decimal,
    /// Words for missing cells, ignoring case, without blanks around them.
    #[serde(deserialize_with = "read_words")]
    #[default(["", "NA", "N/A", "NaN", "null", "?", "-"].map(String::from).into())]
    pub na: Vec<String>,
    /// Words for missing cells in the columns of these names, instead of `na`; with `[""]` only empty cells are
    /// missing.
    #[serde(deserialize_with = "read_words_by_column")]
    #[optional]
    pub na_by_column: BTreeMap<String, Vec<String>>,
    /// Encoding of the text, such as `utf-8`, `latin1` or `utf-16le`; a byte order mark takes precedence.
    #[default("utf-8".into())]
    pub encoding: String,
    /// Quote character of cells that contain delimiters or line breaks.
    #[default('"')]
    pub quote: char,
    /// First character of comment lines, if there are any.
    pub comment: Option<char>,
    /// Order of day and month in dates such as `03/04/2024`.
    pub dates: DateOrder,
    /// Index of the first column in svmlight files, 0 or 1; by default 0 if some row has that index.
    #[optional]
    pub first_index: Option<u32>,
}

/// List of words in YAML.
pub fn word_list<'w>(words: impl Iterator<Item = &'w String>) -> String {
    format!("[{}]", join(words.map(|word| quote_for_yaml(word)), ", "))
}

/// Delimiter of cells.
#[setting(schema)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[schemars(with = "String")]
pub enum Delimiter {
    /// The delimiter that gives all rows the same number of cells.
    #[default]
    Auto,
    /// Runs of blanks and tabs.
    Blanks,
    /// This ASCII character.
    Is(u8),
}

impl Serialize for Delimiter {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Delimiter::Auto => serializer.serialize_str("auto"),
            Delimiter::Blanks => serializer.serialize_str("blanks"),
            Delimiter::Is(b'\t') => serializer.serialize_str("tab"),
            Delimiter::Is(byte) => serializer.serialize_str(&char::from(*byte).to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Delimiter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match (text.as_str(), text.as_bytes()) {
            ("auto", _) => Ok(Delimiter::Auto),
            ("blanks" | " ", _) => Ok(Delimiter::Blanks),
            ("tab", _) => Ok(Delimiter::Is(b'\t')),
            (_, [byte]) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'"') => Ok(Delimiter::Is(*byte)),
            _ => Err(D::Error::custom("expected `auto`, `tab`, `blanks` or one ASCII character such as `;`")),
        }
    }
}

/// Decimal mark of numbers.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Decimal {
    /// Chosen from the first rows.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// A point.
    #[serde(rename = ".")]
    Point,
    /// A comma.
    #[serde(rename = ",")]
    Comma,
}

/// Order of day and month in dates.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum DateOrder {
    /// Decided by a number above 12 in some row; dates with points begin with the day.
    #[default]
    Auto,
    /// `31/12/2024`.
    DayFirst,
    /// `12/31/2024`.
    MonthFirst,
}

/// A word in a settings file.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a word or a number")]
enum Word {
    Null(()),
    Truth(bool),
    Whole(i64),
    Large(u64),
    Number(f64),
    Text(String),
}

/// Text of words without blanks around them: `null`, `NaN` and numbers are read as words.
fn texts(words: Vec<Word>) -> Vec<String> {
    let text = |word| match word {
        Word::Null(()) => "null".into(),
        Word::Truth(truth) => truth.to_string(),
        Word::Whole(number) => number.to_string(),
        Word::Large(number) => number.to_string(),
        Word::Number(number) => number.to_string(),
        Word::Text(text) => text.trim().to_owned(),
    };
    words.into_iter().map(text).collect()
}

fn read_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Vec::deserialize(deserializer).map(texts)
}

fn read_words_by_column<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Vec<String>>, D::Error> {
    let columns = BTreeMap::<String, Vec<Word>>::deserialize(deserializer)?;
    Ok(columns.into_iter().map(|(column, words)| (column, texts(words))).collect())
}

impl ReadSpec {
    /// Checks settings that do not depend on a file.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path below `data.read`.
    pub fn check(&self) -> Result<()> {
        let ascii = |field: &str, character: char| match character.is_ascii() && !character.is_ascii_control() {
            true => Ok(()),
            false => Err(Error::setting(
                field,
                format!("`{}` is not one printable ASCII character", character.escape_debug()),
            )),
        };
        if let Some(widths) = &self.widths {
            let wrong = match () {
                () if self.delimiter != Delimiter::Auto => {
                    "cells have fixed widths or a delimiter; leave one of both out"
                }
                () if widths.is_empty() || widths.contains(&0) => "expected the characters of each column, at least 1",
                () if widths.iter().try_fold(0usize, |sum, width| sum.checked_add(*width)).is_none() => {
                    "they are too large"
                }
                () => "",
            };
            if !wrong.is_empty() {
                return Err(Error::setting("data.read.widths", wrong));
            }
        }
        if self.first_index.is_some_and(|first| first > 1) {
            return Err(Error::setting("data.read.first_index", "svmlight's indices count from 0 or from 1"));
        }
        ascii("data.read.quote", self.quote)?;
        self.comment.map_or(Ok(()), |comment| ascii("data.read.comment", comment))
    }
}
