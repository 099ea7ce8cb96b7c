//! Tables whose rows are read some at a time, where all is known of the columns that are wanted.

mod schema;
mod text;

use super::bytes::{FileKind, check_encoding, kind};
use super::column_builder::ColumnBuilder;
use super::fault::fault_error;
use super::inference::{InferredColumn, settle};
use super::loaded_file::check_unchanged;
use super::reader::ChunkReader;
use super::source::Notations;
use super::{Hint, ReadSpec, arrow_files, cell::CellSyntax, system, unreadable};
use crate::budget::Budget;
use crate::{ColumnSurvey, Survey};
use schema::TypedColumn;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use text::{Plain, TextRows};
use vaglio_core::{Cells, Error, Result, Table};

/// A file of a table whose header is known and whose rows are read in batches.
pub struct Batches {
    path: PathBuf,
    reader: Box<dyn ChunkReader>,
    /// Metadata of the file before it was read.
    before: Metadata,
    rules: CellSyntax,
}

/// Some rows of a table.
pub struct Batch {
    /// Index in the table of the first row, from 0.
    pub first: usize,
    /// Requested columns, in that order; a column may be requested twice.
    pub columns: Vec<(String, Cells)>,
    /// Survey of these columns; rows count from the first of the table.
    pub survey: Survey,
}

impl Batch {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.len())
    }
}

/// Reader of a table in batches.
pub struct BatchReader {
    batches: Batches,
    known: Vec<TypedColumn>,
    gathered: Vec<(String, Option<ColumnBuilder>)>,
    notations: Notations,
    most: usize,
    first: usize,
}

/// Reader of a file; `None` for one that has to be read as a whole.
fn opened(path: &Path, spec: &ReadSpec, budget: Budget) -> Option<Box<dyn ChunkReader>> {
    let mut plain = Plain::open(path)?;
    plain.begin()?;
    match kind(path, &plain.head).ok()? {
        FileKind::Text => TextRows::new(path, plain, spec, budget).map(|rows| Box::new(rows) as _),
        FileKind::Sparse(_) => None,
        _ if plain.is_compressed => None,
        kind => arrow_files::chunks(path, kind, budget),
    }
}

impl Batches {
    /// Opens a UTF-8 text file, compressed or not, or a Parquet or Arrow file. Returns `None` if the file must be read
    /// as a whole, which then reports any fault.
    ///
    /// Header, delimiter and decimal mark are detected as in [`super::TableSource`].
    ///
    /// # Errors
    /// [`Error::Setting`] for an unknown encoding.
    pub fn open(path: &Path, spec: &ReadSpec) -> Result<Option<Self>> {
        check_encoding(spec)?;
        let Some(before) = std::fs::metadata(path).ok().filter(Metadata::is_file) else { return Ok(None) };
        let Some(reader) = opened(path, spec, Budget::for_machine()) else { return Ok(None) };
        let Some(rules) = reader.file().rules(spec) else { return Ok(None) };
        Ok(Some(Batches { path: path.to_owned(), reader, before, rules }))
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        self.reader.file().names()
    }

    /// Whether the format of the file says what its columns hold.
    pub fn is_typed(&self) -> bool {
        self.reader.file().is_typed()
    }

    /// Reads columns in batches of at most `rows` rows, and gathers others on the way; those of known notation are written so
    /// in the training rows. `None` where some column can be told only by all its cells.
    ///
    /// # Errors
    /// A file of types that is damaged, or has columns of another type.
    pub fn start(
        mut self,
        columns: &[(String, Hint)],
        gathered: &[String],
        notations: Notations,
        rows: usize,
    ) -> Result<Option<BatchReader>> {
        let mut known = Vec::with_capacity(columns.len());
        for (name, hint) in columns {
            if self.reader.needs_all_cells(name, *hint) {
                return Ok(None);
            }
            match TypedColumn::new(
                name,
                *hint,
                self.reader.first_cells(name).as_deref(),
                &self.rules.like(name, notations.get(name).copied()),
            ) {
                Some(column) => known.push(column),
                None => return Ok(None),
            }
        }
        let names: Vec<&str> = columns.iter().map(|(name, _)| name).chain(gathered).map(String::as_str).collect();
        self.reader.start(&names, rows)?;
        let gathered = gathered.iter().map(|name| (name.clone(), None)).collect();
        Ok(Some(BatchReader { batches: self, known, gathered, notations, most: rows.max(1), first: 0 }))
    }
}

impl BatchReader {
    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// Returns the errors of [`super::TableSource::read`].
    pub fn next_rows(&mut self) -> Result<Option<Batch>> {
        let first = self.first;
        let read = self.batches.reader.next(first, self.most)?;
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
                return Err(unreadable(&self.batches.path, format!("column `{name}` is of another type than before")));
            }
        }
        self.settled(first, columns).map(Some)
    }

    /// Rejects a file that was modified while it was read, and one without rows.
    fn check_end(&self) -> Result<()> {
        let Batches { path, before, .. } = &self.batches;
        let after = std::fs::metadata(path).map_err(|error| system(path, error))?;
        check_unchanged(path, before, &after, before.len())?;
        let nothing = if self.batches.is_typed() { "has columns and no rows" } else { "has a header and no rows" };
        if self.first == 0 { Err(unreadable(path, nothing)) } else { Ok(()) }
    }

    fn settled(&mut self, first: usize, columns: Vec<ColumnBuilder>) -> Result<Batch> {
        use rayon::prelude::*;
        let mut survey = self.survey();
        let settled: Vec<_> =
            self.known.par_iter_mut().zip(columns).map(|(known, column)| known.settle(column)).collect();
        let mut cells = Vec::with_capacity(settled.len());
        for (known, column) in self.known.iter().zip(settled) {
            let (column, mut found): (Cells, ColumnSurvey) = column.map_err(|mut fault| {
                fault.row += first;
                fault_error(&known.name, fault, &survey)
            })?;
            if let Some((row, _)) = &mut found.first_missing {
                *row += first;
            }
            cells.push((known.name.clone(), column));
            survey.columns.push(found);
        }
        Ok(Batch { first, columns: cells, survey })
    }

    /// Rows of the file, whose number is not known yet.
    fn survey(&self) -> Survey {
        let now = (self.batches.path.clone(), usize::MAX);
        Survey { columns: Vec::new(), files: vec![now] }
    }

    /// The collected columns, as [`super::TableSource::read`] returns them.
    ///
    /// # Errors
    /// Returns the errors of [`super::TableSource::read`].
    pub fn gathered(self, hint: impl Fn(&str) -> Hint) -> Result<(Table, Survey)> {
        let mut survey = self.survey();
        let mut table = Vec::new();
        for (name, column) in self.gathered {
            let Some(column) = column else { continue };
            let is_stored = self.batches.is_typed();
            let hint = match (hint(&name), &column) {
                (Hint::Auto | Hint::Target | Hint::Label, ColumnBuilder::Raw(_)) if is_stored => Hint::Stored,
                (hint, _) => hint,
            };
            let rules = self.batches.rules.like(&name, self.notations.get(&name).copied());
            match settle(&name, column, hint, &rules) {
                Ok(InferredColumn::Cells(cells, found)) => {
                    table.push((name, cells));
                    survey.columns.push(found);
                }
                Ok(InferredColumn::NeedsText) => {
                    return Err(Error::Shape(format!("the column `{name}` is neither numbers nor text")));
                }
                Err(fault) => return Err(fault_error(&name, fault, &survey)),
            }
        }
        if let Some((_, rows)) = survey.files.last_mut() {
            *rows = self.first;
        }
        Ok((Table::new(table)?, survey))
    }
}
