//! Tables read in batches of rows, file by file, given the types of the wanted columns.

#[cfg(feature = "parquet")]
mod columnar;
mod opened;
mod schema;
mod text;

use super::bytes::check_encoding;
use super::fault::of_fault;
use super::growing::Growing;
use super::paths;
use super::settle::{Settled, settle, truth};
use super::source::Notations;
use super::{Hint, ReadSpec, cell::Rules, unreadable};
use crate::{ColumnSurvey, Survey};
pub use opened::KnownFiles;
use opened::OpenFile;
use schema::Known;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vaglio_core::{Cells, Error, Result, Table};

/// Files of a table whose header is known and whose rows are read in batches.
pub struct Batches {
    file: OpenFile,
    /// Remaining files, each with whether its folders name columns.
    rest: VecDeque<(PathBuf, bool)>,
    names: Vec<String>,
    rules: Rules,
    spec: ReadSpec,
    known: Arc<KnownFiles>,
    rows: Option<usize>,
    is_by_column: bool,
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

    /// Keeps at most the first `most` rows.
    #[must_use]
    pub fn first_rows(mut self, most: usize) -> Self {
        if most < self.rows() {
            let kept: Vec<usize> = (0..most).collect();
            self.columns.iter_mut().for_each(|(_, cells)| *cells = cells.select_rows(&kept));
        }
        self
    }
}

/// Reader of a table in batches.
pub struct BatchReader {
    batches: Batches,
    known: Vec<Known>,
    gathered: Vec<(String, Option<Growing>)>,
    notations: Notations,
    most: usize,
    first: usize,
    /// Files already read, with their numbers of rows.
    done: Vec<(PathBuf, usize)>,
}

impl Batches {
    /// Opens a UTF-8 text file, compressed or not, or a Parquet or Arrow file. Returns `None` if the file must be read
    /// as a whole, which then reports any fault.
    ///
    /// Header, delimiter and decimal mark are detected as in [`super::Source`].
    ///
    /// # Errors
    /// [`Error::Setting`] for an unknown encoding.
    pub fn open(path: &Path, spec: &ReadSpec) -> Result<Option<Self>> {
        check_encoding(spec)?;
        let known = Arc::default();
        let Some(file) = OpenFile::new(path, false, spec, &known)? else { return Ok(None) };
        Ok(Some(Batches::of(file, spec, known)))
    }

    /// Like [`Batches::open`], for files, patterns and folders as in [`super::Source::open`]; `None` if some file must
    /// be read as a whole. `known` caches what is known of files.
    ///
    /// # Errors
    /// Returns the errors of [`super::Source::open`].
    pub fn open_all(paths: &[PathBuf], spec: &ReadSpec, known: &Arc<KnownFiles>) -> Result<Option<Self>> {
        check_encoding(spec)?;
        let mut files = VecDeque::from(paths::of_all(paths)?);
        let first = files.pop_front().ok_or_else(|| Error::setting("data.train", "it names no file"))?;
        let Some(file) = OpenFile::new(&first.0, first.1, spec, known)? else { return Ok(None) };
        let mut batches = Batches::of(file, spec, Arc::clone(known));
        for (path, is_folder) in &files {
            let Some(other) = OpenFile::new(path, *is_folder, spec, known)? else { return Ok(None) };
            batches.check_names(&other)?;
            batches.rows = batches.rows.zip(other.rows()).map(|(all, own)| all + own);
            batches.is_by_column &= other.is_by_column();
        }
        Ok(Some(Batches { rest: files, ..batches }))
    }

    fn of(file: OpenFile, spec: &ReadSpec, known: Arc<KnownFiles>) -> Self {
        let (names, rules, rows) = (file.names(), file.rules(spec), file.rows());
        let is_by_column = file.is_by_column();
        Batches { file, rest: VecDeque::new(), names, rules, spec: spec.clone(), known, rows, is_by_column }
    }

    fn check_names(&self, other: &OpenFile) -> Result<()> {
        let (first, others) = (self.file.path.display(), other.names());
        if let Some(name) = self.names.iter().find(|name| !others.contains(name)) {
            return Err(unreadable(&other.path, format!("has no column `{name}`, and {first} has")));
        }
        match others.iter().find(|name| !self.names.contains(name)) {
            Some(name) => Err(unreadable(&other.path, format!("has a column `{name}`, and {first} has none"))),
            None => Ok(()),
        }
    }

