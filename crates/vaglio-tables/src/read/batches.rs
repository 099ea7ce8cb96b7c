//! Tables read in batches of rows, if the types of the wanted columns are known before.

mod schema;
mod text;

use super::bytes::{FileKind, check_encoding};
use super::column_builder::ColumnBuilder;
use super::fault::fault_error;
use super::head::FileStart;
use super::inference::{settle, type_error};
use super::loaded_file::check_unchanged;
use super::reader::ChunkReader;
use super::source::Notations;
use super::{Hint, ReadSpec, binary_formats, cell::CellSyntax, system, unreadable};
use crate::budget::Budget;
use crate::{ColumnProfile, TableProfile};
use schema::TypedColumn;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use text::{HEAD, TextRows};
use vaglio_core::{Cells, Result, Table};

/// Reader of a table in batches: the header is known, rows are read on demand.
pub struct Batches {
    path: PathBuf,
    reader: Box<dyn ChunkReader>,
    /// Metadata of the file before it was read.
    before: Metadata,
    rules: CellSyntax,
    known: Vec<TypedColumn>,
    gathered: Vec<(String, Option<ColumnBuilder>)>,
    notations: Notations,
    most: usize,
    first: usize,
}

/// Consecutive rows of a table.
pub struct Batch {
    /// Index in the table of the first row, from 0.
    pub first: usize,
    /// Requested columns, in that order; a column may be requested twice.
    pub columns: Vec<(String, Cells)>,
    /// Profile of these columns; rows count from the first of the table.
    pub profile: TableProfile,
}

/// Reader of a file; `None` for one that has to be read as a whole.
fn opened(path: &Path, spec: &ReadSpec, budget: Budget) -> Option<Box<dyn ChunkReader>> {
    let (kind, start) = FileStart::open(path, HEAD)?;
    match kind {
        FileKind::Text => TextRows::new(path, start, spec, budget).map(|rows| Box::new(rows) as _),
        kind if kind.is_sparse() || start.codec.is_some() => None,
        kind => binary_formats::chunks(path, kind, budget),
    }
}

impl Batches {
    /// Opens a UTF-8 text file, compressed or not, or a Parquet or Arrow file. Returns `None` if the file must be read
    /// as a whole, which then reports any fault.
    ///
    /// Header, delimiter and decimal mark are detected as in [`super::TableSource`].
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for an unknown encoding.
    pub fn open(path: &Path, spec: &ReadSpec) -> Result<Option<Self>> {
        check_encoding(spec)?;
        let Some(before) = std::fs::metadata(path).ok().filter(Metadata::is_file) else { return Ok(None) };
        let Some(reader) = opened(path, spec, Budget::for_machine()) else { return Ok(None) };
        let Some(rules) = reader.header().rules(spec) else { return Ok(None) };
        let (path, known, gathered, notations) = (path.to_owned(), Vec::new(), Vec::new(), Notations::new());
        Ok(Some(Batches { path, reader, before, rules, known, gathered, notations, most: 1, first: 0 }))
    }

    /// Names of the columns, in file order.
    pub fn names(&self) -> &[String] {
        &self.reader.header().names
    }

    /// Whether the file format gives the column types.
    pub fn is_typed(&self) -> bool {
        self.reader.header().is_typed()
    }

