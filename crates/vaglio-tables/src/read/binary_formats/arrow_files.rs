//! Parquet files on disk or in memory, and Arrow files in memory, read by column or by batch.

mod blocks;
mod columns;
mod file_bytes;
mod footer;
mod guard;
mod thrift;

use crate::ReadSpec;
use crate::budget::Budget;
use crate::read::bytes::FileKind;
use crate::read::cell::ColumnRules;
use crate::read::column_builder::ColumnBuilder;
use crate::read::reader::{ChunkReader, FileHeader, Take};
use crate::read::table_file::TableFile;
use crate::read::{FEWER, TableSource, check_names, places, unreadable};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use blocks::ArrowBlocks;
use bytes::Bytes;
use columns::{LESS, append_array, empty_column, is_text, plain_type};
use file_bytes::{FileBytes, PARQUET};
use footer::{check_codecs, check_rows, footer, rows, with_dictionaries};
use guard::catch_panics;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use rayon::prelude::*;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vaglio_core::{Cause, Error, Result};

/// A Parquet or Arrow file.
#[derive(Debug)]
pub(super) struct ColumnarFile {
    file: FileBytes,
    schema: SchemaRef,
    format: ColumnarFormat,
    header: FileHeader,
}

#[derive(Debug)]
enum ColumnarFormat {
    /// Parquet metadata, and the number of rows it claims.
    Parquet(ArrowReaderMetadata, usize),
    Arrow(Arc<ArrowBlocks>),
    /// Batches passed in memory by a program.
    Batches(Vec<RecordBatch>),
}

impl ColumnarFormat {
    /// Number of rows that the file claims.
    fn rows(&self) -> usize {
        match self {
            ColumnarFormat::Parquet(_, rows) => *rows,
            ColumnarFormat::Arrow(blocks) => blocks.lengths().fold(0, usize::saturating_add),
            ColumnarFormat::Batches(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
        }
    }
}

/// Maximum number of Parquet columns decoded in parallel. One page of each is in memory. Opening the file for one column
/// costs as much as its number of columns.
const TOGETHER: usize = 32;
/// Maximum cells decoded in parallel, except that at least `FEW` columns are.
const CELLS: usize = 1 << 18;
const FEW: usize = 4;

/// Bytes of cells between checks of the memory limit.
const ASK: usize = 1 << 22;

/// Rows decoded at a time: those of some columns stay in cache.
const BATCH: usize = 1 << 13;

/// A wanted column with its place in the file.
type WantedField<'w> = (usize, &'w ColumnRules<'w>);

/// Batches of rows in file order.
type RecordBatches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Opens a file of this kind and leaves its columns on disk; `None` for a file of another kind, and for a pipe.
///
/// # Errors
/// Returns the errors of [`in_memory`].
pub(in crate::read) fn on_disk(path: &Path, kind: FileKind, budget: Budget) -> Result<Option<Box<dyn ChunkReader>>> {
    let magic = if kind == FileKind::Parquet { PARQUET } else { &[] };
    let Some(file) = FileBytes::on_disk(path, magic, budget)? else { return Ok(None) };
    Ok(Some(Box::new(ColumnarFile::open_file(file, kind)?)))
}

/// Opens a file in memory.
///
/// # Errors
/// Fails for a file that: is damaged; has no columns or duplicate names; claims more cells than the memory limit allows.
pub(in crate::read) fn in_memory(
    path: &Path,
    bytes: Vec<u8>,
    kind: FileKind,
    budget: Budget,
) -> Result<Box<dyn ChunkReader>> {
    Ok(Box::new(ColumnarFile::open_file(FileBytes::in_memory(path, bytes, budget), kind)?))
}

impl TableSource {
    /// Wraps Arrow batches of one schema, read like an Arrow file. Messages call the table `name`; it has no hash. Cost
    /// O(columns).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Unreadable`] for no columns, duplicate names, and a batch of another schema.
    pub fn from_batches(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>, spec: &ReadSpec) -> Result<Self> {
        let (path, budget) = (PathBuf::from(name), Budget::for_machine());
        if let Some(place) = batches.iter().position(|batch| batch.schema() != schema) {
            return Err(unreadable(&path, format!("batch {} has another schema than the table", place + 1)));
        }
        let file = FileBytes::in_memory(&path, Bytes::new(), budget);
        let file = ColumnarFile::with_format(file, ColumnarFormat::Batches(batches), schema)?;
        Ok(TableSource::from_files(vec![TableFile::new(path, Box::new(file))], spec, budget))
    }
}

impl ColumnarFile {
    fn open_file(file: FileBytes, kind: FileKind) -> Result<Self> {
        let path = Arc::clone(&file.path);
        catch_panics(&path, || {
            let (format, schema) = if kind == FileKind::Parquet {
                let metadata = footer(&file)?;
                let (rows, schema) = (rows(&path, metadata.metadata())?, metadata.schema().clone());
                (ColumnarFormat::Parquet(with_dictionaries(metadata), rows), schema)
            } else {
                let blocks = ArrowBlocks::new(&file)?;
                let schema = blocks.schema.clone();
                (ColumnarFormat::Arrow(Arc::new(blocks)), schema)
            };
            ColumnarFile::with_format(file, format, schema)
        })
    }