    /// Names of the columns, in the order of the first file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The files, in order.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&*self.file.path).chain(self.rest.iter().map(|(path, _)| &**path))
    }

    /// Number of rows, if the files tell it.
    pub fn rows(&self) -> Option<usize> {
        self.rows
    }

    /// The settings with everything detected in the first file filled in.
    pub fn settled(&self) -> ReadSpec {
        self.file.settled(&self.spec)
    }

    /// Whether the format of the first file gives the column types.
    pub fn is_typed(&self) -> bool {
        self.file.is_typed()
    }

    /// First cell of a text file's column none of whose first cells is a number.
    pub fn first_word(&self, name: &str) -> Option<&str> {
        let rules = self.rules.column(name);
        let mut cells = self.file.first_cells(name)?.into_iter().filter(|cell| !rules.is_missing(cell));
        let is_word =
            |cell: &&str| rules.number(cell).is_none() && rules.dressed(cell).is_none() && truth(cell).is_none();
        let first = cells.next().filter(is_word)?;
        cells.all(|cell| is_word(&cell)).then_some(first)
    }

    /// Whether a column is named by folders and not in the files.
    pub fn is_of_folders(&self, name: &str) -> bool {
        self.file.fixed.iter().any(|(own, _)| own == name)
    }

    /// Whether some columns can be read without the others.
    pub fn is_by_column(&self) -> bool {
        self.is_by_column
    }

    /// Starts reading columns in batches of at most `rows` rows, and collects `gathered` ones meanwhile; `notations`
    /// are those of the training rows. Returns `None` if a column's type depends on all its cells.
    ///
    /// # Errors
    /// Fails for a damaged Parquet or Arrow file, or one with columns of another type.
    pub fn start(
        mut self,
        columns: &[(String, Hint)],
        gathered: &[String],
        notations: Notations,
        rows: usize,
    ) -> Result<Option<BatchReader>> {
        let mut known = Vec::with_capacity(columns.len());
        for (name, hint) in columns {
            if self.file.needs_all_cells(name, *hint) {
                return Ok(None);
            }
            match Known::new(
                name,
                *hint,
                self.file.first_cells(name).as_deref(),
                &self.rules.like(name, notations.get(name).copied()),
            ) {
                Some(column) => known.push(column),
                None => return Ok(None),
            }
        }
        let names: Vec<String> = columns.iter().map(|(name, _)| name).chain(gathered).cloned().collect();
        self.file.start(names, rows)?;
        let gathered = gathered.iter().map(|name| (name.clone(), None)).collect();
        let (most, done) = (rows.max(1), Vec::new());
        Ok(Some(BatchReader { batches: self, known, gathered, notations, most, first: 0, done }))
    }
}

impl BatchReader {
    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// Returns the errors of [`super::Source::read`].
    pub fn next_rows(&mut self) -> Result<Option<Batch>> {
        let read = loop {
            let read = self.batches.file.next(self.most, &self.batches.rules)?;
            if read.first().map_or(0, Growing::rows) > 0 {
                break read;
            }
            self.batches.file.check_end()?;
            if !self.next_file()? {
                return Ok(None);
            }
        };
        let (first, rows) = (self.first, read.first().map_or(0, Growing::rows));
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
                return Err(unreadable(
                    &self.batches.file.path,
                    format!("column `{name}` is of another type than before"),
                ));
            }
        }
        self.settled(first, columns).map(Some)
    }

    /// Opens the next file, if there is one.
    fn next_file(&mut self) -> Result<bool> {
        let Some((path, is_folder)) = self.batches.rest.pop_front() else { return Ok(false) };
        let other = OpenFile::new(&path, is_folder, &self.batches.spec, &self.batches.known)?;
        let other = other.ok_or_else(|| unreadable(&path, "was changed while the table was read"))?;
        self.batches.check_names(&other)?;
        let before = std::mem::replace(&mut self.batches.file, other);
        self.done.push((before.path, before.first));
        self.batches.file.start(before.wanted, self.most)?;
        Ok(true)
    }

    /// Skips rows as if they had been read. Cost O(rows) for text, less for other files.
    ///
    /// # Errors
    /// Fails if there are fewer rows, and like [`BatchReader::next_rows`].
    pub fn skip(&mut self, rows: usize) -> Result<()> {
        let mut left = rows;
        loop {
            let skipped = self.batches.file.skip(left)?;
            (self.first, left) = (self.first + skipped, left - skipped);
            if left == 0 {
                return Ok(());
            }
            if !self.next_file()? {
                return Err(unreadable(&self.batches.file.path, "has fewer rows than when it was read before"));
            }
        }
    }

    fn settled(&mut self, first: usize, columns: Vec<Growing>) -> Result<Batch> {
        use rayon::prelude::*;
        let mut survey = self.survey();
        let settled: Vec<_> =
            self.known.par_iter_mut().zip(columns).map(|(known, column)| known.settle(column)).collect();
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

    /// Rows after those of the finished files belong to the current one.
    fn survey(&self) -> Survey {
        let now = (self.batches.file.path.clone(), usize::MAX);
        Survey { columns: Vec::new(), files: self.done.iter().cloned().chain([now]).collect() }
    }

    /// The collected columns, as [`super::Source::read`] returns them.
    ///
    /// # Errors
    /// Returns the errors of [`super::Source::read`].
    pub fn gathered(self, hint: impl Fn(&str) -> Hint) -> Result<(Table, Survey)> {
        let mut survey = self.survey();
        let mut table = Vec::new();
        for (name, column) in self.gathered {
            let Some(column) = column else { continue };
            let is_stored = self.batches.is_typed() && !self.batches.is_of_folders(&name);
            let hint = match (hint(&name), &column) {
                (Hint::Auto | Hint::Target | Hint::Label, Growing::Raw(_)) if is_stored => Hint::Stored,
                (hint, _) => hint,
            };
            let rules = self.batches.rules.like(&name, self.notations.get(&name).copied());
            match settle(&name, column, hint, &rules) {
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
        if let Some((_, rows)) = survey.files.last_mut() {
            *rows = self.batches.file.first;
        }
        Ok((Table::new(table)?, survey))
    }
}
