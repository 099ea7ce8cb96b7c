//! What each column of a table was taken for.

use crate::quoted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use vaglio_core::{Cells, Error, Result, Table};

/// What a column is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InferredType {
    /// Numbers.
    Number,
    /// Classes: text of few levels.
    Class,
    /// Text of many levels.
    Text,
    /// Dates, with or without a time of day.
    Date,
    /// One value in all rows that have one.
    Constant,
    /// No value in any row.
    Empty,
    /// Text that differs in every row, or a running number.
    Identifier,
}

impl InferredType {
    /// In a word, for tables.
    pub fn word(self) -> &'static str {
        match self {
            InferredType::Number => "number",
            InferredType::Class => "class",
            InferredType::Text => "text",
            InferredType::Date => "date",
            InferredType::Constant => "constant",
            InferredType::Empty => "empty",
            InferredType::Identifier => "identifier",
        }
    }
}

/// How the cells of a column are written, where that is more than digits or a date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Notation {
    /// All numbers have a percent sign.
    pub percent: bool,
    /// Some have this sign of a currency.
    pub currency: Option<char>,
    /// Some have their thousands apart.
    pub thousands: bool,
    /// Some are whole numbers that no double holds, and are taken for the next double.
    pub rounded: bool,
    /// The times of day of dates have a time zone.
    pub zoned: bool,
}

impl Notation {
    /// Whether a number of a column of this notation may be written like that.
    pub fn allows(self, number: Notation) -> bool {
        number.percent == self.percent
            && (number.currency.is_none() || number.currency == self.currency)
            && (self.thousands || !number.thousands)
    }

    /// The notation of a column with such a number as well.
    #[must_use]
    pub fn with(self, number: Notation) -> Self {
        Notation {
            percent: self.percent || number.percent,
            currency: self.currency.or(number.currency),
            thousands: self.thousands || number.thousands,
            rounded: self.rounded || number.rounded,
            zoned: self.zoned || number.zoned,
        }
    }

    /// What is noted of a column of numbers, for people.
    pub fn words(self) -> Option<String> {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.currency.map(String::from));
        words.extend(self.percent.then(|| "%".to_owned()));
        words.extend(self.thousands.then(|| "thousands apart".to_owned()));
        words.extend(self.rounded.then(|| "next doubles".to_owned()));
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// What reading found out about a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSurvey {
    /// Its name.
    pub name: String,
    /// What it is taken for.
    pub taken: InferredType,
    /// The rows whose cell is missing.
    pub missing: usize,
    /// The first of them, from 0, and how it is written.
    pub first_missing: Option<(usize, String)>,
    /// The distinct texts; 0 for numbers and dates.
    pub levels: usize,
    /// How its cells are written where that is not plain, such as `95%`.
    pub note: Option<String>,
    /// How its cells are written, for other files, where all were seen.
    pub notation: Option<Notation>,
}

impl ColumnSurvey {
    /// A column of which no more is known.
    pub fn new(name: String, taken: InferredType) -> Self {
        let (notation, note) = (Some(Notation::default()), None);
        ColumnSurvey { name, taken, missing: 0, first_missing: None, levels: 0, note, notation }
    }
}

/// What reading found out about a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Survey {
    /// The columns that were read, in the order of the table.
    pub columns: Vec<ColumnSurvey>,
    /// The files that the rows came from and how many came from each, in order.
    pub files: Vec<(PathBuf, usize)>,
}

impl Survey {
    /// What was found out about the column of that name.
    pub fn column(&self, name: &str) -> Option<&ColumnSurvey> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Refuses cells that are missing in columns of these names; the error names the remedy.
    ///
    /// # Errors
    /// [`Error::NonFinite`] with file, row and column.
    pub fn check_complete<'n>(
        &self,
        table: &Table,
        names: impl IntoIterator<Item = &'n str>,
        remedy: Option<&str>,
    ) -> Result<()> {
        for name in names {
            if let Some(missing) = table.get(name).and_then(Cells::missing) {
                let (row, column, count) = (table.origin(missing.first) + 1, name.to_owned(), missing.count);
                let (value, remedy) = ("a missing cell".to_owned(), remedy.map(str::to_owned));
                return Err(self.located(Error::NonFinite { row, column, value, count, file: None, remedy }));
            }
        }
        Ok(())
    }

    /// The error about a missing cell as its file has it: where it stands, and how it is written.
    pub fn located(&self, error: Error) -> Error {
        let Error::NonFinite { row, column, value, count, file: None, remedy } = error else { return error };
        // A column that a map made bears the name of its source first.
        let sources = self.columns.iter().filter(|source| column.starts_with(&source.name));
        let source = sources.max_by_key(|source| source.name.len());
        let written = source.and_then(|source| source.first_missing.as_ref()).filter(|(at, _)| at + 1 == row);
        let name = source.map_or(column.clone(), |source| source.name.clone());
        let listed = || "data.read.na lists the words for missing cells of text files".to_owned();
        let (value, of_words) = match written.map(|(_, word)| word.as_str()) {
            _ if !value.ends_with(" cell") => (value, None),
            Some("") => ("an empty cell".to_owned(), Some(listed())),
            Some(word) if word.eq_ignore_ascii_case("nan") => (word.to_owned(), Some(listed())),
            Some(word) => (
                format!("`{word}`, which data.read.na takes for a missing cell"),
                Some(format!("if it is a value, set data.read.na_by_column: {{{}: [\"\"]}}", quoted(&name))),
            ),
            None => (value, Some(listed())),
        };
        let remedies: Vec<String> = remedy.into_iter().chain(of_words).collect();
        let remedy = (!remedies.is_empty()).then(|| remedies.join("; "));
        let (file, place) = self.place(row - 1);
        Error::NonFinite { row: place + 1, column: name, value, count, file: file.cloned(), remedy }
    }

    /// The file of a row and its place there, both counting from 0.
    pub fn place(&self, mut row: usize) -> (Option<&PathBuf>, usize) {
        for (file, rows) in &self.files {
            if row < *rows {
                return (Some(file), row);
            }
            row -= rows;
        }
        (None, row)
    }
}
