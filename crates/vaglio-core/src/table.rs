//! Tables as read: named columns of numbers, text or dates.

use crate::numerals::numeral;
use crate::{Column, Error, Numbers, Result, gather};
use chrono::{DateTime, NaiveTime};
use either::Either;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The cells of one column of a [`Table`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cells {
    /// Finite numbers, or NaN for a missing cell; sparse columns have none missing.
    Numbers(#[serde(serialize_with = "write_numbers", deserialize_with = "read_numbers")] Numbers),
    /// Text; empty for a missing cell.
    Text(Vec<String>),
    /// Moments in time, in seconds since the beginning of 1970, without a time zone; NaN for a missing cell.
    Dates(#[serde(deserialize_with = "read_numbers")] Vec<f64>),
}

/// Writes numbers, in JSON with null for NaN.
fn write_numbers<S: Serializer>(numbers: &Numbers, serializer: S) -> Result<S::Ok, S::Error> {
    numbers.view().values().serialize(serializer)
}

/// Reads numbers, with NaN for null.
fn read_numbers<'de, N: From<Vec<f64>>, D: Deserializer<'de>>(deserializer: D) -> Result<N, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect::<Vec<f64>>().into())
}

/// Finds the first missing cell and counts all; skips pieces without any quickly.
fn among<T>(cells: &[T], is_missing: impl Fn(&T) -> bool) -> Option<(usize, usize)> {
    const PIECE: usize = 1024;
    let has_any = |piece: &[T]| piece.iter().fold(false, |any, cell| any | is_missing(cell));
    let start = PIECE * cells.chunks(PIECE).position(has_any)?;
    let first = start + cells[start..].iter().position(&is_missing)?;
    Some((first, cells[first..].iter().filter(|cell| is_missing(cell)).count()))
}

/// Whether the storage of the numbers excludes missing ones.
pub fn excludes_missing(numbers: &Numbers) -> bool {
    match numbers.plain() {
        Numbers::Byte(_) | Numbers::Sparse(_) => true,
        Numbers::Product(product) => !product.is_missing(),
        _ => false,
    }
}

impl Cells {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Cells::Numbers(numbers) => numbers.view().len(),
            Cells::Text(text) => text.len(),
            Cells::Dates(dates) => dates.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers; `None` for text and dates.
    pub fn numbers(&self) -> Option<Column<'_>> {
        match self {
            Cells::Numbers(numbers) => Some(numbers.view()),
            Cells::Text(_) | Cells::Dates(_) => None,
        }
    }

    /// The kind of the cells, in a word.
    pub fn what(&self) -> &'static str {
        match self {
            Cells::Numbers(_) => "numbers",
            Cells::Text(_) => "text",
            Cells::Dates(_) => "dates",
        }
    }

    /// The cell of `row` as text. Integers have all digits, other numbers the shortest form that reads back, dates the
    /// form of ISO 8601. Empty for a missing cell.
    pub fn label(&self, row: usize) -> String {
        self.text(row).into_owned()
    }

    /// Like [`Cells::label`], without a copy of text.
    pub fn text(&self, row: usize) -> Cow<'_, str> {
        match self {
            Cells::Text(text) => text[row].as_str().into(),
            _ if self.is_missing(row) => "".into(),
            Cells::Numbers(numbers) => numeral(numbers.view().get(row)).into(),
            Cells::Dates(dates) => iso(dates[row]).into(),
        }
    }

    /// Whether the cell of `row` is missing.
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Cells::Numbers(numbers) => !excludes_missing(numbers) && numbers.view().get(row).is_nan(),
            Cells::Dates(values) => values[row].is_nan(),
            Cells::Text(text) => text[row].is_empty(),
        }
    }

    /// The first row with a missing cell, from 0, and the number of such rows; `None` if none is missing. Cost O(rows).
    pub fn missing(&self) -> Option<(usize, usize)> {
        match self {
            Cells::Numbers(numbers) if excludes_missing(numbers) => None,
            Cells::Numbers(numbers) => among(&numbers.view().values(), |value| value.is_nan()),
            Cells::Dates(values) => among(values, |value| value.is_nan()),
            Cells::Text(text) => among(text, String::is_empty),
        }
    }

    /// Selects the cells of `rows`, in that order.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        match self {
            Cells::Numbers(numbers) => Cells::Numbers(numbers.select_rows(rows)),
            Cells::Text(text) => Cells::Text(rows.iter().map(|&row| text[row].clone()).collect()),
            Cells::Dates(dates) => Cells::Dates(gather(dates, rows)),
        }
    }
}

/// Named columns of equal length, with the series of each row.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<(String, Cells)>,
    rows: usize,
    series: Option<Arc<[u32]>>,
    /// The original row number of each row; absent while all rows are present in their order.
    origins: Option<Arc<[usize]>>,
}

