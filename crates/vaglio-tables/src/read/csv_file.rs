//! A text file: its header, and its rows. In memory they are read in parallel parts, from disk some at a time.

use super::bytes::is_utf8;
use super::cell::{ColumnRules, plain};
use super::column_builder::ColumnBuilder;
use super::dialect::Dialect;
use super::head::{FileStart, open_decompressed};
use super::inference::nearly_all;
use super::loaded_file::check_unchanged;
use super::reader::{ChunkReader, FileHeader, Take};
use super::records::{RECORD, RecordFault, RecordReader, STEP};
use super::{FEWER, SMALLER, check_names, places, read_error, unreadable};
use crate::budget::Budget;
use crate::{Decimal, Delimiter, ReadSpec};
use csv::StringRecord;
use rayon::prelude::*;
use std::fs::Metadata;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use vaglio_core::{Cause, Error, Result};

/// A text file.
#[derive(Debug)]
pub(super) struct CsvFile {
    path: PathBuf,
    text: String,
    /// Metadata of the file when it was opened, if `text` is its beginning only and rows are read from disk.
    on_disk: Option<Metadata>,
    dialect: Dialect,
    /// Byte offset of the first row.
    body: usize,
    header: FileHeader,
    budget: Budget,
}

/// Rows by which columns are judged before all are read.
const SAMPLE: usize = 200;
/// Minimum bytes of a part that is read in parallel.
const PART: usize = 1 << 22;

/// Bytes read without a check of the memory limit.
const SMALL: usize = 1 << 20;

/// Reasons for leaving out a column without a name.
const INDEX: &str = "it has no name and numbers or names the rows";
const EMPTY: &str = "it has neither a name nor a value";

impl CsvFile {
    /// Parses the header and first rows of a text.
    ///
    /// # Errors
    /// Fails for a missing header, duplicate names, or a line longer than the widths of its columns.
    pub fn new(path: &Path, mut text: String, spec: &ReadSpec, budget: Budget) -> Result<Self> {
        let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut dialect = Dialect::detect(&text[start..], spec);
        let mut delimiter = Delimiter::Is(dialect.delimiter);
        if dialect.has_layout(spec) {
            budget.need(1.1 * text.len() as f64, format_args!("{}, laid out,", path.display()), SMALLER)?;
            delimiter = if spec.widths.is_none() { Delimiter::Blanks } else { Delimiter::Auto };
            text = dialect.to_tabs(&text[start..], spec).map_err(|wrong| unreadable(path, wrong))?;
            (start, dialect.delimiter) = (0, b'\t');
        }
        check_header(path, &text[start..], dialect, budget)?;
        let mut records = RecordReader::new(dialect, &text.as_bytes()[start..], usize::MAX);
        let fault = |line: u64, cause: Cause| unreadable(path, cause.reword(|what| format!("line {line}{what}")));
        let mut names: Vec<String> = match records.read_one(&[]).map_err(|cause| fault(1, cause))? {
            true => records.record.iter().map(|name| name.trim().to_owned()).collect(),
            false => Vec::new(),
        };
        if names.iter().all(String::is_empty) && names.len() < 2 {
            return Err(unreadable(path, "is empty; expected a header and rows"));
        }
        let body = start + records.reader.position().byte() as usize;
        let mut sample = Vec::new();
        while sample.len() < SAMPLE {
            let line = records.reader.position().line();
            if !records.read_one(&[]).map_err(|cause| fault(line, cause))? {
                break;
            }
            sample.push(records.record.iter().map(|cell| cell.trim().to_owned()).collect::<Vec<String>>());
        }
        // The header may omit the name of a leading column of row names.
        if !sample.is_empty() && sample.iter().all(|row| row.len() == names.len() + 1) {
            names.insert(0, String::new());
        }
        let (names, aside) = name_unnamed_columns(names, &sample);
        let names = check_names(path, names)?;
        let decimal = match spec.decimal {
            Decimal::Auto if has_decimal_commas(&names, &sample, dialect, spec) => Decimal::Comma,
            Decimal::Auto => Decimal::Point,
            known => known,
        };
        let detected = Some(ReadSpec { delimiter, decimal, ..spec.clone() });
        let header = FileHeader { names, aside, detected, first_rows: Some(sample), ..FileHeader::default() };
        Ok(CsvFile { path: path.to_owned(), text, on_disk: None, dialect, body, header, budget })
    }

