//! One file of a table that is read in batches.

use super::super::bytes::{FileKind, kind};
use super::super::column_builder::ColumnBuilder;
use super::super::load::check_unchanged;
use super::super::{Hint, ReadSpec, cell::Rules, system, unreadable};
#[cfg(feature = "parquet")]
use super::columnar::StoredRows;
use super::text::{Plain, TextRows};
use crate::budget::Budget;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use vaglio_core::Result;

/// An opened file, and the reading position.
pub(super) struct OpenFile {
    pub path: PathBuf,
    body: Body,
    /// Metadata of the file before it was read.
    before: Metadata,
    /// Index of the next row.
    pub first: usize,
}

enum Body {
    Text(Box<TextRows>),
    #[cfg(feature = "parquet")]
    Stored(Box<StoredRows>),
}

impl OpenFile {
    /// `None` for a file that has to be read as a whole.
    pub fn new(path: &Path, spec: &ReadSpec) -> Result<Option<Self>> {
        let Some(before) = std::fs::metadata(path).ok().filter(Metadata::is_file) else { return Ok(None) };
        let Some(mut plain) = Plain::open(path) else { return Ok(None) };
        let Some(body) = plain.begin().and_then(|()| kind(path, &plain.head).ok()).and_then(|kind| match kind {
            FileKind::Text => {
                TextRows::new(path, plain, spec, Budget::for_machine()).map(|rows| Body::Text(Box::new(rows)))
            }
            #[cfg(feature = "parquet")]
            FileKind::Parquet if !plain.is_compressed => {
                StoredRows::open_parquet(path, Budget::for_machine()).map(|rows| Body::Stored(Box::new(rows)))
            }
            #[cfg(feature = "parquet")]
            FileKind::Arrow | FileKind::ArrowStream if !plain.is_compressed => {
                let is_stream = kind == FileKind::ArrowStream;
                StoredRows::open_arrow(path, is_stream, Budget::for_machine()).map(|rows| Body::Stored(Box::new(rows)))
            }
            _ => None,
        }) else {
            return Ok(None);
        };
        Ok(Some(OpenFile { path: path.to_owned(), body, before, first: 0 }))
    }

    /// The names of its columns.
    pub fn names(&self) -> &[String] {
        match &self.body {
            Body::Text(rows) => &rows.sheet.names,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => &rows.names,
        }
    }

    /// Rules for parsing cells.
    pub fn rules(&self, spec: &ReadSpec) -> Rules {
        match &self.body {
            Body::Text(rows) => Rules::new(spec).with_comma(rows.sheet.comma),
            #[cfg(feature = "parquet")]
            Body::Stored(_) => Rules::stored(spec),
        }
    }

    /// Whether the format gives the column types.
    pub fn is_typed(&self) -> bool {
        !matches!(self.body, Body::Text(_))
    }

    /// First cells of a column, for inferring its type; `None` if the file gives the type.
    pub fn first_cells(&self, name: &str) -> Option<Vec<&str>> {
        match &self.body {
            Body::Text(rows) => Some(rows.sheet.sample(name)),
            #[cfg(feature = "parquet")]
            Body::Stored(_) => None,
        }
    }

    /// Whether a column's type can be inferred only from all its cells.
    #[cfg_attr(not(feature = "parquet"), expect(unused_variables))]
    pub fn needs_all_cells(&self, name: &str, hint: Hint) -> bool {
        match &self.body {
            Body::Text(_) => false,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => hint == Hint::Date && !rows.holds_dates(name),
        }
    }

    /// Sets the wanted columns and the rows per batch.
    #[cfg_attr(not(feature = "parquet"), expect(unused_variables))]
    pub fn start(&mut self, wanted: &[&str], rows: usize) -> Result<()> {
        match &mut self.body {
            Body::Text(text) => text.start(wanted),
            #[cfg(feature = "parquet")]
            Body::Stored(stored) => stored.start(&self.path, wanted, rows)?,
        }
        Ok(())
    }

    /// The wanted columns of the next rows, of which there are none after the last.
    pub fn next(&mut self, most: usize) -> Result<Vec<ColumnBuilder>> {
        let (path, first) = (&self.path, self.first);
        let read = match &mut self.body {
            Body::Text(rows) => rows.next(path, first, most)?,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => rows.next(path, first)?,
        };
        self.first += read.first().map_or(0, ColumnBuilder::rows);
        Ok(read)
    }

    /// Rejects a file that was modified while it was read, and one without rows.
    pub fn check_end(&self) -> Result<()> {
        let (path, before) = (&self.path, &self.before);
        let after = std::fs::metadata(path).map_err(|error| system(path, &error))?;
        check_unchanged(path, before, &after, before.len())?;
        let nothing = if self.is_typed() { "has columns and no rows" } else { "has a header and no rows" };
        if self.first == 0 { Err(unreadable(path, nothing)) } else { Ok(()) }
    }
}
