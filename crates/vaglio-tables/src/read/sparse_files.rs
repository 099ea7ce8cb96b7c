//! Sparse matrix files: svmlight's text, SciPy's `.npz` and Matrix Market's `.mtx`.
//!
//! A file is parsed when it is opened, into columns that are stored sparse if that halves their bytes. A NaN entry is a
//! missing cell; duplicate entries are added up if the format says so.

mod matrix_market;
mod svmlight;
#[cfg(test)]
mod tests;

use super::binary_formats;
use super::cell::CellSyntax;
use super::column_builder::{ColumnBuilder, NumberColumn, RawColumn};
use super::reader::{CellFormat, FileHeader, FileReader, WantedColumn};
use super::table_file::ReadOptions;
use super::{places, system, unreadable};
use crate::budget::Budget;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result, SparseNumbers};

/// Format of a sparse matrix file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SparseFormat {
    Svmlight,
    Npz,
    MatrixMarket,
}

impl SparseFormat {
    /// Format by a file's extension.
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension {
            "svm" | "libsvm" | "svmlight" => Some(SparseFormat::Svmlight),
            "npz" => Some(SparseFormat::Npz),
            "mtx" => Some(SparseFormat::MatrixMarket),
            _ => None,
        }
    }
}

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
/// Remedy for a table that is too large.
pub(super) const SMALLER: &str = "read a smaller file, or raise the limit";

impl SparseTable {
    /// Parses the bytes of a file. Cost O(bytes + columns).
    ///
    /// # Errors
    /// [`Error::Unreadable`] with the line or part of the file at fault; [`Error::NonFinite`] for infinities.
    pub fn new(path: &Path, bytes: &[u8], format: SparseFormat, how: ReadOptions<'_>) -> Result<Self> {
        let budget = how.budget;
        match format {
            SparseFormat::Svmlight => svmlight::read(path, bytes, how.spec.first_index, budget),
            SparseFormat::MatrixMarket => SparseTable::unnamed(path, matrix_market::read(path, bytes, budget)?, budget),
            SparseFormat::Npz => SparseTable::unnamed(path, binary_formats::npz(path, bytes, budget)?, budget),
        }
    }

    /// Names the columns of a matrix: by the lines of the text file next to it, or x1, x2, ….
    fn unnamed(path: &Path, entries: Triplets, budget: Budget) -> Result<Self> {
        let count = entries.shape[1];
        let names = match names_beside(path, count)? {
            Some(names) => super::checked_names(path, names)?,
            None => (1..=count).map(numbered).collect(),
        };
        let rows = entries.shape[0];
        let columns = entries.columns(path, &names, budget)?;
        let header = FileHeader { names, aside: Vec::new(), cells: CellFormat::Sparse(None) };
        Ok(SparseTable { path: path.to_owned(), header, columns, written: Vec::new(), rows })
    }
}

impl FileReader for SparseTable {
    fn header(&self) -> &FileHeader {
        &self.header
    }

    fn digest(&self) -> Result<blake3::Hash> {
        Err(Error::Shape("the format keeps no bytes to hash".into()))
    }

    fn widen(&mut self, names: &[&str]) {
        match self.header.cells {
            CellFormat::Sparse(Some(1)) if names.contains(&"x0") => warn_of_base(&self.path),
            CellFormat::Sparse(Some(_)) => {}
            _ => return,
        }
        let number = |name: &str| name.strip_prefix('x')?.parse::<u32>().ok().filter(|k| numbered(*k as usize) == name);
        let known: std::collections::HashSet<&str> = self.header.names.iter().map(String::as_str).collect();
        let is_new = |name: &&&str| number(name).is_some() && !known.contains(**name);
        let new: Vec<String> = names.iter().filter(is_new).map(|name| (*name).to_owned()).collect();
        let at = self.columns.len();
        self.columns.extend(new.iter().map(|_| SparseNumbers::new(self.rows, Vec::new(), Vec::new())));
        self.header.names.splice(at..at, new);
    }

    /// Text columns are read as numbers while their cells are numbers.
    fn read(&self, wanted: &[WantedColumn<'_>], rules: &CellSyntax, _: Budget) -> Result<Vec<ColumnBuilder>> {
        let places = places(&self.header.names);
        let column = |wanted: &WantedColumn<'_>| match places.get(wanted.name) {
            Some(&place) if place < self.columns.len() => as_growing(&self.columns[place]),
            Some(&place) => {
                let empty = || ColumnBuilder::Raw(RawColumn::default());
                let mut column =
                    if wanted.as_numbers { ColumnBuilder::Numbers(NumberColumn::default()) } else { empty() };
                let rules = rules.column(wanted.name);
                self.written[place - self.columns.len()].cells().for_each(|cell| column.push(cell, rules));
                column
            }
            None => ColumnBuilder::Sparse(SparseNumbers::new(self.rows, Vec::new(), Vec::new())),
        };
        Ok(wanted.iter().map(column).collect())
    }

