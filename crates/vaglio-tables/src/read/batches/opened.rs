//! One file of a table that is read in batches.

use super::super::bytes::{FileKind, kind};
use super::super::growing::{Growing, RawColumn};
use super::super::load::check_unchanged;
use super::super::paths;
use super::super::{Hint, ReadSpec, cell::Rules, system, unreadable};
#[cfg(feature = "parquet")]
use super::columnar::{CheckedFiles, StoredRows};
use super::text::{Plain, TextRows};
use crate::budget::Budget;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use vaglio_core::Result;

/// Cache of opened files, which makes opening them again cheap.
#[derive(Debug, Default)]
pub struct KnownFiles {
    #[cfg(feature = "parquet")]
    parquet: CheckedFiles,
}

/// An opened file, and the reading position.
pub(super) struct OpenFile {
    pub path: PathBuf,
    body: Body,
    /// Columns of one value named by the file's folders.
    pub fixed: Vec<(String, Option<String>)>,
    /// Metadata of the file before it was read.
    before: Metadata,
    /// Wanted columns.
    pub wanted: Vec<String>,
    /// Index of the next row.
    pub first: usize,
}

enum Body {
    Text(Box<TextRows>),
    #[cfg(feature = "parquet")]
    Stored(Box<StoredRows>),
}

impl OpenFile {
    /// Opens a file; `None` if it must be read as a whole. What is found is cached in `known`.
    #[cfg_attr(not(feature = "parquet"), expect(unused_variables))]
    pub fn new(path: &Path, is_partitioned: bool, spec: &ReadSpec, known: &KnownFiles) -> Result<Option<Self>> {
        let Some(before) = std::fs::metadata(path).ok().filter(Metadata::is_file) else { return Ok(None) };
        let Some(mut plain) = Plain::open(path) else { return Ok(None) };
        let Some(body) = plain.begin().and_then(|()| kind(path, &plain.head).ok()).and_then(|kind| match kind {
            FileKind::Text => {
                TextRows::new(path, plain, spec, Budget::of_machine()).map(|rows| Body::Text(Box::new(rows)))
            }
            #[cfg(feature = "parquet")]
            FileKind::Parquet if !plain.is_compressed => {
                StoredRows::of_parquet(path, &before, Budget::of_machine(), &known.parquet)
                    .map(|rows| Body::Stored(Box::new(rows)))
            }
            #[cfg(feature = "parquet")]
            FileKind::Arrow | FileKind::ArrowStream if !plain.is_compressed => {
                let is_stream = kind == FileKind::ArrowStream;
                StoredRows::of_arrow(path, is_stream, Budget::of_machine()).map(|rows| Body::Stored(Box::new(rows)))
            }
            _ => None,
        }) else {
            return Ok(None);
        };
        let fixed = if is_partitioned { paths::partitions(path) } else { Vec::new() };
        Ok(Some(OpenFile { path: path.to_owned(), body, fixed, before, wanted: Vec::new(), first: 0 }))
    }

    fn own_names(&self) -> &[String] {
        match &self.body {
            Body::Text(rows) => &rows.sheet.names,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => &rows.names,
        }
    }

    /// Names of the columns, those of folders last.
    pub fn names(&self) -> Vec<String> {
        self.own_names().iter().chain(self.fixed.iter().map(|(name, _)| name)).cloned().collect()
    }

    /// Number of rows, if the file tells it.
    pub fn rows(&self) -> Option<usize> {
        match &self.body {
            Body::Text(_) => None,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => Some(rows.rows),
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

    /// The settings with everything detected filled in.
    pub fn settled(&self, spec: &ReadSpec) -> ReadSpec {
        match &self.body {
            Body::Text(rows) => rows.sheet.settled(spec),
            #[cfg(feature = "parquet")]
            Body::Stored(_) => spec.clone(),
        }
    }

    /// Whether the format gives the column types.
    pub fn is_typed(&self) -> bool {
        !matches!(self.body, Body::Text(_))
    }

    /// Whether some columns can be read without the others.
    pub fn is_by_column(&self) -> bool {
        match &self.body {
            Body::Text(_) => false,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => rows.is_by_column(),
        }
    }

    /// A folder column with its value.
    fn of_folders(&self, name: &str) -> Option<&(String, Option<String>)> {
        self.fixed.iter().find(|(own, _)| own == name)
    }

    /// First cells of a column, for inferring its type; `None` if the file gives the type.
    pub fn first_cells(&self, name: &str) -> Option<Vec<&str>> {
        if let Some((_, value)) = self.of_folders(name) {
            return Some(value.as_deref().into_iter().collect());
        }
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
            Body::Stored(rows) => hint == Hint::Date && self.of_folders(name).is_none() && !rows.holds_dates(name),
        }
    }

    /// Sets the wanted columns and the rows per batch.
    #[cfg_attr(not(feature = "parquet"), expect(unused_variables))]
    pub fn start(&mut self, wanted: Vec<String>, rows: usize) -> Result<()> {
        self.wanted = wanted;
        let own: Vec<&str> =
            self.wanted.iter().map(String::as_str).filter(|name| self.of_folders(name).is_none()).collect();
        // If only folder columns are wanted, one of the file's gives the number of rows.
        let own = match own.is_empty() {
            true => self.own_names().first().map(|name| vec![name.clone()]).unwrap_or_default(),
            false => own.into_iter().map(str::to_owned).collect(),
        };
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        match &mut self.body {
            Body::Text(text) => text.start(&own),
            #[cfg(feature = "parquet")]
            Body::Stored(stored) => stored.start(&self.path, &own, rows)?,
        }
        Ok(())
    }

    /// Wanted columns of the next rows; no rows after the last.
    pub fn next(&mut self, most: usize, rules: &Rules) -> Result<Vec<Growing>> {
        let (path, first) = (&self.path, self.first);
        let read = match &mut self.body {
            Body::Text(rows) => rows.next(path, first, most)?,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => rows.next(path, first)?,
        };
        let rows = read.first().map_or(0, Growing::rows);
        self.first += rows;
        let mut read = read.into_iter();
        let column = |name: &String| match self.of_folders(name) {
            Some((_, value)) => {
                let value = value.as_deref().unwrap_or_else(|| rules.column(name).missing());
                let mut column = RawColumn::default();
                (0..rows).for_each(|_| column.push(value));
                Some(Growing::Raw(column))
            }
            None => read.next(),
        };
        Ok(self.wanted.iter().filter_map(column).collect())
    }

    /// Skips up to `rows` rows and returns their number.
    pub fn skip(&mut self, rows: usize) -> Result<usize> {
        let path = &self.path;
        let skipped = match &mut self.body {
            Body::Text(text) => text.skip(path, self.first, rows)?,
            #[cfg(feature = "parquet")]
            Body::Stored(stored) => stored.skip(path, self.first, rows)?,
        };
        self.first += skipped;
        Ok(skipped)
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