    /// Starts reading `columns` in batches of at most `rows` rows. The columns `gathered` are collected meanwhile, for
    /// [`Batches::gathered`]. `notations` are those of the training rows. Returns `None` if the type of a column
    /// depends on all of its cells.
    ///
    /// # Errors
    /// Fails for a Parquet or Arrow file that is damaged or has a column of an unsupported type.
    pub fn start(
        mut self,
        columns: &[(String, Hint)],
        gathered: &[String],
        notations: Notations,
        rows: usize,
    ) -> Result<Option<Self>> {
        for (name, hint) in columns {
            // Text of a typed file may hold dates in any format.
            if *hint == Hint::Date && self.reader.header().hint(name, Hint::Auto) == Hint::Stored {
                return Ok(None);
            }
            let (sample, rules) = (self.reader.first_cells(name), self.rules.like(name, notations.get(name).copied()));
            let Some(column) = TypedColumn::new(name, *hint, sample.as_deref(), &rules) else { return Ok(None) };
            self.known.push(column);
        }
        let names: Vec<&str> = columns.iter().map(|(name, _)| name).chain(gathered).map(String::as_str).collect();
        self.reader.start(&names, rows)?;
        self.gathered = gathered.iter().map(|name| (name.clone(), None)).collect();
        (self.notations, self.most) = (notations, rows.max(1));
        Ok(Some(self))
    }

    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// Returns the errors of [`super::TableSource::read`].
    pub fn next_rows(&mut self) -> Result<Option<Batch>> {
        let first = self.first;
        let read = self.reader.next(first, self.most)?;
        let rows = read.first().map_or(0, ColumnBuilder::rows);
        if rows == 0 {
            return self.check_end().map(|()| None);
        }
        self.first += rows;
        let mut read = read.into_iter();
        let columns: Vec<ColumnBuilder> = read.by_ref().take(self.known.len()).collect();
        for ((name, all), more) in self.gathered.iter_mut().zip(read) {
            let is_alike = match all {
                Some(all) => all.append(more),
                None => {
                    *all = Some(more);
                    true
                }
            };
            if !is_alike {
                return Err(unreadable(&self.path, format!("column `{name}` is of another type than before")));
            }
        }
        self.settled(first, columns).map(Some)
    }

    /// Rejects a file that was modified while it was read, and one without rows.
    fn check_end(&self) -> Result<()> {
        let Batches { path, before, .. } = self;
        let after = std::fs::metadata(path).map_err(|error| system(path, error))?;
        check_unchanged(path, before, &after, before.len())?;
        let nothing = if self.is_typed() { "has columns and no rows" } else { "has a header and no rows" };
        if self.first == 0 { Err(unreadable(path, nothing)) } else { Ok(()) }
    }

    fn settled(&mut self, first: usize, columns: Vec<ColumnBuilder>) -> Result<Batch> {
        use rayon::prelude::*;
        let mut profile = self.profile();
        let settled: Vec<_> =
            self.known.par_iter_mut().zip(columns).map(|(known, column)| known.settle(column)).collect();
        let mut cells = Vec::with_capacity(settled.len());
        for (known, column) in self.known.iter().zip(settled) {
            let (column, mut found): (Cells, ColumnProfile) = column.map_err(|mut fault| {
                fault.row += first;
                fault_error(&known.name, fault, &profile)
            })?;
            if let Some((row, _)) = &mut found.first_missing {
                *row += first;
            }
            cells.push((known.name.clone(), column));
            profile.columns.push(found);
        }
        Ok(Batch { first, columns: cells, profile })
    }

    /// Rows of the file, whose number is not known yet.
    fn profile(&self) -> TableProfile {
        let now = (self.path.clone(), usize::MAX);
        TableProfile { files: vec![now], ..TableProfile::default() }
    }

    /// The collected columns, as [`super::TableSource::read`] returns them.
    ///
    /// # Errors
    /// Returns the errors of [`super::TableSource::read`].
    pub fn gathered(self, hint: impl Fn(&str) -> Hint) -> Result<(Table, TableProfile)> {
        let mut profile = self.profile();
        let mut table = Vec::new();
        for (name, column) in self.gathered {
            let Some(column) = column else { continue };
            let hint = self.reader.header().hint(&name, hint(&name));
            let rules = self.rules.like(&name, self.notations.get(&name).copied());
            let settled = settle(&name, column, hint, &rules).transpose().ok_or_else(|| type_error(&name))?;
            let (cells, found) = settled.map_err(|fault| fault_error(&name, fault, &profile))?;
            table.push((name, cells));
            profile.columns.push(found);
        }
        if let Some((_, rows)) = profile.files.last_mut() {
            *rows = self.first;
        }
        Ok((Table::new(table)?, profile))
    }
}
