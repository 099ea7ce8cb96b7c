//! A table from one or several files.

use super::bytes::check_encoding;
use super::cell::ColumnRules;
use super::column_builder::ColumnBuilder;
use super::digest::{Digest, Hashing, format_hash};
use super::fault::fault_error;
use super::head::sample_size;
use super::inference::{Hint, Outcome, infer, needs_text};
use super::reader::FileHeader;
use super::table_file::{RowsOfFiles, TableFile};
use super::{FEWER, paths, places, unreadable};
use crate::budget::Budget;
use crate::{Notation, ReadSpec, TableProfile};
use blake3::Hash;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result, Table};

/// Files of a table, Parquet on disk and others usually in memory: the header is known, rows are read on demand.
#[must_use]
#[derive(Debug)]
pub struct TableSource {
    pub(super) parts: Vec<TableFile>,
    names: Vec<String>,
    aside: Vec<(String, &'static str)>,
    spec: ReadSpec,
    budget: Budget,
    /// Companion file: one row per row of the data, such as targets.
    companion: Option<TableFile>,
    /// Name of each of its columns in that file, and in the table, where they stand last.
    companion_names: Vec<(String, String)>,
}

/// Reason that columns of the companion file are not features.
pub const IN_COMPANION: &str = "it stands in the file of the target";

/// Columns to read, and what is known of them.
#[derive(Debug, Clone, Default)]
pub struct ReadRequest {
    /// Names of the columns to read, if the table has them. `None` reads all, except unnamed ones without information.
    pub only: Option<BTreeSet<String>>,
    /// Names of columns that are not read if all are; they are neither parsed nor checked.
    pub except: BTreeSet<String>,
    /// Known types of some columns.
    pub hints: HashMap<String, Hint>,
    /// Notations of columns in the training rows; numbers in another notation are rejected.
    pub notations: Notations,
    /// Columns whose numbers are stored in doubles, if others are stored in single precision while they are read: four
    /// bytes instead of eight. Sparse files stay in doubles.
    pub doubles: Option<HashSet<String>>,
}

/// Notations of columns in the training rows.
pub type Notations = HashMap<String, Notation>;
/// Name of a column, and its cells with their profile or the fault of one of them.
pub type ReadColumn = (String, Outcome);

impl ReadRequest {
    /// Requests the columns of these names.
    pub fn only<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        ReadRequest { only: Some(names.into_iter().map(Into::into).collect()), ..ReadRequest::default() }
    }

    /// Requests all columns except these.
    pub fn except<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        ReadRequest { except: names.into_iter().map(Into::into).collect(), ..ReadRequest::default() }
    }
}

impl TableSource {
    /// Opens files, also given by patterns and folders; all must have the same columns, in any order.
    ///
    /// Paths may contain `*`, `?` and `[…]`, or name a folder whose parts are in folders named `column=value`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that is missing, damaged or of an unknown format, has no header, or other
    /// columns than the first; [`Error::Setting`] for a file named twice, and at `limits.memory` for files that take
    /// more than 80 % of the machine's memory.
    pub fn open(paths: &[PathBuf], spec: &ReadSpec) -> Result<Self> {
        TableSource::open_within(paths, spec, Budget::for_machine(), false)
    }

