//! One file of a table whose rows are read some at a time.

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

/// What is known of files that were opened before, so that to open them again costs little.
#[derive(Debug, Default)]
pub struct KnownFiles {
    #[cfg(feature = "parquet")]
    parquet: CheckedFiles,
}

/// A file that was opened, and how far it was read.
pub(super) struct OpenFile {
    pub path: PathBuf,
    body: Body,
    /// Columns of one value that its folders name.
    pub fixed: Vec<(String, Option<String>)>,
    /// The file as it was before anything of it was read.
    before: Metadata,
    /// The columns that are wanted.
    pub wanted: Vec<String>,
    /// The row that comes next.
    pub first: usize,
}

enum Body {
    Text(Box<TextRows>),
    #[cfg(feature = "parquet")]
    Stored(Box<StoredRows>),
}

impl OpenFile {
    /// `None` for a file that has to be read as a whole. What is found of it is kept in `known`.
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

    /// The names of its columns, those of its folders last.
    pub fn names(&self) -> Vec<String> {
        self.own_names().iter().chain(self.fixed.iter().map(|(name, _)| name)).cloned().collect()
    }

    /// How many rows there are, where the file says so.
    pub fn rows(&self) -> Option<usize> {
        match &self.body {
            Body::Text(_) => None,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => Some(rows.rows),
        }
    }

    /// The rules by which its cells are read.
    pub fn rules(&self, spec: &ReadSpec) -> Rules {
        match &self.body {
            Body::Text(rows) => Rules::new(spec).with_comma(rows.sheet.comma),
            #[cfg(feature = "parquet")]
            Body::Stored(_) => Rules::stored(spec),
        }
    }

    /// The settings with what was found about it written out.
    pub fn settled(&self, spec: &ReadSpec) -> ReadSpec {
        match &self.body {
            Body::Text(rows) => rows.sheet.settled(spec),
            #[cfg(feature = "parquet")]
            Body::Stored(_) => spec.clone(),
        }
    }

    /// Whether its format says what its columns hold.
    pub fn is_typed(&self) -> bool {
        !matches!(self.body, Body::Text(_))
    }

    /// Whether some columns are read without the others.
    pub fn is_by_column(&self) -> bool {
        match &self.body {
            Body::Text(_) => false,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => rows.is_by_column(),
        }
    }

    /// A column that its folders name, with its value.
    fn of_folders(&self, name: &str) -> Option<&(String, Option<String>)> {
        self.fixed.iter().find(|(own, _)| own == name)
    }

    /// The first cells of a column, from which its type is inferred; `None` where the file says it.
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

    /// Whether the type of a column can be inferred only from all its cells.
    #[cfg_attr(not(feature = "parquet"), expect(unused_variables))]
    pub fn needs_all_cells(&self, name: &str, hint: Hint) -> bool {
        match &self.body {
            Body::Text(_) => false,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => hint == Hint::Date && self.of_folders(name).is_none() && !rows.holds_dates(name),
        }
    }

    /// Says which columns are wanted, and how many rows at a time.
    #[cfg_attr(not(feature = "parquet"), expect(unused_variables))]
    pub fn start(&mut self, wanted: Vec<String>, rows: usize) -> Result<()> {
        self.wanted = wanted;
        let own: Vec<&str> =
            self.wanted.iter().map(String::as_str).filter(|name| self.of_folders(name).is_none()).collect();
        // Where only columns of folders are wanted, one of its own tells the number of rows.
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

    /// The wanted columns of the next rows, of which there are none after the last.
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

    /// Leaves out so many rows, or all that are left; how many.
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

    /// Refuses a file that was written to while it was read, and one without rows.
    pub fn check_end(&self) -> Result<()> {
        let (path, before) = (&self.path, &self.before);
        let after = std::fs::metadata(path).map_err(|error| system(path, &error))?;
        check_unchanged(path, before, &after, before.len())?;
        let nothing = if self.is_typed() { "has columns and no rows" } else { "has a header and no rows" };
        if self.first == 0 { Err(unreadable(path, nothing)) } else { Ok(()) }
    }
}
