//! Tables read in batches of rows, if the types of the wanted columns are known before.

use super::bytes::check_encoding;
use super::cell::{ColumnRules, DateForm, date_forms};
use super::column_builder::ColumnBuilder;
use super::fault::fault_error;
use super::inference::{Hint, NumberNotation, Outcome, infer, read_dates, read_numbers};
use super::places;
use super::source::{Notations, TableSource};
use super::table_file::TableFile;
use crate::budget::Budget;
use crate::{ReadSpec, TableProfile};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use vaglio_core::{Cells, Result};

/// Receives consecutive rows of a table; may end the reading. They are given by: the index in the table of the first
/// row, from 0; the wanted columns, in that order, possibly twice; their profile, whose rows count from the first of the
/// table.
pub type TakeRows<'t> = &'t mut dyn FnMut(usize, Vec<(String, Cells)>, TableProfile) -> Result<ControlFlow<()>>;

impl TableSource {
    /// Opens a UTF-8 text file, compressed or not, or a Parquet or Arrow file, and leaves its rows on disk. Returns
    /// `None` if the file must be read as a whole, which then reports any fault.
    ///
    /// Header, delimiter and decimal mark are detected as in [`TableSource::open`].
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for an unknown encoding.
    pub fn on_disk(path: &Path, spec: &ReadSpec) -> Result<Option<Self>> {
        check_encoding(spec)?;
        let budget = Budget::for_machine();
        let file = TableFile::on_disk(path, spec, budget);
        Ok(file.map(|file| TableSource::from_files(vec![file], spec, budget)))
    }

    /// Passes the columns of the first file to `take`, at most `rows` rows at a time. `notations` are those of the
    /// training rows. Returns `false`, and reads nothing, if the type of a column depends on all of its cells.
    ///
    /// # Errors
    /// Returns the errors of [`TableSource::read`] and of `take`.
    pub fn read_in_batches(
        &self,
        columns: &[(String, Hint)],
        notations: &Notations,
        rows: usize,
        take: TakeRows<'_>,
    ) -> Result<bool> {
        let TableFile { path, reader, .. } = &self.parts[0];
        let header = reader.header();
        let places = places(&header.names);
        let mut known = Vec::new();
        for (name, hint) in columns {
            // Text of a typed file may hold dates in any format.
            if *hint == Hint::Date && header.texts.contains(name) {
                return Ok(false);
            }
            let index = places.get(name.as_str()).copied().unwrap_or(usize::MAX);
            let sample: Option<Vec<&str>> = header
                .first_rows
                .as_ref()
                .map(|rows| rows.iter().filter_map(|row| row.get(index)).map(String::as_str).collect());
            let rules = self.rules(name, *hint, notations.get(name).copied());
            let Some(column) = TypedColumn::new(sample.as_deref(), rules) else { return Ok(false) };
            known.push(column);
        }
        let wanted: Vec<ColumnRules<'_>> = known.iter().map(|known| known.rules.clone()).collect();
        let mut first = 0;
        reader.read(&wanted, rows.max(1), &mut |columns| {
            // The number of all rows is not known yet.
            let mut profile = TableProfile { files: vec![(path.clone(), usize::MAX)], ..TableProfile::default() };
            let rows = columns.first().map_or(0, ColumnBuilder::rows);
            let converted: Vec<_> =
                known.par_iter_mut().zip(columns).map(|(known, column)| known.convert(column)).collect();
            let mut cells = Vec::with_capacity(converted.len());
            for (known, column) in known.iter().zip(converted) {
                let (column, mut found) = column.map_err(|mut fault| {
                    fault.row += first;
                    fault_error(known.rules.name, fault, &profile)
                })?;
                if let Some((row, _)) = &mut found.first_missing {
                    *row += first;
                }
                cells.push((known.rules.name.to_owned(), column));
                profile.columns.push(found);
            }
            first += rows;
            take(first - rows, cells, profile)
        })?;
        Ok(true)
    }
}

/// A column of known type; the notation of its first cells applies to all.
struct TypedColumn<'s> {
    rules: ColumnRules<'s>,
    is_numbers: bool,
    numbers: Option<NumberNotation>,
    dates: Option<DateForm>,
    /// Whether the times of day so far have a time zone.
    zones: Option<bool>,
}

impl<'s> TypedColumn<'s> {
    /// Creates a column from first cells of text, or from types in a file; `None` if its type depends on all cells.
    fn new(sample: Option<&[&str]>, rules: ColumnRules<'s>) -> Option<Self> {
        let hint = rules.hint;
        // Columns of text files with nothing known are assumed to be numbers.
        let is_numbers = hint == Hint::Number || hint == Hint::Auto && sample.is_some();
        let mut known = TypedColumn { rules, is_numbers, numbers: None, dates: None, zones: None };
        match (hint, sample) {
            (Hint::Written | Hint::Class | Hint::Text | Hint::Number | Hint::Auto, _) | (Hint::Date, None) => {}
            (Hint::Date, Some(sample)) => {
                for cell in sample.iter().filter(|cell| !known.rules.is_missing(cell)) {
                    let [form] = date_forms(cell, known.rules.dates)[..] else { return None };
                    if *known.dates.get_or_insert(form) != form {
                        return None;
                    }
                }
                known.dates?;
            }
            _ => return None,
        }
        Some(known)
    }

    /// Converts the cells of some rows; rows count from the first of these.
    fn convert(&mut self, column: ColumnBuilder) -> Outcome {
        let rules = &self.rules;
        match (column, rules.hint, self.dates) {
            (ColumnBuilder::Raw(column), ..) if self.is_numbers => {
                // The first cell that is not missing decides for all.
                if self.numbers.is_none() {
                    let first = column.trimmed_cells().find(|cell| !rules.is_missing(cell));
                    self.numbers = first.map(|cell| NumberNotation::from_first(cell, rules));
                }
                read_numbers(&column, self.numbers.unwrap_or(NumberNotation::Plainly), rules)
            }
            (ColumnBuilder::Raw(column), _, Some(form)) => read_dates(&column, form, &mut self.zones, rules),
            (column @ ColumnBuilder::Raw(_), Hint::Auto, _) => {
                infer(column, &ColumnRules { hint: Hint::Stored, ..rules.clone() })
            }
            (column, ..) => infer(column, rules),
        }
    }
}
