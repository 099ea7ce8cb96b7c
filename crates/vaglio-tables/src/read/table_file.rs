//! One file of a table, with the columns that its folders name.

use super::binary_formats;
use super::bytes::{FileKind, is_utf8, kind, text};
use super::cell::CellSyntax;
use super::column_builder::{ColumnBuilder, RawColumn};
use super::csv_file::CsvFile;
use super::digest::HashSteps;
use super::head::FileStart;
use super::loaded_file::load;
use super::paths;
use super::reader::{ChunkReader, WantedColumn};
use super::sparse_files::SparseTable;
use crate::ReadSpec;
use crate::budget::Budget;
use blake3::{Hash, hash};
use std::fs::Metadata;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use vaglio_core::Result;

/// A file of a table, with the columns that its folders name.
#[derive(Debug)]
pub(super) struct TableFile {
    pub path: PathBuf,
    pub reader: Box<dyn ChunkReader>,
    /// Columns of one value named by the file's folders.
    pub fixed: Vec<(String, Option<String>)>,
    /// Hash of the file, if its bytes differ from those in memory.
    pub digest: Option<Hash>,
    /// Size of the file relative to the part that was read.
    pub times: f64,
}

/// Minimum bytes by which a text on disk is judged; more if lines are long.
const HEAD: usize = 1 << 20;

/// Files with their numbers of rows.
pub(super) type RowsOfFiles = Vec<(PathBuf, usize)>;

impl TableFile {
    /// Opens a file, or a sample of it if a sample is wanted and possible: about `most` bytes of text, or the first rows
    /// of Parquet and Arrow.
    pub fn open(
        path: PathBuf,
        is_partitioned: bool,
        spec: &ReadSpec,
        budget: Budget,
        most: Option<u64>,
    ) -> Result<Self> {
        let fixed = if is_partitioned { paths::partitions(&path) } else { Vec::new() };
        let sample = most.map_or(Ok(None), |most| sample(&path, spec, budget, most))?;
        let (reader, digest, times) = match sample {
            Some((reader, times)) => (reader, None, times),
            None => {
                let (reader, digest) = whole(&path, spec, budget)?;
                (reader, digest, 1.0)
            }
        };
        Ok(TableFile { path, reader, fixed, digest, times })
    }

    /// Opens a file and leaves its rows on disk; `None` if it must be read whole, which then reports any fault.
    pub fn on_disk(path: &Path, spec: &ReadSpec, budget: Budget) -> Option<Self> {
        let before = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        let (kind, start) = FileStart::open(path, HEAD)?;
        let reader: Box<dyn ChunkReader> = match kind {
            FileKind::Text => Box::new(CsvFile::on_disk(path, start, before, spec, budget)?),
            kind if kind.is_sparse() || start.is_compressed => return None,
            kind => binary_formats::on_disk(path, kind, budget, false).ok()??.0,
        };
        Some(TableFile { path: path.to_owned(), reader, fixed: Vec::new(), digest: None, times: 1.0 })
    }

    /// Names of the columns: of the file, then of its folders.
    pub fn names(&self) -> Vec<String> {
        self.reader.header().names.iter().chain(self.fixed.iter().map(|(name, _)| name)).cloned().collect()
    }

    /// Steps of hashing the file; `None` if the hash is known, or its bytes are dropped with the file.
    pub fn hash_steps(&self) -> Option<HashSteps> {
        if self.digest.is_none() { self.reader.hash_steps() } else { None }
    }

    pub fn digest(&self) -> Result<Hash> {
        self.digest.map_or_else(|| self.reader.digest(), Ok)
    }

    /// Reads columns of the file and its folders. Also returns the number of rows.
    pub fn read(&self, wanted: &[WantedColumn<'_>], rules: &CellSyntax) -> Result<(Vec<ColumnBuilder>, usize)> {
        let fixed = |name: &str| self.fixed.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let mut own: Vec<WantedColumn<'_>> =
            wanted.iter().filter(|column| fixed(column.name).is_none()).copied().collect();
        // If only folder columns are wanted, one of the file's gives the number of rows.
        if own.is_empty() {
            let first = self.reader.header().names.first();
            own.extend(first.map(|name| WantedColumn { name, as_numbers: false, is_single: false }));
        }
        let mut read: Vec<ColumnBuilder> = Vec::new();
        self.reader.read(&own, rules, usize::MAX, &mut |part| {
            if read.is_empty() {
                read = part;
            } else {
                for (column, more) in read.iter_mut().zip(part) {
                    let _alike = column.append(more);
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
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

/// Reader of a file, and the hash of the file if its bytes differ from those in memory.
fn whole(path: &Path, spec: &ReadSpec, budget: Budget) -> Result<(Box<dyn ChunkReader>, Option<Hash>)> {
    if let Some((reader, _)) = binary_formats::on_disk(path, FileKind::Parquet, budget, false)? {
        return Ok((reader, None));
    }
    let (bytes, mut digest) = load(path, budget)?;
    let reader: Box<dyn ChunkReader> = match kind(path, &bytes)? {
        FileKind::Text => {
            let is_utf8 = is_utf8(&bytes, spec);
            digest = digest.or_else(|| (!is_utf8).then(|| hash(&bytes)));
            Box::new(CsvFile::new(path, text(path, bytes, spec, budget)?, spec, budget)?)
        }
        kind if kind.is_sparse() => {
            digest = digest.or_else(|| Some(hash(&bytes)));
            Box::new(SparseTable::new(path, &bytes, kind, spec, budget)?)
        }
        kind => binary_formats::in_memory(path, bytes, kind, budget)?,
    };
    Ok((reader, digest))
}

/// Reader of the beginning of a file, and the size of the file relative to it. `None` if the file must be read whole: it
/// is small, sparse or compressed without being text, or it has a fault.
fn sample(path: &Path, spec: &ReadSpec, budget: Budget, most: u64) -> Result<Option<(Box<dyn ChunkReader>, f64)>> {
    let start = FileStart::open(path, most as usize).filter(|(_, start)| !start.is_whole);
    let Some((kind, start)) = start else { return Ok(None) };
    match kind {
        FileKind::Text => {
            let Some((bytes, times)) = start.lines(path, spec) else { return Ok(None) };
            let file = CsvFile::new(path, text(path, bytes, spec, budget)?, spec, budget)?;
            Ok(Some((Box::new(file), times)))
        }
        kind if kind.is_sparse() || start.is_compressed => Ok(None),
        kind => binary_formats::on_disk(path, kind, budget, true),
    }
}