impl Table {
    /// Creates a table of columns.
    ///
    /// # Errors
    /// [`Error::Shape`] when lengths differ or a name is listed twice.
    pub fn new(columns: Vec<(String, Cells)>) -> Result<Self> {
        let rows = columns.first().map_or(0, |(_, cells)| cells.len());
        if let Some((name, cells)) = columns.iter().find(|(_, cells)| cells.len() != rows) {
            return Err(Error::Shape(format!("column `{name}` has {} rows and the first has {rows}", cells.len())));
        }
        refuse_duplicates(columns.iter().map(|(name, _)| name.as_str()))?;
        Ok(Table { columns, rows, series: None, origins: None })
    }

    /// Adds the series of each row; rows of one series are contiguous and in the order of time.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong length.
    pub fn with_series(self, series: Vec<u32>) -> Result<Self> {
        if series.len() != self.rows {
            return Err(Error::Shape(format!("{} series for {} rows", series.len(), self.rows)));
        }
        Ok(Table { series: Some(series.into()), ..self })
    }

    /// Marks the table as a chunk of a larger one, after `before` rows.
    #[must_use]
    pub fn with_offset(self, before: usize) -> Self {
        Table { origins: Some((before..before + self.rows).collect()), ..self }
    }

    /// Replaces the columns and keeps the rows; for maps that keep every row.
    ///
    /// # Errors
    /// Returns an error of [`Table::new`], or [`Error::Shape`] for another number of rows.
    pub fn with_columns(self, columns: Vec<(String, Cells)>) -> Result<Self> {
        let other = Table::new(columns)?;
        if !other.columns.is_empty() && other.rows != self.rows {
            return Err(Error::Shape(format!("{} rows for a table of {}", other.rows, self.rows)));
        }
        Ok(Table { columns: other.columns, ..self })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The series of each row; `None` if all rows are one series.
    pub fn series(&self) -> Option<&[u32]> {
        self.series.as_deref()
    }

    /// The rows of each series, as contiguous ranges.
    pub fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let Some(series) = self.series() else { return Either::Left(std::iter::once(0..self.rows)) };
        let mut start = 0;
        Either::Right(series.chunk_by(|a, b| a == b).map(move |run| {
            let rows = start..start + run.len();
            start = rows.end;
            rows
        }))
    }

    /// The original row number of each row; `None` if no row was dropped or moved.
    pub fn origins(&self) -> Option<&[usize]> {
        self.origins.as_deref()
    }

    /// The original number of row `row`, before any was dropped or moved.
    pub fn origin(&self, row: usize) -> usize {
        self.origins.as_ref().and_then(|origins| origins.get(row)).copied().unwrap_or(row)
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[(String, Cells)] {
        &self.columns
    }

    /// Moves the columns out, in order.
    pub fn into_columns(self) -> Vec<(String, Cells)> {
        self.columns
    }

    /// Takes all columns out; the rows stay, for [`Table::with_columns`].
    pub fn take_columns(&mut self) -> Vec<(String, Cells)> {
        std::mem::take(&mut self.columns)
    }

    /// The column of that name.
    pub fn get(&self, name: &str) -> Option<&Cells> {
        self.columns.iter().find(|(n, _)| n == name).map(|(_, cells)| cells)
    }

    /// Selects the rows `rows`, in that order, of every column.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let columns = self.columns.iter().map(|(name, cells)| (name.clone(), cells.select_rows(rows))).collect();
        Table {
            columns,
            rows: rows.len(),
            series: self.series.as_ref().map(|series| gather(series, rows).into()),
            origins: Some(rows.iter().map(|&row| self.origin(row)).collect()),
        }
    }

    /// Removes the column of that name and returns it.
    pub fn take(&mut self, name: &str) -> Option<Cells> {
        let at = self.columns.iter().position(|(n, _)| n == name)?;
        Some(self.columns.remove(at).1)
    }
}

/// First name, in alphabetical order, that is listed twice.
pub fn duplicate<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut sorted: Vec<&str> = names.collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Refuses two columns of one name.
pub fn refuse_duplicates<'n>(names: impl Iterator<Item = &'n str>) -> Result<()> {
    match duplicate(names) {
        Some(twice) => Err(Error::Shape(format!("two columns are named `{twice}`"))),
        None => Ok(()),
    }
}

/// Formats seconds since the beginning of 1970 as `2024-02-29`, or as `2024-02-29T13:05:00` if there is a time of day.
fn iso(seconds: f64) -> String {
    let whole = seconds.floor();
    let fraction = ((seconds - whole) * 1e6).round() as u32 * 1000;
    match DateTime::from_timestamp(whole as i64, fraction).map(|moment| moment.naive_utc()) {
        Some(moment) if moment.time() == NaiveTime::MIN => moment.date().to_string(),
        Some(moment) => moment.format("%Y-%m-%dT%H:%M:%S%.f").to_string(),
        None => seconds.to_string(),
    }
}
