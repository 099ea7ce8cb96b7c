//! One file of a table, with the columns that its folders name.

use super::binary_formats;
use super::bytes::{FileKind, is_utf8, text};
use super::cell::CellSyntax;
use super::column_builder::{ColumnBuilder, RawColumn};
use super::csv_file::CsvFile;
use super::head::{FileStart, head};
use super::loaded_file::{LoadedFile, load};
use super::paths;
use super::reader::{FileReader, ReadOptions, WantedColumn};
use super::sparse_files::SparseTable;
use crate::budget::Budget;
use blake3::{Hash, hash};
use std::path::PathBuf;
use vaglio_core::Result;

/// A file of a table, with the columns that its folders name.
#[derive(Debug)]
pub(super) struct TableFile {
    pub path: PathBuf,
    pub reader: Box<dyn FileReader>,
    /// Columns of one value named by the file's folders.
    pub fixed: Vec<(String, Option<String>)>,
    /// Hash of the file, if its bytes differ from those in memory.
    pub digest: Option<Hash>,
    /// Size of the file relative to the part that was read.
    pub times: f64,
}

/// Files with their numbers of rows.
pub(super) type RowsOfFiles = Vec<(PathBuf, usize)>;

impl TableFile {
    pub fn open(path: PathBuf, is_partitioned: bool, how: ReadOptions<'_>) -> Result<Self> {
        let ReadOptions { spec, budget } = how;
        let fixed = if is_partitioned { paths::partitions(&path) } else { Vec::new() };
        if let Some(reader) = binary_formats::on_disk(&path, budget)? {
            return Ok(TableFile { path, reader, fixed, digest: None, times: 1.0 });
        }
        let LoadedFile { bytes, kind, mut digest } = load(&path, budget)?;
        let reader: Box<dyn FileReader> = match kind {
            FileKind::Text => {
                let is_utf8 = is_utf8(&bytes, spec);
                digest = digest.or_else(|| (!is_utf8).then(|| hash(&bytes)));
                Box::new(CsvFile::new(&path, text(&path, bytes, spec, budget)?, spec, budget)?)
            }
            FileKind::Sparse(format) => {
                digest = digest.or_else(|| Some(hash(&bytes)));
                Box::new(SparseTable::new(&path, &bytes, format, how)?)
            }
            kind => binary_formats::in_memory(&path, bytes, kind, budget)?,
        };
        Ok(TableFile { path, reader, fixed, digest, times: 1.0 })
    }

    /// Opens a sample of a file: about `most` bytes of text, or the first rows of Parquet and Arrow. Opens the whole
    /// file if it cannot be sampled.
    pub fn sampled(path: PathBuf, is_partitioned: bool, how: ReadOptions<'_>, most: u64) -> Result<Self> {
        let ReadOptions { spec, budget } = how;
        let sample: Option<(Box<dyn FileReader>, f64)> = match head(&path, most) {
            Some((FileKind::Text, start)) => match start.lines(&path, spec) {
                Some((bytes, times)) => {
                    let text = text(&path, bytes, spec, budget)?;
                    Some((Box::new(CsvFile::new(&path, text, spec, budget)?), times))
                }
                None => None,
            },
            Some((kind, FileStart { codec: None, .. })) => binary_formats::sampled(&path, kind, budget)?,
            _ => None,
        };
        let Some((reader, times)) = sample else { return TableFile::open(path, is_partitioned, how) };
        let fixed = if is_partitioned { paths::partitions(&path) } else { Vec::new() };
        Ok(TableFile { path, reader, fixed, digest: None, times })
    }

    /// Names of the columns: of the file, then of its folders.
    pub fn names(&self) -> Vec<String> {
        self.reader.header().names.iter().chain(self.fixed.iter().map(|(name, _)| name)).cloned().collect()
    }

    pub fn digest(&self) -> Result<Hash> {
        self.digest.map_or_else(|| self.reader.digest(), Ok)
    }

    /// Reads columns of the file and its folders. Also returns the number of rows.
    pub fn read(
        &self,
        wanted: &[WantedColumn<'_>],
        rules: &CellSyntax,
        budget: Budget,
    ) -> Result<(Vec<ColumnBuilder>, usize)> {
        let fixed = |name: &str| self.fixed.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let mut own: Vec<WantedColumn<'_>> =
            wanted.iter().filter(|column| fixed(column.name).is_none()).copied().collect();
        // If only folder columns are wanted, one of the file's gives the number of rows.
        if own.is_empty() {
            let first = self.reader.header().names.first();
            own.extend(first.map(|name| WantedColumn { name, as_numbers: false, is_single: false }));
        }
        let read = self.reader.read(&own, rules, budget)?;
        let rows = read.first().map_or(0, ColumnBuilder::rows);
        let mut read = read.into_iter();
        let column = |wanted: &WantedColumn<'_>| match fixed(wanted.name) {
            Some(value) => {
                let value = value.as_deref().unwrap_or_else(|| rules.column(wanted.name).missing());
                let mut column = RawColumn::default();
                (0..rows).for_each(|_| column.push(value));
                ColumnBuilder::Raw(column)
            }
            None => read.next().unwrap_or(ColumnBuilder::Raw(RawColumn::default())),
        };
        Ok((wanted.iter().map(column).collect(), rows))
    }
}
