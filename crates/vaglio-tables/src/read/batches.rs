//! Tables read in batches of rows, if the types of the wanted columns are known before.

use super::bytes::check_encoding;
use super::cell::ColumnRules;
use super::column_builder::ColumnBuilder;
use super::fault::fault_error;
use super::inference::Hint;
use super::places;
use super::source::{Notations, TableSource};
use super::table_file::TableFile;
use super::typed_column::TypedColumn;
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
