//! Files whose rows are read some at a time, where all is known of the columns that are wanted.

#[cfg(feature = "parquet")]
mod columnar;
mod schema;
mod text;

use super::bytes::{FileKind, check_encoding, kind};
use super::growing::Growing;
use super::load::check_unchanged;
use super::settle::{Settled, settle};
use super::source::of_fault;
use super::{Hint, ReadSpec, cell::Rules, system, unreadable};
use crate::budget::Budget;
use crate::{ColumnSurvey, Survey};
#[cfg(feature = "parquet")]
use columnar::StoredRows;
use schema::Known;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use text::{Plain, TextRows};
use vaglio_core::{Cells, Error, Result, Table};

/// A file whose header is known and whose rows are read some at a time.
pub struct Batches {
    path: PathBuf,
    body: Body,
    rules: Rules,
    /// The file as it was before anything of it was read.
    before: Metadata,
}

enum Body {
    Text(Box<TextRows>),
    #[cfg(feature = "parquet")]
    Stored(Box<StoredRows>),
}

/// Some rows of a file.
pub struct Batch {
    /// Where the first of them stands in the file, from 0.
    pub first: usize,
    /// The columns that were asked for, in that order; a column may be asked for twice.
    pub columns: Vec<(String, Cells)>,
    /// What was found out about these columns, rows counting from the first of the file.
    pub survey: Survey,
}

/// The rows of a file, some at a time.
pub struct BatchReader {
    batches: Batches,
    known: Vec<Known>,
    gathered: Vec<(String, Option<Growing>)>,
    most: usize,
    first: usize,
}

impl Batches {
    /// Opens a text file in UTF-8, compressed or not, or a Parquet file. `None`: the file has to be read as a whole, by
    /// which what is wrong with it will be told.
    ///
    /// Header, delimiter and decimal mark are those that [`super::Source`] finds.
    ///
    /// # Errors
    /// [`Error::Setting`] for an encoding that nobody knows.
    pub fn open(path: &Path, spec: &ReadSpec) -> Result<Option<Self>> {
        check_encoding(spec)?;
        let Some(before) = std::fs::metadata(path).ok().filter(Metadata::is_file) else { return Ok(None) };
        let Some(mut plain) = Plain::open(path) else { return Ok(None) };
        let Some(body) = plain.begin().and_then(|()| kind(path, &plain.head).ok()).and_then(|kind| match kind {
            FileKind::Text => {
                TextRows::new(path, plain, spec, Budget::of_machine()).map(|rows| Body::Text(Box::new(rows)))
            }
            #[cfg(feature = "parquet")]
            FileKind::Parquet if !plain.is_compressed => {
                StoredRows::new(path, Budget::of_machine()).map(|rows| Body::Stored(Box::new(rows)))
            }
            _ => None,
        }) else {
            return Ok(None);
        };
        let rules = match &body {
            Body::Text(rows) => Rules::new(spec).with_comma(rows.sheet.comma),
            #[cfg(feature = "parquet")]
            Body::Stored(_) => Rules::stored(spec),
        };
        Ok(Some(Batches { path: path.to_owned(), body, rules, before }))
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        match &self.body {
            Body::Text(rows) => &rows.sheet.names,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => &rows.names,
        }
    }

    /// How many rows there are, where the file says so.
    pub fn rows(&self) -> Option<usize> {
        match &self.body {
            Body::Text(_) => None,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => Some(rows.rows),
        }
    }

    /// The settings with what was found about the file written out.
    pub fn settled(&self, spec: &ReadSpec) -> ReadSpec {
        match &self.body {
            Body::Text(rows) => rows.sheet.settled(spec),
            #[cfg(feature = "parquet")]
            Body::Stored(_) => spec.clone(),
        }
    }

    /// Whether the format says what its columns hold.
    pub fn is_typed(&self) -> bool {
        !matches!(self.body, Body::Text(_))
    }