    fn with_format(file: FileBytes, format: ColumnarFormat, schema: SchemaRef) -> Result<Self> {
        let path = &file.path;
        if schema.fields().is_empty() {
            return Err(unreadable(path, "has no columns"));
        }
        let names = check_names(path, schema.fields().iter().map(|field| field.name().clone()).collect())?;
        let texts = schema.fields().iter().filter(|field| is_text(plain_type(field)));
        let texts = texts.map(|field| field.name().clone()).collect();
        let is_index = |name: &&String| name.starts_with("__index_level_") && name.ends_with("__");
        let aside = names.iter().filter(is_index).map(|name| (name.clone(), "it numbers the rows")).collect();
        let unsupported = schema.fields().iter().filter_map(|field| {
            empty_column(path, field, 0, false).err()?;
            let what = plain_type(field).to_string();
            let what = what.split('(').next().unwrap_or_default();
            Some((field.name().clone(), format!("it is of type {what}, not numbers, truth values, text or dates")))
        });
        let (unsupported, rows) = (unsupported.collect(), Some(format.rows()));
        let header = FileHeader { names, aside, texts, unsupported, rows, ..FileHeader::default() };
        Ok(ColumnarFile { file, schema, format, header })
    }

    /// Passes whole columns to `take`, decoded on all threads. Returns like [`ColumnarFile::read_rows`].
    fn read_whole(&self, wanted: &[WantedField<'_>], take: Take<'_>) -> Result<Option<usize>> {
        let rows = self.format.rows();
        let mut together = wanted.len().max(1);
        if let ColumnarFormat::Parquet(..) = &self.format {
            // At least one byte per cell; the rest is checked while reading.
            let (path, cells) = (self.file.path.display(), rows as f64 * wanted.len() as f64);
            let what = format_args!("{path}: {rows} rows of {} columns, as its footer says,", wanted.len());
            self.file.budget.need(cells, what, FEWER)?;
            together = (CELLS / rows.max(1)).clamp(FEW, TOGETHER);
        }
        // Data of a program keep their form.
        let is_file = !matches!(self.format, ColumnarFormat::Batches(_));
        let read = |some: &[WantedField<'_>]| -> Result<Vec<ColumnBuilder>> {
            let mut read: Vec<ColumnBuilder> = Vec::new();
            let found = self.read_rows(some, usize::MAX, &mut |columns| {
                let sparse = |column: ColumnBuilder| if is_file { column.into_sparse_if_rare() } else { column };
                read = columns.into_iter().map(sparse).collect();
                Ok(ControlFlow::Continue(()))
            })?;
            check_rows(&self.file.path, rows, found.unwrap_or_default())?;
            Ok(read)
        };
        let parts: Result<Vec<Vec<ColumnBuilder>>> = wanted.par_chunks(together).map(read).collect();
        take(parts?.into_iter().flatten().collect()).map(|flow| flow.is_continue().then_some(rows))
    }

    /// Passes columns to `take`, `rows` rows at a time. Returns the number of all rows, or `None` if `take` ended the
    /// reading.
    fn read_rows(&self, wanted: &[WantedField<'_>], rows: usize, take: Take<'_>) -> Result<Option<usize>> {
        let path = &self.file.path;
        let mut sorted: Vec<usize> = wanted.iter().map(|(index, _)| *index).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let expected = rows.min(self.format.rows());
        let empty = |(index, column): &WantedField<'_>| {
            empty_column(path, self.schema.field(*index), expected, column.is_single)
        };
        let empty = || wanted.iter().map(empty).collect::<Result<Vec<ColumnBuilder>>>();
        let (mut columns, mut found, mut pending, mut taken) = (empty()?, 0, 0, 0.0);
        let mut batches = catch_panics(path, || self.batches(&sorted, rows.min(BATCH)))?;
        while let Some(batch) = catch_panics(path, || batches.next().transpose())? {
            let mut first = 0;
            while first < batch.num_rows() {
                let count = (rows - pending).min(batch.num_rows() - first);
                taken += size_of::<f64>() as f64 * count as f64 * wanted.len() as f64;
                if taken > ASK as f64 {
                    self.file.budget.need(taken, format_args!("{}, while it is read,", path.display()), LESS)?;
                    taken = 0.0;
                }
                let append = |(column, (index, wanted)): (&mut ColumnBuilder, &WantedField<'_>)| {
                    let cells = batch.column(sorted.partition_point(|other| other < index)).slice(first, count);
                    append_array(column, &self.file, wanted.name, &cells)
                };
                catch_panics(path, || columns.iter_mut().zip(wanted).try_for_each(append))?;
                (first, found, pending) = (first + count, found + count, pending + count);
                if pending == rows {
                    pending = 0;
                    if take(std::mem::replace(&mut columns, empty()?))?.is_break() {
                        return Ok(None);
                    }
                }
            }
        }
        if pending > 0 && take(columns)?.is_break() {
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// Batches of columns in increasing order; those of Parquet have at most `rows` rows.
    fn batches(&self, indices: &[usize], rows: usize) -> Result<RecordBatches> {
        Ok(match &self.format {
            ColumnarFormat::Parquet(metadata, _) => {
                let pages = self.file.for_pages();
                let mask = ProjectionMask::roots(metadata.parquet_schema(), indices.iter().copied());
                let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(pages.clone(), metadata.clone());
                let reader =
                    builder.with_projection(mask).with_batch_size(rows).build().map_err(file_error(&pages.path))?;
                Box::new(reader.map(move |batch| {
                    batch.map_err(|error| pages.limit_error().unwrap_or_else(|| file_error(&pages.path)(error)))
                }))
            }
            ColumnarFormat::Arrow(blocks) => Box::new(blocks.read(&self.file, indices.to_vec())),
            ColumnarFormat::Batches(batches) => {
                let projected = batches.iter().map(|batch| batch.project(indices));
                Box::new(
                    projected.map(|batch| batch.map_err(file_error(&self.file.path))).collect::<Vec<_>>().into_iter(),
                )
            }
        })
    }
}

impl ChunkReader for ColumnarFile {
    fn header(&self) -> &FileHeader {
        &self.header
    }

    fn read(&self, wanted: &[ColumnRules<'_>], rows: usize, take: Take<'_>) -> Result<()> {
        let (path, places) = (&self.file.path, places(&self.header.names));
        let wanted: Vec<WantedField<'_>> =
            wanted.iter().filter_map(|column| Some((places.get(column.name).copied()?, column))).collect();
        if let ColumnarFormat::Parquet(metadata, _) = &self.format {
            let roots: HashSet<usize> = wanted.iter().map(|(index, _)| *index).collect();
            check_codecs(path, metadata.metadata(), |root| roots.contains(&root))?;
        }
        let found =
            if rows < usize::MAX { self.read_rows(&wanted, rows, take) } else { self.read_whole(&wanted, take) };
        // A file modified meanwhile may look damaged.
        self.file.check_unchanged()?;
        let Some(found) = found? else { return Ok(()) };
        check_rows(path, self.format.rows(), found)?;
        if found == 0 { Err(unreadable(path, "has columns and no rows")) } else { Ok(()) }
    }
}

/// Turns the error of another crate about a file into one of ours.
fn file_error<E: Into<Box<dyn std::error::Error + Send + Sync>>>(path: &Path) -> impl Fn(E) -> Error {
    move |error| unreadable(path, Cause::from_error(error))
}