    fn look_like_numbers(&self, names: &[&str], rules: &CellSyntax) -> Vec<bool> {
        let places = places(&self.header.names);
        let looks = |name: &&str| {
            let (place, rules) = (places.get(name), rules.column(name));
            let place = place.and_then(|place| place.checked_sub(self.columns.len()));
            place.is_none_or(|place| self.written[place].cells().all(|cell| rules.number(cell).is_some()))
        };
        names.iter().map(looks).collect()
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
fn as_growing(column: &SparseNumbers) -> ColumnBuilder {
    let mut is_whole = true;
    column.view().for_each(|_, value| is_whole &= !value.is_nan());
    if is_whole {
        return ColumnBuilder::Sparse(column.clone());
    }
    let mut all = NumberColumn::default();
    for value in column.view().to_vec() {
        if value.is_nan() { all.push_missing("nan") } else { all.push(value) }
    }
    ColumnBuilder::Numbers(all)
}

/// Name of a column by its number.
fn numbered(number: usize) -> String {
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
    let text = std::fs::read_to_string(&beside).map_err(|error| system(&beside, error))?;
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

/// Matrix entries by row and column, in any order.
#[derive(Debug, Default)]
pub(super) struct Triplets {
    /// Numbers of rows and columns of the matrix.
    shape: [usize; 2],
    rows: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// Whether duplicate entries are added up; otherwise they are rejected.
    pub adds: bool,
}

/// Bytes of an entry while columns are built, and of a column without its entries, including its name.
const ENTRY: usize = 2 * (2 * size_of::<u32>() + size_of::<f64>());
const COLUMN: usize = size_of::<SparseNumbers>() + size_of::<String>() + 32;
/// Maximum number of entries preallocated: a file may claim more than it has.
const ROOM: usize = 1 << 24;
/// Maximum number of rows and of columns.
const MOST: usize = u32::MAX as usize;

impl Triplets {
    /// Creates an empty matrix of a shape, with room for about `entries`. Checks the memory limit first.
    ///
    /// # Errors
    /// Fails for a matrix without rows or columns, or with more than 2³² of either; [`Error::Setting`] at
    /// `limits.memory`.
    pub fn new(path: &Path, shape: [usize; 2], entries: usize, budget: Budget) -> Result<Self> {
        for (count, what) in shape.iter().zip(["rows", "columns"]) {
            if *count == 0 || *count > MOST {
                return Err(unreadable(path, format!("it has {count} {what}, and from 1 to {MOST} are read")));
            }
        }
        let bytes = ENTRY as f64 * entries as f64 + COLUMN as f64 * shape[1] as f64;
        budget.need(bytes, path.display(), SMALLER)?;
        let room = entries.min(ROOM);
        let (rows, columns, values) = (Vec::with_capacity(room), Vec::with_capacity(room), Vec::with_capacity(room));
        Ok(Triplets { shape, rows, columns, values, adds: false })
    }

    /// Adds an entry.
    pub fn push(&mut self, row: usize, column: usize, value: f64) {
        self.rows.push(row as u32);
        self.columns.push(column as u32);
        self.values.push(value);
    }

    /// Builds the columns. Cost O(entries + columns), plus sorting if rows are unordered.
    ///
    /// # Errors
    /// [`Error::NonFinite`] for an infinity; [`Error::Unreadable`] for duplicate entries that are not added up.
    fn columns(self, path: &Path, names: &[String], budget: Budget) -> Result<Vec<SparseNumbers>> {
        let Triplets { shape: [rows, columns], rows: of_rows, columns: of_columns, values, adds } = self;
        budget.need((of_rows.len() * ENTRY) as f64 / 2.0, path.display(), SMALLER)?;
        let mut starts = vec![0usize; columns + 1];
        of_columns.iter().for_each(|&column| starts[column as usize + 1] += 1);
        (0..columns).for_each(|column| starts[column + 1] += starts[column]);
        let mut next = starts.clone();
        let mut sorted = vec![(0u32, 0.0f64); values.len()];
        for ((&row, &column), &value) in of_rows.iter().zip(&of_columns).zip(&values) {
            let place = &mut next[column as usize];
            sorted[*place] = (row, value);
            *place += 1;
        }
        drop((of_rows, of_columns, values, next));
        let mut all = Vec::with_capacity(columns);
        for (own, name) in starts.windows(2).zip(names) {
            let entries = &mut sorted[own[0]..own[1]];
            if !entries.is_sorted_by_key(|(row, _)| *row) {
                entries.sort_by_key(|(row, _)| *row);
            }
            let (mut own, mut numbers) = (Vec::with_capacity(entries.len()), Vec::<f64>::with_capacity(entries.len()));
            for &(row, value) in entries.iter() {
                match numbers.last_mut() {
                    Some(last) if own.last() == Some(&row) && adds => *last += value,
                    Some(_) if own.last() == Some(&row) => {
                        let message = format!("row {}, column `{name}`: it has two entries", row + 1);
                        return Err(unreadable(path, message));
                    }
                    _ => {
                        own.push(row);
                        numbers.push(value);
                    }
                }
            }
            if let Some(at) = numbers.iter().position(|value| value.is_infinite()) {
                let count = numbers.iter().filter(|value| value.is_infinite()).count();
                let (row, value, file) = (own[at] as usize + 1, numbers[at].to_string(), Some(path.to_owned()));
                return Err(Error::NonFinite { row, column: name.clone(), value, count, file, remedy: None });
            }
            all.push(SparseNumbers::new(rows, own, numbers));
        }
        Ok(all)
    }
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