    /// Parses the header and first rows of a file with this metadata, and leaves the others on disk. Returns `None` for
    /// a text that must be read whole: it is not UTF-8, has no header, or no one-character delimiter.
    pub fn on_disk(
        path: &Path,
        mut start: FileStart,
        before: Metadata,
        spec: &ReadSpec,
        budget: Budget,
    ) -> Option<Self> {
        loop {
            // UTF-16 letters may pass for UTF-8, with zeros between them.
            if !is_utf8(&start.bytes, spec) || start.bytes.contains(&0) {
                return None;
            }
            let last_line = memchr::memrchr(b'\n', &start.bytes).map_or(0, |at| at + 1);
            let lines = if start.is_whole { start.bytes.len() } else { last_line };
            if lines > 0 || start.is_whole {
                let text = String::from_utf8(start.bytes[..lines].to_vec()).ok()?;
                let file = CsvFile::new(path, text, spec, budget).ok()?;
                let FileHeader { detected: Some(detected), first_rows: Some(first_rows), .. } = &file.header else {
                    return None;
                };
                // Cells without such a delimiter were converted.
                if !matches!(detected.delimiter, Delimiter::Is(_)) {
                    return None;
                }
                if start.is_whole || first_rows.len() == SAMPLE {
                    return Some(CsvFile { on_disk: Some(before), ..file });
                }
            }
            if start.bytes.len() > RECORD {
                return None;
            }
            start.read(start.bytes.len())?;
        }
    }

    /// Cuts the body between lines, if no cell can contain a line break.
    fn parts(&self) -> Vec<Range<usize>> {
        let body = &self.text.as_bytes()[self.body..];
        let is_quoted = memchr::memchr(self.dialect.quote, body).is_some();
        let size = if is_quoted { body.len() } else { PART };
        let (mut parts, mut start) = (Vec::new(), 0);
        while start < body.len() {
            let least = (start + size).min(body.len());
            let end = memchr::memchr(b'\n', &body[least..]).map_or(body.len(), |at| least + at + 1);
            parts.push(self.body + start..self.body + end);
            start = end;
        }
        parts
    }

    fn fault(&self, place: String, fault: RecordFault) -> Error {
        fault.what.map_or_else(|error| error, |cause| unreadable(&self.path, cause.reword(|what| place + what)))
    }

    /// Line number of the record at or after a byte; blank lines before it are skipped.
    fn line(&self, byte: usize) -> usize {
        let blank = self.text.as_bytes()[byte..].iter().take_while(|b| matches!(b, b'\r' | b'\n'));
        let breaks = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
        1 + breaks(&self.text.as_bytes()[..byte]) + blank.filter(|b| **b == b'\n').count()
    }
}

impl ChunkReader for CsvFile {
    fn header(&self) -> &FileHeader {
        &self.header
    }