    /// Reads columns in batches of at most `rows` rows, and gathers others on the way. `None` where some column can be
    /// told only by all its cells.
    ///
    /// # Errors
    /// A Parquet file that is damaged, or has columns of another type.
    pub fn start(
        mut self,
        columns: &[(String, Hint)],
        gathered: &[String],
        rows: usize,
    ) -> Result<Option<BatchReader>> {
        let mut known = Vec::with_capacity(columns.len());
        for (name, hint) in columns {
            let sample = match &self.body {
                Body::Text(rows) => Some(rows.sheet.sample(name)),
                #[cfg(feature = "parquet")]
                Body::Stored(rows) if *hint == Hint::Date && !rows.holds_dates(name) => return Ok(None),
                #[cfg(feature = "parquet")]
                Body::Stored(_) => None,
            };
            match Known::new(name, *hint, sample.as_deref(), &self.rules) {
                Some(column) => known.push(column),
                None => return Ok(None),
            }
        }
        let names: Vec<&str> = columns.iter().map(|(name, _)| name).chain(gathered).map(String::as_str).collect();
        match &mut self.body {
            Body::Text(rows) => rows.start(&names),
            #[cfg(feature = "parquet")]
            Body::Stored(stored) => stored.start(&self.path, &names, rows)?,
        }
        let gathered = gathered.iter().map(|name| (name.clone(), None)).collect();
        Ok(Some(BatchReader { batches: self, known, gathered, most: rows.max(1), first: 0 }))
    }
}

impl BatchReader {
    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// Those of [`super::Source::read`].
    pub fn next_rows(&mut self) -> Result<Option<Batch>> {
        let (first, path) = (self.first, &self.batches.path);
        let read = match &mut self.batches.body {
            Body::Text(rows) => rows.next(path, first, self.most)?,
            #[cfg(feature = "parquet")]
            Body::Stored(rows) => rows.next(path, first)?,
        };
        let rows = read.first().map_or(0, Growing::rows);
        if rows == 0 {
            let before = &self.batches.before;
            let after = std::fs::metadata(path).map_err(|error| system(path, &error))?;
            check_unchanged(path, before, &after, before.len())?;
            let nothing = if self.batches.is_typed() { "has columns and no rows" } else { "has a header and no rows" };
            return if first == 0 { Err(unreadable(path, nothing)) } else { Ok(None) };
        }
        self.first += rows;
        let mut read = read.into_iter();
        let columns: Vec<Growing> = read.by_ref().take(self.known.len()).collect();
        for ((name, all), more) in self.gathered.iter_mut().zip(read) {
            let is_alike = match all {
                Some(all) => all.append(more),
                None => {
                    *all = Some(more);
                    true
                }
            };
            if !is_alike {
                return Err(unreadable(path, format!("column `{name}` is of another type than before")));
            }
        }
        self.settled(first, columns).map(Some)
    }

    fn settled(&mut self, first: usize, columns: Vec<Growing>) -> Result<Batch> {
        use rayon::prelude::*;
        let rules = &self.batches.rules;
        let mut survey = self.survey();
        let settled: Vec<_> =
            self.known.par_iter_mut().zip(columns).map(|(known, column)| known.settle(column, rules)).collect();
        let mut cells = Vec::with_capacity(settled.len());
        for (known, column) in self.known.iter().zip(settled) {
            let (column, mut found): (Cells, ColumnSurvey) = column.map_err(|mut fault| {
                fault.row += first;
                of_fault(&known.name, fault, &survey)
            })?;
            if let Some((row, _)) = &mut found.first_missing {
                *row += first;
            }
            cells.push((known.name.clone(), column));
            survey.columns.push(found);
        }
        Ok(Batch { first, columns: cells, survey })
    }

    /// Every row is of the one file.
    fn survey(&self) -> Survey {
        Survey { columns: Vec::new(), files: vec![(self.batches.path.clone(), usize::MAX)] }
    }

    /// The columns that were gathered, as [`super::Source::read`] reads them.
    ///
    /// # Errors
    /// Those of [`super::Source::read`].
    pub fn gathered(self, hint: impl Fn(&str) -> Hint) -> Result<(Table, Survey)> {
        let mut survey = self.survey();
        let mut table = Vec::new();
        for (name, column) in self.gathered {
            let Some(column) = column else { continue };
            let hint = match (hint(&name), &column, &self.batches.body) {
                #[cfg(feature = "parquet")]
                (Hint::Auto | Hint::Target | Hint::Label, Growing::Raw(_), Body::Stored(_)) => Hint::Stored,
                (hint, ..) => hint,
            };
            match settle(&name, column, hint, &self.batches.rules) {
                Ok(Settled::Cells(cells, found)) => {
                    table.push((name, cells));
                    survey.columns.push(found);
                }
                Ok(Settled::NeedsText) => {
                    return Err(Error::Shape(format!("the column `{name}` is neither numbers nor text")));
                }
                Err(fault) => return Err(of_fault(&name, fault, &survey)),
            }
        }
        Ok((Table::new(table)?, survey))
    }
}
