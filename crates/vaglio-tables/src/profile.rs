//! Inferred types of a table's columns.

use crate::quote_for_yaml;
use std::path::PathBuf;
use vaglio_core::{Cells, Error, Result, Table, setting};

/// Inferred type of a column.
#[setting]
#[derive(Copy, PartialEq, Eq, Hash)]
pub enum InferredType {
    /// Numbers.
    Number,
    /// Classes: text of few levels.
    Class,
    /// Text of many levels.
    Text,
    /// Dates, with or without a time of day.
    Date,
    /// One value in all rows that are not missing.
    Constant,
    /// No value in any row.
    Empty,
    /// Text that differs in every row, or a running number.
    Identifier,
}

/// Notation of a column's cells beyond digits or a date.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
#[serde(default)]
pub struct Notation {
    /// Whether all numbers have a percent sign.
    pub percent: bool,
    /// Currency sign of some numbers.
    pub currency: Option<char>,
    /// Whether some numbers have thousands separators.
    pub thousands: bool,
    /// Whether some whole numbers exceed double precision and were rounded to the nearest double.
    pub rounded: bool,
    /// Whether times of day have a time zone.
    pub zoned: bool,
}

impl Notation {
    /// Whether a number with this notation may occur in the column.
    pub fn allows(self, number: Notation) -> bool {
        number.percent == self.percent
            && (number.currency.is_none() || number.currency == self.currency)
            && (self.thousands || !number.thousands)
    }

    /// Notation of the column with one more number.
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

    /// Describes the notation of a column of numbers, for people.
    pub fn words(self) -> Option<String> {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.currency.map(String::from));
        words.extend(self.percent.then(|| "%".to_owned()));
        words.extend(self.thousands.then(|| "thousands apart".to_owned()));
        words.extend(self.rounded.then(|| "next doubles".to_owned()));
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Profile of a column: its inferred type, missing cells and notation.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnProfile {
    /// Name of the column.
    pub name: String,
    /// Inferred type.
    pub taken: InferredType,
    /// Number of missing cells.
    pub missing: usize,
    /// First row with a missing cell, from 0, and how it is written.
    pub first_missing: Option<(usize, String)>,
    /// Number of distinct texts; 0 for numbers and dates.
    pub levels: usize,
    /// Notation of the cells if it is not plain, such as `95%`.
    pub note: Option<String>,
    /// Notation of the cells, for reading other files.
    pub notation: Notation,
}

impl ColumnProfile {
    /// Profile of a column with nothing else known.
    pub fn new(name: String, taken: InferredType) -> Self {
        let (notation, note) = (Notation::default(), None);
        ColumnProfile { name, taken, missing: 0, first_missing: None, levels: 0, note, notation }
    }
}

/// Profile of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableProfile {
    /// Columns read, in table order.
    pub columns: Vec<ColumnProfile>,
    /// Files of the table and their numbers of rows, in order.
    pub files: Vec<(PathBuf, usize)>,
    /// Columns that are read only on request, with the reason.
    pub aside: Vec<(String, &'static str)>,
    /// Whether the file format gives the column types.
    pub is_typed: bool,
}

impl TableProfile {
    /// Profile of the column with this name.
    pub fn column(&self, name: &str) -> Option<&ColumnProfile> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Rejects missing cells in the named columns; the error names the remedy.
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
            if let Some((first, count)) = table.get(name).and_then(Cells::missing) {
                let (row, column) = (table.origin(first) + 1, name.to_owned());
                let (value, remedy) = ("a missing cell".to_owned(), remedy.map(str::to_owned));
                return Err(self.locate(Error::NonFinite { row, column, value, count, file: None, remedy }));
            }
        }
        Ok(())
    }

    /// Refines an error about a missing cell by its place and notation in the file.
    pub fn locate(&self, error: Error) -> Error {
        let Error::NonFinite { row, column, value, count, file: None, remedy } = error else { return error };
        // A derived column's name begins with its source's name.
        let sources = self.columns.iter().filter(|source| column.starts_with(&source.name));
        let source = sources.max_by_key(|source| source.name.len());
        let written = source.and_then(|source| source.first_missing.as_ref()).filter(|(at, _)| at + 1 == row);
        let name = source.map_or(column.clone(), |source| source.name.clone());
        let listed = || "data.read.na lists the words for missing cells of text files".to_owned();
        let (value, words_setting) = match written.map(|(_, word)| word.as_str()) {
            _ if !value.ends_with(" cell") => (value, None),
            Some("") => ("an empty cell".to_owned(), Some(listed())),
            Some(word) if word.eq_ignore_ascii_case("nan") => (word.to_owned(), Some(listed())),
            Some(word) => (
                format!("`{word}`, which data.read.na takes for a missing cell"),
                Some(format!("if it is a value, set data.read.na_by_column: {{{}: [\"\"]}}", quote_for_yaml(&name))),
            ),
            None => (value, Some(listed())),
        };
        let remedies: Vec<String> = remedy.into_iter().chain(words_setting).collect();
        let remedy = (!remedies.is_empty()).then(|| remedies.join("; "));
        let (file, place) = self.place(row - 1);
        Error::NonFinite { row: place + 1, column: name, value, count, file: file.cloned(), remedy }
    }

    /// File and row within it of a table row, both counted from 0.
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
