//! One file of a table, with the columns that its folders name.

use super::binary_formats;
use super::bytes::{FileKind, kind, text};
use super::cell::ColumnRules;
use super::column_builder::{ColumnBuilder, RawColumn};
use super::csv_file::CsvFile;
use super::digest::{Hashing, file_hash};
use super::head::FileStart;
use super::loaded_file::load;
use super::paths;
use super::reader::ChunkReader;
use super::sparse_files::SparseTable;
use crate::ReadSpec;
use crate::budget::Budget;
use blake3::Hash;
use std::fs::Metadata;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};

/// A file of a table, with the columns that its folders name.
#[derive(Debug)]
pub(super) struct TableFile {
    pub path: PathBuf,
    pub reader: Box<dyn ChunkReader>,
    /// Columns of one value named by the file's folders.
    fixed: Vec<(String, Option<String>)>,
    /// Metadata of a regular file when it was opened.
    before: Option<Metadata>,
    /// Hash of a stream.
    digest: Option<Hash>,
    /// Number of rows after which reading ends, if they are a sample.
    enough: usize,
    /// Size of a text relative to the part that is in memory.
    times: f64,
}

/// Minimum bytes by which a text on disk is judged; more if lines are long.
const HEAD: usize = 1 << 20;
/// Cells of a sample of Parquet and Arrow, and its minimum number of rows.
const SAMPLED: usize = 2_000_000;
const LEAST: usize = 1000;
/// Columns of a sample that are read at once.
const TOGETHER: usize = 256;

/// Files with their numbers of rows.
pub(super) type RowsOfFiles = Vec<(PathBuf, usize)>;

impl TableFile {
    /// A table without a file, called `path` in messages.
    pub fn new(path: PathBuf, reader: Box<dyn ChunkReader>) -> Self {
        TableFile { path, reader, fixed: Vec::new(), before: None, digest: None, enough: usize::MAX, times: 1.0 }
    }

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
        let before = std::fs::metadata(&path).ok().filter(Metadata::is_file);
        let sample = most.map_or(Ok(None), |most| sample(&path, spec, budget, most))?;
        let file = match sample {
            Some((reader, times)) => {
                let rows = SAMPLED / reader.header().names.len().max(1);
                let enough = if reader.header().rows.is_some() { rows.max(LEAST) } else { usize::MAX };
                TableFile { enough, times, ..TableFile::new(path, reader) }
            }
            None => {
                let (reader, digest) = whole(&path, spec, budget)?;
                TableFile { digest, ..TableFile::new(path, reader) }
            }
        };
        Ok(TableFile { fixed, before, ..file })
    }

    /// Opens a file and leaves its rows on disk; `None` if it must be read whole, which then reports any fault.
    pub fn on_disk(path: &Path, spec: &ReadSpec, budget: Budget) -> Option<Self> {
        let before = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        let (kind, start) = FileStart::open(path, HEAD)?;
        let reader: Box<dyn ChunkReader> = match kind {
            FileKind::Text => Box::new(CsvFile::on_disk(path, start, before.clone(), spec, budget)?),
            kind if kind.is_sparse() || start.is_compressed => return None,
            kind => binary_formats::on_disk(path, kind, budget).ok()??,
        };
        Some(TableFile { before: Some(before), ..TableFile::new(path.to_owned(), reader) })
    }

    /// Names of the columns: of the file, then of its folders.
    pub fn names(&self) -> Vec<String> {
        self.reader.header().names.iter().chain(self.fixed.iter().map(|(name, _)| name)).cloned().collect()
    }

    /// Hash of the file, which may be computed after it is dropped.
    pub fn hash(&self) -> Result<Hashing<Hash>> {
        match (&self.before, self.digest) {
            (Some(before), _) => file_hash(&self.path, before.clone()),
            (None, Some(hash)) => Ok(Box::new(move || Ok(hash))),
            (None, None) => Err(Error::Shape("a table without a file has no hash".into())),
        }
    }

    /// Estimated number of all rows of the file, given the number that was read.
    pub fn all_rows(&self, read: usize) -> f64 {
        match self.reader.header().rows {
            Some(rows) if self.enough < usize::MAX => rows as f64,
            _ => read as f64 * self.times,
        }
    }

    /// Reads columns of the file and its folders. Also returns the number of rows.
    pub fn read<'s>(&'s self, wanted: &[ColumnRules<'s>]) -> Result<(Vec<ColumnBuilder>, usize)> {
        let fixed = |name: &str| self.fixed.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let mut own: Vec<ColumnRules<'_>> =
            wanted.iter().filter(|column| fixed(column.name).is_none()).cloned().collect();
        // If only folder columns are wanted, one of the file's gives the number of rows.
        if own.is_empty() {
            let first = self.reader.header().names.first();
            own.extend(first.map(|name| ColumnRules { name, ..ColumnRules::default() }));
        }
        let is_sample = self.enough < usize::MAX;
        let mut read: Vec<ColumnBuilder> = Vec::new();
        // A sample has a page of each column in memory.
        for own in own.chunks(if is_sample { TOGETHER } else { usize::MAX }) {
            let mut some: Vec<ColumnBuilder> = Vec::new();
            self.reader.read(own, self.enough, &mut |part| {
                if some.is_empty() {
                    some = part;
                } else {
                    for (column, more) in some.iter_mut().zip(part) {
                        let _alike = column.append(more);
                    }
                }
                let is_enough = some.first().is_some_and(|column| column.rows() >= self.enough);
                Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            read.extend(some.into_iter().map(|column| if is_sample { column.into_sparse_if_rare() } else { column }));
        }
        let rows = read.first().map_or(0, ColumnBuilder::rows);
        let mut read = read.into_iter();
        let column = |wanted: &ColumnRules<'_>| match fixed(wanted.name) {
            Some(value) => {
                let value = value.as_deref().unwrap_or_else(|| wanted.missing());
                let mut column = RawColumn::default();
                (0..rows).for_each(|_| column.push(value));
                ColumnBuilder::Raw(column)
            }
            None => read.next().unwrap_or(ColumnBuilder::Raw(RawColumn::default())),
        };
        Ok((wanted.iter().map(column).collect(), rows))
    }
}