    /// Like [`TableSource::open`], with a memory limit. A sample has only some rows of large files, and an estimate of
    /// their number; small files are read whole.
    ///
    /// # Errors
    /// Returns the errors of [`TableSource::open`].
    pub fn open_within(paths: &[PathBuf], spec: &ReadSpec, budget: Budget, is_sample: bool) -> Result<Self> {
        check_encoding(spec)?;
        let files = paths::all_files(paths)?;
        let most = sample_size(&files).filter(|_| is_sample);
        let open = |(file, is_folder)| TableFile::open(file, is_folder, spec, budget, most);
        let parts: Result<Vec<TableFile>> = files.into_par_iter().map(open).collect();
        let mut parts = parts?;
        if parts.len() > 1 {
            let all: BTreeSet<String> = parts.iter().flat_map(TableFile::names).collect();
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            parts.iter_mut().for_each(|part| part.reader.widen(&all));
        }
        let Some(first) = parts.first() else { return Err(Error::setting("data.train", "it names no file")) };
        let (names, path) = (first.names(), first.path.display());
        let beyond = |names: &[String], others: &[String]| {
            let others: HashSet<&String> = others.iter().collect();
            names.iter().find(|name| !others.contains(name)).cloned()
        };
        for part in &parts[1..] {
            let others = part.names();
            let lacks = beyond(&names, &others).map(|name| format!("has no column `{name}`, and {path} has"));
            let has = || beyond(&others, &names).map(|name| format!("has a column `{name}`, and {path} has none"));
            if let Some(message) = lacks.or_else(has) {
                return Err(unreadable(&part.path, message));
            }
        }
        Ok(TableSource::from_files(parts, spec, budget))
    }

    /// A table of at least one file, all with the same columns.
    pub(super) fn from_files(parts: Vec<TableFile>, spec: &ReadSpec, budget: Budget) -> Self {
        let (names, aside) = (parts[0].names(), parts[0].reader.header().aside.clone());
        let (spec, companion_names) = (spec.clone(), Vec::new());
        TableSource { parts, names, aside, spec, budget, companion: None, companion_names }
    }

