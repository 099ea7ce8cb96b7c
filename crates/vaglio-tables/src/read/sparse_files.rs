//! Sparse matrix files: svmlight's text, SciPy's `.npz` and Matrix Market's `.mtx`.
//!
//! A file is parsed when it is opened, into columns that are stored sparse if that halves their bytes. A NaN entry is a
//! missing cell; duplicate entries are added up if the format says so.

mod matrix_market;
mod svmlight;
use super::binary_formats;
use super::bytes::FileKind;
use super::cell::ColumnRules;
use super::column_builder::{ColumnBuilder, RawColumn};
use super::reader::{ChunkReader, FileHeader, Take};
use super::triplets::Triplets;
use super::{places, read_error, unreadable};
use crate::ReadSpec;
use crate::budget::Budget;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result, SparseNumbers};

/// A parsed sparse file.
#[derive(Debug)]
pub(super) struct SparseTable {
    path: PathBuf,
    /// Header, with text columns last.
    header: FileHeader,
    columns: Vec<SparseNumbers>,
    /// Columns with every cell written: svmlight's labels and queries.
    written: Vec<RawColumn>,
    rows: usize,
}

/// Names of the columns of svmlight's labels and queries.
const LABEL: &str = "target";
const QUERY: &str = "qid";
const IS_QUERY: &str = "it says which query a row belongs to; to keep these together name it in data.groups";

impl SparseTable {
    /// Parses the bytes of a file. Cost O(bytes + columns).
    ///
    /// # Errors
    /// [`Error::Unreadable`] with the line or part of the file at fault; [`Error::NonFinite`] for infinities.
    pub fn new(path: &Path, bytes: &[u8], kind: FileKind, spec: &ReadSpec, budget: Budget) -> Result<Self> {
        match kind {
            FileKind::Svmlight => svmlight::read(path, bytes, spec, budget),
            FileKind::MatrixMarket => {
                SparseTable::with_column_names(path, matrix_market::read(path, bytes, budget)?, spec)
            }
            _ => SparseTable::with_column_names(path, binary_formats::npz(path, bytes, budget)?, spec),
        }
    }

    /// Names the columns of a matrix: by the lines of the text file next to it, or x1, x2, ….
    fn with_column_names(path: &Path, entries: Triplets, spec: &ReadSpec) -> Result<Self> {
        let count = entries.shape[1];
        let names = match names_beside(path, count)? {
            Some(names) => super::check_names(path, names)?,
            None => (1..=count).map(column_name).collect(),
        };
        let rows = entries.shape[0];
        let columns = entries.columns(path, &names)?;
        let detected = Some(ReadSpec { first_index: None, ..spec.clone() });
        let header = FileHeader { names, detected, ..FileHeader::default() };
        Ok(SparseTable { path: path.to_owned(), header, columns, written: Vec::new(), rows })
    }
}

impl ChunkReader for SparseTable {
    fn header(&self) -> &FileHeader {
        &self.header
    }

    fn widen(&mut self, names: &[&str]) {
        match self.header.detected.as_ref().and_then(|detected| detected.first_index) {
            Some(1) if names.contains(&"x0") => warn_of_base(&self.path),
            Some(_) => {}
            None => return,
        }
        let number =
            |name: &str| name.strip_prefix('x')?.parse::<u32>().ok().filter(|k| column_name(*k as usize) == name);
        let known: std::collections::HashSet<&str> = self.header.names.iter().map(String::as_str).collect();
        let is_new = |name: &&&str| number(name).is_some() && !known.contains(**name);
        let new: Vec<String> = names.iter().filter(is_new).map(|name| (*name).to_owned()).collect();
        let at = self.columns.len();
        self.columns.extend(new.iter().map(|_| SparseNumbers::new(self.rows, Vec::new(), Vec::new())));
        self.header.names.splice(at..at, new);
    }

    fn read(&self, wanted: &[ColumnRules<'_>], _rows: usize, take: Take<'_>) -> Result<()> {
        let places = places(&self.header.names);
        let column = |wanted: &ColumnRules<'_>| match places.get(wanted.name) {
            Some(&place) if place < self.columns.len() => as_builder(&self.columns[place]),
            Some(&place) => ColumnBuilder::Raw(self.written[place - self.columns.len()].clone()),
            None => ColumnBuilder::Sparse(SparseNumbers::new(self.rows, Vec::new(), Vec::new())),
        };
        take(wanted.iter().map(column).collect()).map(drop)
    }
}

/// Warns of an svmlight file without the index 0 when others have it.
fn warn_of_base(path: &Path) {
    let path = path.display();
    tracing::warn!(
        "{path}: no row has the index 0, from which other rows count; if this file counts from 1 all its columns are shifted: write all \
         files alike"
    );
}

/// Column of numbers; with missing cells it becomes dense.
fn as_builder(column: &SparseNumbers) -> ColumnBuilder {
    let mut is_whole = true;
    column.view().for_each(|_, value| is_whole &= !value.is_nan());
    if is_whole {
        return ColumnBuilder::Sparse(column.clone());
    }
    ColumnBuilder::Numbers(column.into())
}

/// Name of a column by its number.
fn column_name(number: usize) -> String {
    format!("x{number}")
}

/// Reads column names from the text file next to the data, of the same name with `.txt` as its extension.
///
/// # Errors
/// Fails if the file cannot be read or its lines do not match the matrix's columns.
fn names_beside(path: &Path, columns: usize) -> Result<Option<Vec<String>>> {
    let beside = if path.extension().is_some_and(|e| e == "gz" || e == "bz2" || e == "zst") {
        path.with_extension("").with_extension("txt")
    } else {
        path.with_extension("txt")
    };
    if !beside.is_file() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&beside).map_err(read_error(&beside))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let names: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    if names.len() != columns {
        let message = format!(
            "it stands beside {} for the names of its {columns} columns, a line each, and has {} lines; correct it, or \
             rename it if it is something else",
            path.display(),
            names.len()
        );
        return Err(unreadable(&beside, message));
    }
    Ok(Some(names))
}

/// Error at a line, which counts from 1.
fn at_line(path: &Path, line: usize, message: impl std::fmt::Display) -> Error {
    unreadable(path, format!("line {line}: {message}"))
}

/// Trimmed lines of a file as text, with their numbers from 1.
///
/// # Errors
/// Fails for a line that is not UTF-8.
fn lines<'b>(path: &Path, bytes: &'b [u8]) -> impl Iterator<Item = Result<(usize, &'b str)>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').enumerate().map(move |(at, line)| match std::str::from_utf8(line) {
        Ok(text) => Ok((at + 1, text.trim())),
        Err(_) => Err(at_line(path, at + 1, "the text is not UTF-8")),
    })
}
