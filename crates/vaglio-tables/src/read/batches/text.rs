//! Rows of a text file, read in batches.

use super::super::bytes::is_utf8;
use super::super::column_builder::{ColumnBuilder, RawColumn};
use super::super::csv_file::CsvFile;
use super::super::head::FileStart;
use super::super::reader::{ChunkReader, FileHeader, FileReader};
use super::super::record_limits::RECORD;
use super::super::records::{RecordFaultKind, RecordReader, STEP};
use super::super::{places, unreadable};
use crate::ReadSpec;
use crate::budget::Budget;
use csv::ErrorKind;
use std::io::{Cursor, Read};
use std::path::Path;
use vaglio_core::{Cause, Error, Result};

/// Minimum bytes by which header, delimiter and decimal mark are detected; more if lines are long.
pub(super) const HEAD: usize = 1 << 20;

/// A text file with its first lines, and the reader of its rows.
pub(super) struct TextRows {
    /// Parsed first lines.
    sheet: CsvFile,
    is_compressed: bool,
    records: RecordReader<Box<dyn Read + Send>>,
    indices: Vec<usize>,
}

impl TextRows {
    /// Parses the first lines; `None` if the text must be read as a whole: it is not UTF-8, has no header, or no
    /// one-character delimiter.
    pub fn new(path: &Path, mut start: FileStart, spec: &ReadSpec, budget: Budget) -> Option<Self> {
        loop {
            // UTF-16 letters may pass for UTF-8, with zeros between them.
            if !is_utf8(&start.bytes, spec) || start.bytes.contains(&0) {
                return None;
            }
            let last_line = memchr::memrchr(b'\n', &start.bytes).map_or(0, |at| at + 1);
            let lines = if start.is_whole { start.bytes.len() } else { last_line };
            if lines > 0 || start.is_whole {
                let text = String::from_utf8(start.bytes[..lines].to_vec()).ok()?;
                let sheet = CsvFile::new(path, text, spec, budget).ok()?;
                if sheet.is_laid_out() {
                    return None;
                }
                if start.is_whole || sheet.is_judged() {
                    let mut head = sheet.body().to_vec();
                    head.extend_from_slice(&start.bytes[lines..]);
                    let all: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(start.rest));
                    let records = RecordReader::new(sheet.dialect, all, STEP);
                    let is_compressed = start.codec.is_some();
                    return Some(TextRows { sheet, is_compressed, records, indices: Vec::new() });
                }
            }
            if start.bytes.len() > RECORD {
                return None;
            }
            start.read(start.bytes.len())?;
        }
    }

    fn failed(&self, row: usize, error: csv::Error) -> Error {
        let message = match error.kind() {
            ErrorKind::Utf8 { err, .. } => {
                let column = self.header().names.get(err.field()).map(|name| format!(", column `{name}`"));
                format!(
                    "data row {}{}: the text is not UTF-8; if it is Latin-1, set data.read.encoding: latin1, or convert \
                     the file to UTF-8",
                    row + 1,
                    column.unwrap_or_default()
                )
            }
            ErrorKind::Io(error) => {
                let what = if self.is_compressed { "decompressed" } else { "read" };
                format!("after data row {row} it cannot be {what}: {error}")
            }
            _ => format!("data row {}: {error}", row + 1),
        };
        unreadable(&self.sheet.path, Cause::new(message, error))
    }
}

impl ChunkReader for TextRows {
    fn header(&self) -> &FileHeader {
        self.sheet.header()
    }

    fn first_cells(&self, name: &str) -> Option<Vec<&str>> {
        Some(self.sheet.sample(name))
    }

    fn start(&mut self, wanted: &[&str], _rows: usize) -> Result<()> {
        let places = places(&self.sheet.header().names);
        self.indices = wanted.iter().filter_map(|name| places.get(name).copied()).collect();
        Ok(())
    }

    fn next(&mut self, first: usize, most: usize) -> Result<Vec<ColumnBuilder>> {
        let mut columns: Vec<RawColumn> = self.indices.iter().map(|_| RawColumn::default()).collect();
        let CsvFile { path, budget, .. } = &self.sheet;
        let held = || budget.held(path.display(), "keep fewer columns");
        let read = self.records.read(most, &self.sheet.header().names, held, |record| {
            for (column, index) in columns.iter_mut().zip(&self.indices) {
                column.push(record.get(*index).unwrap_or_default());
            }
        });
        if let Err(fault) = read {
            let row = first + fault.row;
            return Err(match fault.what {
                RecordFaultKind::Unreadable(error) => self.failed(row, error),
                RecordFaultKind::Odd(message) => unreadable(&self.sheet.path, format!("data row {}{message}", row + 1)),
                RecordFaultKind::TooLarge(error) => error,
            });
        }
        Ok(columns.into_iter().map(ColumnBuilder::Raw).collect())
    }
}