/// Reader of a file, and the hash of a stream.
fn whole(path: &Path, spec: &ReadSpec, budget: Budget) -> Result<(Box<dyn ChunkReader>, Option<Hash>)> {
    if let Some(reader) = binary_formats::on_disk(path, FileKind::Parquet, budget)? {
        return Ok((reader, None));
    }
    let (bytes, digest) = load(path, budget)?;
    Ok((in_memory(path, bytes, spec, budget)?, digest))
}

/// Reader of decompressed bytes.
fn in_memory(path: &Path, bytes: Vec<u8>, spec: &ReadSpec, budget: Budget) -> Result<Box<dyn ChunkReader>> {
    match kind(path, &bytes)? {
        FileKind::Text => Ok(Box::new(CsvFile::new(path, text(path, bytes, spec, budget)?, spec, budget)?)),
        kind if kind.is_sparse() => Ok(Box::new(SparseTable::new(path, &bytes, kind, spec, budget)?)),
        kind => binary_formats::in_memory(path, bytes, kind, budget),
    }
}

/// Reader of a sample of a file, and the size of a text relative to the sample. `None` if the file must be read whole:
/// it is small, sparse or compressed without being text, or it has a fault.
fn sample(path: &Path, spec: &ReadSpec, budget: Budget, most: u64) -> Result<Option<(Box<dyn ChunkReader>, f64)>> {
    let start = FileStart::open(path, most as usize).filter(|(_, start)| !start.is_whole);
    let Some((kind, start)) = start else { return Ok(None) };
    match kind {
        FileKind::Text => {
            let Some((bytes, times)) = start.lines(spec) else { return Ok(None) };
            Ok(Some((in_memory(path, bytes, spec, budget)?, times)))
        }
        kind if kind.is_sparse() || start.is_compressed => Ok(None),
        kind => Ok(binary_formats::on_disk(path, kind, budget)?.map(|reader| (reader, 1.0))),
    }
}
