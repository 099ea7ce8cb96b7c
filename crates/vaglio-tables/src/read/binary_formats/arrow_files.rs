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
use crate::read::cell::CellSyntax;
use crate::read::column_builder::ColumnBuilder;
use crate::read::reader::{CellFormat, ChunkReader, FileHeader, Take, WantedColumn};
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
        let cells = CellFormat::Typed { texts, unsupported: unsupported.collect(), rows: format.rows() };
        let header = FileHeader { names, aside, cells };
        Ok(ColumnarFile { file, schema, format, header })
    }

    /// Reads columns, and stores the numbers of some in single precision.
    fn columns(&self, indices: &[usize], singles: &HashSet<usize>) -> Result<Vec<ColumnBuilder>> {
        let read = |indices: &[usize]| catch_panics(&self.file.path, || self.by_arrays(indices, singles));
        let ColumnarFormat::Parquet(metadata, rows) = &self.format else { return read(indices) };
        // At least one byte per cell; the rest is checked while reading.
        let (path, cells) = (self.file.path.display(), *rows as f64 * indices.len() as f64);
        let what = format_args!("{path}: {rows} rows of {} columns, as its footer says,", indices.len());
        self.file.budget.need(cells, what, FEWER)?;
        let wanted: HashSet<&usize> = indices.iter().collect();
        check_codecs(&self.file.path, metadata.metadata(), |root| wanted.contains(&root))?;
        let together = (CELLS / rows.max(&1)).clamp(FEW, TOGETHER);
        let parts: Result<Vec<_>> = indices.par_chunks(together).map(read).collect();
        let columns: Vec<ColumnBuilder> = parts?.into_iter().flatten().collect();
        columns.iter().try_for_each(|column| check_rows(&self.file.path, *rows, column.rows()))?;
        Ok(columns)
    }

    /// Reads columns by arrays, in the order of `indices`.
    fn by_arrays(&self, indices: &[usize], singles: &HashSet<usize>) -> Result<Vec<ColumnBuilder>> {
        let rows = self.format.rows();
        let empty =
            |index: &usize| empty_column(&self.file.path, self.schema.field(*index), rows, singles.contains(index));
        let mut columns = indices.iter().map(empty).collect::<Result<Vec<_>>>()?;
        let most = match &self.format {
            // One more shows that the footer says too few.
            ColumnarFormat::Parquet(_, rows) => rows.saturating_add(1),
            _ => usize::MAX,
        };
        let (sorted, places) = sort_distinct(indices);
        let mut taken = 0.0;
        for batch in self.batches(&sorted, BATCH)? {
            let batch = batch?;
            taken += size_of::<f64>() as f64 * batch.num_rows() as f64 * columns.len() as f64;
            if taken > ASK as f64 {
                self.file.budget.need(taken, format_args!("{}, while it is read,", self.file.path.display()), LESS)?;
                taken = 0.0;
            }
            for ((column, index), place) in columns.iter_mut().zip(indices).zip(&places) {
                append_array(column, &self.file, &self.header.names[*index], batch.column(*place))?;
            }
            if columns.first().is_some_and(|column| column.rows() >= most) {
                break;
            }
        }
        // Data of a program keep their form.
        let is_file = !matches!(self.format, ColumnarFormat::Batches(_));
        Ok(columns.into_iter().map(|column| if is_file { column.into_sparse_if_rare() } else { column }).collect())
    }

    /// Reads columns, at most `rows` rows at a time.
    fn read_chunks(&self, indices: &[usize], singles: &HashSet<usize>, rows: usize, take: Take<'_>) -> Result<()> {
        let (sorted, places) = sort_distinct(indices);
        if let ColumnarFormat::Parquet(metadata, _) = &self.format {
            check_codecs(&self.file.path, metadata.metadata(), |root| sorted.binary_search(&root).is_ok())?;
        }
        let cells = size_of::<f64>() as f64 * rows.min(self.format.rows()) as f64 * indices.len() as f64;
        self.file.budget.need(cells, format_args!("{}, while it is read,", self.file.path.display()), LESS)?;
        let mut batches = catch_panics(&self.file.path, || self.batches(&sorted, rows))?;
        let mut found = 0;
        while let Some(batch) = catch_panics(&self.file.path, || batches.next().transpose())? {
            for first in (0..batch.num_rows()).step_by(rows) {
                let count = rows.min(batch.num_rows() - first);
                let column = |(index, place): (&usize, &usize)| {
                    let field = self.schema.field(*index);
                    let mut column = empty_column(&self.file.path, field, 0, singles.contains(index))?;
                    let cells = batch.column(*place).slice(first, count);
                    append_array(&mut column, &self.file, field.name(), &cells)?;
                    Ok(column)
                };
                let columns = catch_panics(&self.file.path, || indices.iter().zip(&places).map(column).collect())?;
                found += count;
                if take(columns)?.is_break() {
                    return Ok(());
                }
            }
        }
        self.file.check_unchanged()?;
        check_rows(&self.file.path, self.format.rows(), found)?;
        if found == 0 { Err(unreadable(&self.file.path, NO_ROWS)) } else { Ok(()) }
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

    fn read(&self, wanted: &[WantedColumn<'_>], _: &CellSyntax, rows: usize, take: Take<'_>) -> Result<()> {
        let places = places(&self.header.names);
        let place = |column: &WantedColumn<'_>| places.get(column.name).copied();
        let indices: Vec<usize> = wanted.iter().filter_map(place).collect();
        let singles: HashSet<usize> = wanted.iter().filter(|column| column.is_single).filter_map(place).collect();
        if rows < usize::MAX {
            return self.read_chunks(&indices, &singles, rows, take);
        }
        let columns = self.columns(&indices, &singles);
        // A file modified meanwhile may look damaged.
        self.file.check_unchanged()?;
        let columns = columns?;
        if columns.first().is_some_and(|column| column.rows() == 0) {
            return Err(unreadable(&self.file.path, NO_ROWS));
        }
        take(columns).map(drop)
    }
}

/// Message on a file without rows.
const NO_ROWS: &str = "has columns and no rows";

/// Columns without repetition in increasing order, and the position among them of each.
fn sort_distinct(indices: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut sorted = indices.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let places = indices.iter().map(|index| sorted.partition_point(|other| other < index)).collect();
    (sorted, places)
}

/// Turns the error of another crate about a file into one of ours.
fn file_error<E: Into<Box<dyn std::error::Error + Send + Sync>>>(path: &Path) -> impl Fn(E) -> Error {
    move |error| unreadable(path, Cause::from_error(error))
}