    fn read(&self, wanted: &[ColumnRules<'_>], rows: usize, take: Take<'_>) -> Result<()> {
        let places = places(&self.header.names);
        // Columns that are read alike share rules, which then stay in the cache.
        let sources: Vec<(Option<usize>, &ColumnRules<'_>)> = wanted
            .iter()
            .map(|own| (places.get(own.name).copied(), wanted.iter().find(|rules| rules.is_like(own)).unwrap_or(own)))
            .collect();
        let push = |columns: &mut [ColumnBuilder], record: &StringRecord| {
            for (column, (index, rules)) in columns.iter_mut().zip(&sources) {
                column.push(index.and_then(|index| record.get(index)).unwrap_or_default(), rules);
            }
        };
        let found = match &self.on_disk {
            Some(before) => self.read_stream(before, rows, wanted, &push, take)?,
            None => self.read_parts(wanted, &push, take)?,
        };
        if found == 0 { Err(unreadable(&self.path, "has a header and no rows")) } else { Ok(()) }
    }
}

/// Appends a record to columns.
type Push<'p> = &'p (dyn Fn(&mut [ColumnBuilder], &StringRecord) + Sync);

impl CsvFile {
    /// Reads the text in memory in parts, on all threads. Returns its number of rows, or of those before `take` ended.
    fn read_parts(&self, wanted: &[ColumnRules<'_>], push: Push<'_>, take: Take<'_>) -> Result<usize> {
        let check_limit = || self.budget.check_limit(self.path.display(), FEWER);
        let read = |part: &Range<usize>| {
            let mut columns: Vec<ColumnBuilder> = wanted.iter().map(ColumnBuilder::new).collect();
            let first_check = if part.len() > SMALL { 0 } else { usize::MAX };
            let mut records = RecordReader::new(self.dialect, &self.text.as_bytes()[part.clone()], first_check);
            let rows = records.read(usize::MAX, &self.header.names, check_limit, |record| push(&mut columns, record));
            (columns, rows.map_err(|fault| RecordFault { byte: part.start + fault.byte, ..fault }))
        };
        let mut rows = 0;
        // In rounds, so that finished parts are passed on while others are not read yet.
        for turn in self.parts().chunks(rayon::current_num_threads().max(1) * 2) {
            let turn: Vec<_> = turn.par_iter().map(read).collect();
            for (columns, count) in turn {
                rows += count.map_err(|fault| {
                    let (line, row) = (self.line(fault.byte), rows + fault.row + 1);
                    self.fault(format!("line {line} (data row {row})"), fault)
                })?;
                if take(columns)?.is_break() {
                    return Ok(rows);
                }
            }
        }
        Ok(rows)
    }

    /// Reads the rows from disk, at most `rows` at a time. Returns their number, or of those before `take` ended.
    fn read_stream(
        &self,
        before: &Metadata,
        rows: usize,
        wanted: &[ColumnRules<'_>],
        push: Push<'_>,
        take: Take<'_>,
    ) -> Result<usize> {
        let failed = read_error(&self.path);
        let (_, mut text, _) = open_decompressed(&self.path).map_err(failed)?;
        std::io::copy(&mut text.by_ref().take(self.body as u64), &mut std::io::sink()).map_err(failed)?;
        let check_limit = || self.budget.check_limit(self.path.display(), "keep fewer columns");
        let mut records = RecordReader::new(self.dialect, text, STEP);
        let mut found = 0;
        loop {
            let mut columns: Vec<ColumnBuilder> = wanted.iter().map(ColumnBuilder::new).collect();
            let read = records.read(rows, &self.header.names, check_limit, |record| push(&mut columns, record));
            let read = read.map_err(|fault| self.fault(format!("data row {}", found + fault.row + 1), fault))?;
            if read == 0 {
                break;
            }
            found += read;
            if take(columns)?.is_break() {
                return Ok(found);
            }
        }
        let after = std::fs::metadata(&self.path).map_err(failed)?;
        check_unchanged(&self.path, before, &after, before.len()).map(|()| found)
    }
}

/// Names columns without a name. Also returns those that carry no information about the rows, with the reason.
fn name_unnamed_columns(mut names: Vec<String>, sample: &[Vec<String>]) -> (Vec<String>, Vec<(String, &'static str)>) {
    let mut aside = Vec::new();
    for index in 0..names.len() {
        if !names[index].is_empty() {
            continue;
        }
        let cells: Vec<&str> = sample.iter().filter_map(|row| row.get(index)).map(String::as_str).collect();
        let numbers: Option<Vec<i64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
        let runs = numbers.is_some_and(|numbers| numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
        let differ = || cells.iter().collect::<std::collections::HashSet<_>>().len() == cells.len();
        let (word, why) = match () {
            () if cells.iter().all(|cell| cell.is_empty()) => (format!("column_{}", index + 1), Some(EMPTY)),
            () if runs || (index == 0 && differ()) => ("index".to_owned(), Some(INDEX)),
            () => (format!("column_{}", index + 1), None),
        };
        let mut name = word.clone();
        for number in 2.. {
            if !names.contains(&name) {
                break;
            }
            name = format!("{word}_{number}");
        }
        aside.extend(why.map(|why| (name.clone(), why)));
        names[index] = name;
    }
    (names, aside)
}

/// Whether a column shows that the decimal mark is a comma: nearly all its cells are numbers only then, and some comma
/// does not separate thousands.
fn has_decimal_commas(names: &[String], sample: &[Vec<String>], dialect: Dialect, spec: &ReadSpec) -> bool {
    names.iter().enumerate().any(|(index, name)| {
        let rules = ColumnRules::new(name, spec, false);
        // With semicolons as delimiters, `1,234` has decimals.
        let is_decimal = |cell: &str| dialect.delimiter == b';' || rules.number_in_known_notation(cell).is_none();
        let cells = sample.iter().filter_map(|row| row.get(index)).map(String::as_str);
        let cells: Vec<&str> = cells.filter(|cell| !rules.is_missing(cell)).collect();
        let numbers = || cells.iter().filter(|cell| plain(cell, true).is_some());
        nearly_all(numbers().count(), cells.len()) && numbers().any(|cell| cell.contains(',') && is_decimal(cell))
    })
}

/// Checks the memory limit for the header's names, and for the cells by which columns are judged.
fn check_header(path: &Path, text: &str, dialect: Dialect, budget: Budget) -> Result<()> {
    let bytes = text.as_bytes();
    let header = &bytes[..memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len())];
    let names = 1 + memchr::memchr_iter(dialect.delimiter, header).count();
    let cells = names.saturating_mul(SAMPLE).min(bytes.len());
    let what = format_args!("{}, whose header has {names} names,", path.display());
    budget.need((names * NAME + cells * CELL) as f64, what, SMALLER)
}

/// Bytes of a name in all lists and sets, and of a cell of the sample.
const NAME: usize = 400;
const CELL: usize = 56;
