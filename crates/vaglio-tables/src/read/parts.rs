//! One file of a table: its header is known, its rows are read on demand.

#[cfg(feature = "parquet")]
use super::arrow_files::{ColumnarFile, Hashing};
use super::bytes::{FileKind, is_utf8, text};
use super::cell::Rules;
use super::column_builder::{ColumnBuilder, RawColumn};
use super::csv_file::CsvFile;
use super::digest::hashed;
use super::head::{Head, head};
use super::load::{Loaded, load};
use super::paths;
use super::precision::Singles;
use super::sparse::SparseTable;
use crate::budget::Budget;
use crate::{DigestKind, ReadSpec};
#[cfg(feature = "parquet")]
use arrow_array::RecordBatch;
#[cfg(feature = "parquet")]
use arrow_schema::SchemaRef;
use std::path::PathBuf;
use vaglio_core::Result;

#[derive(Debug)]
pub(super) struct TableFile {
    pub path: PathBuf,
    pub body: Body,
    /// Columns of one value named by the file's folders.
    fixed: Vec<(String, Option<String>)>,
    /// Hash of the file, if its bytes differ from those in memory.
    digest: Option<[u8; 32]>,
    /// Size of the file relative to the part that was read.
    pub times: f64,
}

#[derive(Debug)]
pub(super) enum Body {
    Text(Box<CsvFile>),
    Sparse(Box<SparseTable>),
    #[cfg(feature = "parquet")]
    Stored(Box<ColumnarFile>),
}

/// Settings, memory limit and hash function for reading files.
#[derive(Clone, Copy)]
pub(super) struct ReadOptions<'s> {
    pub spec: &'s ReadSpec,
    pub budget: Budget,
    pub digest: DigestKind,
}

impl TableFile {
    pub fn open(path: PathBuf, is_partitioned: bool, how: ReadOptions<'_>) -> Result<Self> {
        let ReadOptions { spec, budget, digest: hash } = how;
        let fixed = if is_partitioned { paths::partitions(&path) } else { Vec::new() };
        #[cfg(feature = "parquet")]
        if let Some(stored) = ColumnarFile::on_disk(&path, budget)? {
            return Ok(TableFile { path, body: Body::Stored(Box::new(stored)), fixed, digest: None, times: 1.0 });
        }
        let Loaded { bytes, kind, mut digest } = load(&path, budget, hash)?;
        let body = match kind {
            FileKind::Text => {
                let is_utf8 = is_utf8(&bytes, spec);
                digest = digest.or_else(|| (!is_utf8).then(|| hashed(hash, &bytes)));
                Body::Text(Box::new(CsvFile::new(&path, text(&path, bytes, spec, budget)?, spec, budget, hash)?))
            }
            FileKind::Sparse(format) => {
                digest = digest.or_else(|| Some(hashed(hash, &bytes)));
                Body::Sparse(Box::new(SparseTable::new(&path, &bytes, format, how)?))
            }
            #[cfg(feature = "parquet")]
            kind => Body::Stored(Box::new(ColumnarFile::new(&path, bytes, kind, budget)?)),
            #[cfg(not(feature = "parquet"))]
            _ => {
                let message = "this program was built without Parquet and Arrow; convert the file to .csv or build with \
                               the feature `parquet`";
                return Err(super::unreadable(&path, message));
            }
        };
        Ok(TableFile { path, body, fixed, digest, times: 1.0 })
    }

    /// Opens the first `most` bytes of a file.
    pub fn sampled(path: PathBuf, is_partitioned: bool, how: ReadOptions<'_>, most: u64) -> Result<Self> {
        let ReadOptions { spec, budget, digest: hash } = how;
        let (body, times) = match head(&path, spec, most) {
            Some(Head::Text(bytes, times)) => (
                Body::Text(Box::new(CsvFile::new(&path, text(&path, bytes, spec, budget)?, spec, budget, hash)?)),
                times,
            ),
            #[cfg(feature = "parquet")]
            Some(Head::Stored(kind)) => {
                let stored = ColumnarFile::sampled(&path, kind, budget)?;
                let times = stored.times();
                (Body::Stored(Box::new(stored)), times)
            }
            _ => return TableFile::open(path, is_partitioned, how),
        };
        let fixed = if is_partitioned { paths::partitions(&path) } else { Vec::new() };
        Ok(TableFile { path, body, fixed, digest: None, times })
    }