    /// Adds columns of zeros with these names, if the format omits such columns, like svmlight's last ones. Cost
    /// O(names).
    pub fn with_columns<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        self.parts.iter_mut().for_each(|part| part.reader.widen(&names));
        self.names = self.parts[0].names();
        self
    }

    /// Adds a companion file, whose columns belong to the same rows and are read on request. If the table already has a
    /// column of that name, the added one becomes `file.column`.
    ///
    /// # Errors
    /// Returns the errors of [`TableSource::open`]; [`Error::Unreadable`] if the table also has `file.column`.
    pub fn with_companion(mut self, path: &Path) -> Result<Self> {
        let file = TableFile::open(path.to_owned(), false, &self.spec, self.budget, None)?;
        let others: HashSet<&String> = self.names.iter().collect();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        for own in file.names() {
            let shown = if others.contains(&own) { format!("{stem}.{own}") } else { own.clone() };
            if own != shown && others.contains(&shown) {
                let message = format!("its column `{shown}` is also a column of the data; rename the file");
                return Err(unreadable(path, message));
            }
            self.companion_names.push((own, shown));
        }
        self.names.extend(self.companion_names.iter().map(|(_, shown)| shown.clone()));
        self.aside.extend(self.companion_names.iter().map(|(_, shown)| (shown.clone(), IN_COMPANION)));
        self.companion = Some(file);
        Ok(self)
    }

    /// Header of the first file.
    fn header(&self) -> &FileHeader {
        self.parts[0].reader.header()
    }

    /// Columns of the companion file: each name in the file, and in the table.
    pub fn companion_names(&self) -> &[(String, String)] {
        &self.companion_names
    }

    /// Names of the columns, in the order of the first file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Columns that are read only on request, with the reason.
    pub fn aside(&self) -> &[(String, &'static str)] {
        &self.aside
    }

    /// Columns of the first file that cannot be read because of their type, with the reason.
    pub fn unsupported(&self) -> &[(String, String)] {
        &self.header().unsupported
    }

    /// Whether the format of the first file gives the column types.
    pub fn is_typed(&self) -> bool {
        self.header().first_rows.is_none()
    }

    /// The settings with everything detected in the first file filled in.
    pub fn detected_settings(&self) -> ReadSpec {
        self.header().detected.as_ref().unwrap_or(&self.spec).clone()
    }

    /// Estimated number of all rows divided by the rows read; 1 if all were read.
    pub fn times(&self, profile: &TableProfile) -> f64 {
        let all: f64 = profile.files.iter().zip(&self.parts).map(|((_, rows), part)| part.all_rows(*rows)).sum();
        let read: f64 = profile.files.iter().map(|(_, rows)| *rows as f64).sum();
        all / read.max(1.0)
    }

    /// Hash of the file, `blake3:` and hexadecimal digits; for several files, the hash of their concatenated hashes.
    /// Cost O(bytes).
    ///
    /// # Errors
    /// Fails if a file cannot be read or was modified since it was opened.
    pub fn digest(&self) -> Result<String> {
        let hashes: Result<Vec<Hash>> = self.file_hashes()?.into_par_iter().map(|hash| hash()).collect();
        Ok(format_hash(&hashes?))
    }

    /// Reads the wanted columns, in the order of the first file. Cost O(bytes), on all threads.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for ragged rows and invalid cells, [`Error::NonFinite`] for infinities, with file, row,
    /// column, value and remedy.
    pub fn read(&self, wanted: &ReadRequest) -> Result<(Table, TableProfile)> {
        let (columns, files) = self.read_each(wanted)?;
        let (aside, is_typed) = (self.aside.clone(), self.is_typed());
        let mut profile = TableProfile { columns: Vec::new(), files, aside, is_typed };
        let mut table = Vec::with_capacity(columns.len());
        for (name, column) in columns {
            let (cells, column_profile) = column.map_err(|fault| fault_error(&name, fault, &profile))?;
            table.push((name, cells));
            profile.columns.push(column_profile);
        }
        Ok((Table::new(table)?, profile))
    }

    /// Hash of each file, to be computed.
    fn file_hashes(&self) -> Result<Vec<Hashing<Hash>>> {
        self.parts.iter().chain(&self.companion).map(TableFile::hash).collect()
    }

    /// Reads like [`TableSource::read`] and hashes like [`TableSource::digest`]. With several threads, files are hashed
    /// in the background while the table is used.
    ///
    /// # Errors
    /// Returns the errors of [`TableSource::read`] and [`TableSource::digest`].
    pub fn read_and_hash(&self, wanted: &ReadRequest) -> Result<(Table, TableProfile, Digest)> {
        let (table, profile) = self.read(wanted)?;
        let digest = match rayon::current_num_threads() {
            1 => Digest::known(self.digest()?),
            _ => Digest::in_background(self.file_hashes()?),
        };
        Ok((table, profile, digest))
    }

    /// Like [`TableSource::read`], but reports invalid cells column by column, and returns each file's number of rows.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for ragged rows.
    pub fn read_each(&self, wanted: &ReadRequest) -> Result<(Vec<ReadColumn>, RowsOfFiles)> {
        let is_aside = |name: &str| self.aside.iter().any(|(aside, _)| aside == name);
        let wants = |name: &&str| match &wanted.only {
            Some(names) => names.contains(*name),
            None => !wanted.except.contains(*name) && (!is_aside(name) || wanted.hints.contains_key(*name)),
        };
        let mut columns: Vec<ColumnRules<'_>> = Vec::new();
        for name in self.names.iter().map(String::as_str).filter(wants) {
            let hint = match wanted.hints.get(name).copied().unwrap_or_default() {
                Hint::Auto | Hint::Target | Hint::Label if self.header().texts.contains(name) => Hint::Stored,
                hint => hint,
            };
            let is_single = wanted.doubles.as_ref().is_some_and(|doubles| !doubles.contains(name));
            columns.push(ColumnRules { is_single, ..self.rules(name, hint, wanted.notations.get(name).copied()) });
        }
        let in_companion = self.in_companion(&columns);
        let mut looks = look_like_numbers(&self.parts, &columns[..columns.len() - in_companion.len()]);
        looks.extend(look_like_numbers(self.companion.as_slice(), &in_companion));
        for (column, looks) in columns.iter_mut().zip(looks) {
            column.as_numbers = looks && !column.hint.wants_text();
        }
        let (mut read, files) = self.read_columns(&columns)?;
        // Columns with other cells among their numbers are read again as text.
        let again: Vec<usize> = (0..read.len()).filter(|&at| needs_text(&read[at], &columns[at])).collect();
        if !again.is_empty() {
            let as_text = |&at: &usize| ColumnRules { as_numbers: false, ..columns[at].clone() };
            let (texts, _) = self.read_columns(&again.iter().map(as_text).collect::<Vec<_>>())?;
            again.into_iter().zip(texts).for_each(|(at, text)| read[at] = text);
        }
        let bytes: f64 = read.iter().map(ColumnBuilder::bytes_as_text).sum();
        self.budget.need(bytes, "columns of text, each cell by itself,", FEWER)?;
        let infer = |(rules, column): (&ColumnRules<'_>, ColumnBuilder)| (rules.name.to_owned(), infer(column, rules));
        Ok((columns.par_iter().zip(read).map(infer).collect(), files))
    }

    /// Rules of a column, by the first file, or by the text of the companion if the first holds sparse numbers.
    pub(super) fn rules<'s>(&'s self, name: &'s str, hint: Hint, known: Option<Notation>) -> ColumnRules<'s> {
        let files = self.parts[..1].iter().chain(&self.companion).map(|file| file.reader.header());
        let mut detected =
            files.filter(|header| header.first_rows.is_some()).filter_map(|header| header.detected.as_ref());
        let is_stored = self.header().detected.is_none();
        let spec = if is_stored { &self.spec } else { detected.next().unwrap_or(&self.spec) };
        ColumnRules { hint, known, ..ColumnRules::new(name, spec, is_stored) }
    }

    /// Rules of those columns that the companion file has, with their names there.
    fn in_companion<'s>(&'s self, columns: &[ColumnRules<'s>]) -> Vec<ColumnRules<'s>> {
        let own = |column: &ColumnRules<'s>| {
            let (name, _) = self.companion_names.iter().find(|(_, shown)| shown == column.name)?;
            Some(ColumnRules { name, is_single: false, ..column.clone() })
        };
        columns.iter().filter_map(own).collect()
    }

    /// Concatenates the columns of all files, and appends those of the companion file, with each file's number of rows.
    fn read_columns<'s>(&'s self, wanted: &[ColumnRules<'s>]) -> Result<(Vec<ColumnBuilder>, RowsOfFiles)> {
        let in_companion = self.in_companion(wanted);
        let (mut columns, files) = self.read_parts(&wanted[..wanted.len() - in_companion.len()])?;
        if let Some(file) = self.companion.as_ref().filter(|_| !in_companion.is_empty()) {
            let (more, companion_rows) = file.read(&in_companion)?;
            let rows: usize = files.iter().map(|(_, rows)| *rows).sum();
            if rows != companion_rows {
                let message = format!("it has {companion_rows} rows, and the data beside it have {rows}");
                return Err(unreadable(&file.path, message));
            }
            columns.extend(more);
        }
        Ok((columns, files))
    }

    fn read_parts<'s>(&'s self, wanted: &[ColumnRules<'s>]) -> Result<(Vec<ColumnBuilder>, RowsOfFiles)> {
        let (mut all, mut files) = (Vec::new(), RowsOfFiles::new());
        for part in &self.parts {
            let (columns, rows) = part.read(wanted)?;
            files.push((part.path.clone(), rows));
            if files.len() == 1 {
                all = columns;
                continue;
            }
            for ((ColumnRules { name, .. }, column), more) in wanted.iter().zip(&mut all).zip(columns) {
                if !column.append(more) {
                    let message =
                        format!("column `{name}` is of another type than in {}", self.parts[0].path.display());
                    return Err(unreadable(&part.path, message));
                }
            }
        }
        Ok((all, files))
    }
}

/// Whether each column looks numeric in the first rows of all texts.
fn look_like_numbers(files: &[TableFile], columns: &[ColumnRules<'_>]) -> Vec<bool> {
    let mut all = vec![true; columns.len()];
    for header in files.iter().map(|file| file.reader.header()) {
        let (places, Some(rows)) = (places(&header.names), &header.first_rows) else { continue };
        for (all, rules) in all.iter_mut().zip(columns) {
            let are_numbers =
                |&index: &usize| rows.iter().all(|row| row.get(index).is_none_or(|cell| rules.number(cell).is_some()));
            *all &= places.get(rules.name).is_some_and(are_numbers);
        }
    }
    all
}