    /// Wraps record batches of a program.
    ///
    /// # Errors
    /// Returns the errors of [`ColumnarFile::of_batches`].
    #[cfg(feature = "parquet")]
    pub fn from_batches(path: PathBuf, schema: SchemaRef, batches: Vec<RecordBatch>, budget: Budget) -> Result<Self> {
        let stored = ColumnarFile::from_batches(&path, schema, batches, budget)?;
        Ok(TableFile { path, body: Body::Stored(Box::new(stored)), fixed: Vec::new(), digest: None, times: 1.0 })
    }

    /// Stores numbers in single precision, except in some columns.
    pub fn keep_in_single(&mut self, singles: &Singles) {
        match &mut self.body {
            Body::Text(sheet) => sheet.singles = singles.clone(),
            Body::Sparse(_) => {}
            #[cfg(feature = "parquet")]
            Body::Stored(stored) => stored.singles = singles.clone(),
        }
    }

    fn own_names(&self) -> &[String] {
        match &self.body {
            Body::Text(sheet) => &sheet.names,
            Body::Sparse(table) => &table.names,
            #[cfg(feature = "parquet")]
            Body::Stored(stored) => &stored.names,
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.own_names().iter().chain(self.fixed.iter().map(|(name, _)| name)).cloned().collect()
    }

    pub fn aside(&self) -> &[(String, &'static str)] {
        match &self.body {
            Body::Text(sheet) => &sheet.aside,
            Body::Sparse(table) => &table.aside,
            #[cfg(feature = "parquet")]
            Body::Stored(stored) => &stored.aside,
        }
    }

    pub fn digest(&self, kind: DigestKind) -> Result<[u8; 32]> {
        match (self.digest, &self.body) {
            (Some(digest), _) => Ok(digest),
            (None, Body::Text(sheet)) => Ok(sheet.digest(kind)),
            (None, Body::Sparse(_)) => Err(super::unreadable(&self.path, "it has no hash")),
            #[cfg(feature = "parquet")]
            (None, Body::Stored(stored)) => stored.digest(kind),
        }
    }

    /// Adds columns of zeros with these names, if the format omits columns that are all 0.
    pub fn widen<'n>(&mut self, names: impl IntoIterator<Item = &'n str> + Clone) {
        if let Body::Sparse(table) = &mut self.body {
            table.widen(&self.path, names);
        }
    }

    /// Hashes a file on disk from now on while it is read.
    #[cfg(feature = "parquet")]
    pub fn hash_along(&self, kind: DigestKind) {
        if let Body::Stored(stored) = &self.body {
            stored.hash_along(kind);
        }
    }

    /// Starts a hash of a file on disk.
    #[cfg(feature = "parquet")]
    pub fn hashing(&self, kind: DigestKind) -> Option<Hashing> {
        match &self.body {
            Body::Text(_) | Body::Sparse(_) => None,
            Body::Stored(stored) => stored.hashing(kind),
        }
    }

    /// Reads the columns of these names, including those of its folders.
    pub fn read(
        &self,
        names: &[&str],
        as_numbers: &[bool],
        rules: &Rules,
        budget: Budget,
    ) -> Result<(Vec<ColumnBuilder>, usize)> {
        let fixed = |name: &str| self.fixed.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let (mut own, mut numbers) = (Vec::new(), Vec::new());
        for (name, as_numbers) in names.iter().zip(as_numbers) {
            if fixed(name).is_none() {
                own.push(*name);
                numbers.push(*as_numbers);
            }
        }
        // If only folder columns are wanted, one of the file's gives the number of rows.
        if own.is_empty() {
            own.extend(self.own_names().first().map(String::as_str));
            numbers.push(false);
        }
        let read = match &self.body {
            Body::Text(sheet) => sheet.read(&own, &numbers, rules, budget)?,
            Body::Sparse(table) => table.read(&own, &numbers, rules),
            #[cfg(feature = "parquet")]
            Body::Stored(stored) => stored.read(&own)?,
        };
        let rows = read.first().map_or(0, ColumnBuilder::rows);
        let mut read = read.into_iter();
        let column = |name: &&str| match fixed(name) {
            Some(value) => {
                let value = value.as_deref().unwrap_or_else(|| rules.column(name).missing());
                let mut column = RawColumn::default();
                (0..rows).for_each(|_| column.push(value));
                ColumnBuilder::Raw(column)
            }
            None => read.next().unwrap_or(ColumnBuilder::Raw(RawColumn::default())),
        };
        Ok((names.iter().map(column).collect(), rows))
    }
}
