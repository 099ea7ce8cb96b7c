//! Parquet files on disk or in memory, and Arrow files in memory, read by column or by batch.

mod columns;
mod decode;
mod direct;
mod footer;
mod messages;
mod pages;
mod rows;
mod thrift;

use super::bytes::FileKind;
use super::column_builder::ColumnBuilder;
use super::guard::guarded;
use super::load::load;
use super::precision::Singles;
use super::{checked_names, places, unreadable};
use crate::DigestKind;
use crate::budget::Budget;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use bytes::Bytes;
pub(super) use columns::GrowingColumn;
use columns::{LESS, plain_type};
pub(super) use decode::{FileBytes, Hashing, PARQUET};
pub(super) use footer::{check_codecs, check_footer, check_rows, footer, with_dictionaries};
use messages::Blocks;
pub(super) use pages::check_pages;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::Length;
use rayon::prelude::*;
pub(super) use rows::ArrowRows;
use std::collections::HashSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vaglio_core::Result;

/// A Parquet or Arrow file.
#[derive(Debug)]
pub(super) struct ColumnarFile {
    path: PathBuf,
    kept: FileBytes,
    /// Minimum number of rows to read, if they are a sample.
    sample: Option<usize>,
    budget: Budget,
    schema: SchemaRef,
    format: Format,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Names of text columns.
    texts: HashSet<String>,
    /// Columns that carry no information about the rows, with the reason.
    pub aside: Vec<(String, &'static str)>,
    /// Columns stored in single precision.
    pub singles: Singles,
}

#[derive(Debug)]
enum Format {
    /// Parquet metadata, and the number of rows it claims.
    Parquet(ArrowReaderMetadata, usize),
    /// Arrow file or stream.
    Arrow(Blocks),
    /// Batches passed in memory by a program.
    Batches(Vec<RecordBatch>),
}

/// Maximum number of Parquet columns decoded in parallel: one page of each is in memory, and opening the file for one
/// column costs as much as its number of columns.
const TOGETHER: usize = 32;
/// Maximum cells decoded in parallel, except that at least `FEW` columns are.
const CELLS: usize = 1 << 18;
const FEW: usize = 4;

/// Cells of a sample, and its minimum number of rows.
const SAMPLED: usize = 2_000_000;
const LEAST: usize = 1000;

/// Bytes of cells between checks of the memory limit.
const ASK: usize = 1 << 22;

/// Rows decoded at a time.
const BATCH: usize = 1 << 15;

impl ColumnarFile {
    /// Reads the metadata of a file in memory.
    ///
    /// # Errors
    /// Fails for a file that is damaged, has no columns or duplicate names, or claims more cells than the memory limit
    /// allows.
    pub fn new(path: &Path, bytes: Vec<u8>, kind: FileKind, budget: Budget) -> Result<Self> {
        let kept = FileBytes::Memory(Bytes::from(bytes));
        guarded(path, || {
            let (format, schema) = match kind {
                FileKind::Parquet => of_parquet(path, &kept, budget)?,
                kind => {
                    let is_stream = kind == FileKind::ArrowStream;
                    let open = if is_stream { Blocks::from_stream } else { Blocks::new };
                    let blocks = open(path, &kept, budget)?;
                    let schema = blocks.schema.clone();
                    (Format::Arrow(blocks), schema)
                }
            };
            ColumnarFile::with_format(path, kept, budget, format, schema)
        })
    }

    /// Wraps record batches of one schema; messages name them by `path`. They have no hash.
    ///
    /// # Errors
    /// Fails for a batch of another schema, and like [`ColumnarFile::new`].
    pub fn from_batches(path: &Path, schema: SchemaRef, batches: Vec<RecordBatch>, budget: Budget) -> Result<Self> {
        if let Some(place) = batches.iter().position(|batch| batch.schema() != schema) {
            return Err(unreadable(path, format!("batch {} has another schema than the table", place + 1)));
        }
        ColumnarFile::with_format(path, FileBytes::Memory(Bytes::new()), budget, Format::Batches(batches), schema)
    }

    /// Reads the metadata of a Parquet file and leaves its columns on disk; `None` for other files.
    ///
    /// # Errors
    /// Returns the errors of [`ColumnarFile::new`].
    pub fn on_disk(path: &Path, budget: Budget) -> Result<Option<Self>> {
        let Some(kept) = FileBytes::on_disk(path, PARQUET)? else { return Ok(None) };
        let stored = || {
            let (format, schema) = of_parquet(path, &kept, budget)?;
            ColumnarFile::with_format(path, kept.clone(), budget, format, schema)
        };
        guarded(path, stored).map(Some)
    }

    /// Samples the first rows of a file.
    ///
    /// # Errors
    /// Returns the errors of [`ColumnarFile::new`].
    pub fn sampled(path: &Path, kind: FileKind, budget: Budget) -> Result<Self> {
        let stored = match ColumnarFile::on_disk(path, budget)? {
            Some(stored) => stored,
            None => ColumnarFile::new(path, load(path, budget, DigestKind::default())?.bytes, kind, budget)?,
        };
        let rows = (SAMPLED / stored.names.len().max(1)).max(LEAST);
        Ok(ColumnarFile { sample: Some(rows), ..stored })
    }

    /// Number of rows of the file divided by the number read.
    pub fn times(&self) -> f64 {
        let Some(most) = self.sample else { return 1.0 };
        let of_batches = |lengths: &[usize]| {
            let mut read = 0;
            for length in lengths {
                read += if read < most { *length } else { 0 };
            }
            lengths.iter().sum::<usize>() as f64 / read.max(1) as f64
        };
        match &self.format {
            Format::Parquet(_, rows) => *rows as f64 / most.min(*rows).max(1) as f64,
            Format::Arrow(blocks) => of_batches(&blocks.lengths),
            Format::Batches(_) => 1.0,
        }
    }

    fn with_format(path: &Path, kept: FileBytes, budget: Budget, format: Format, schema: SchemaRef) -> Result<Self> {
        if schema.fields().is_empty() {
            return Err(unreadable(path, "has no columns"));
        }
        let names = checked_names(path, schema.fields().iter().map(|field| field.name().clone()).collect())?;
        let is_text = |field: &&Arc<Field>| {
            matches!(plain_type(field), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        };
        let texts = schema.fields().iter().filter(is_text).map(|field| field.name().clone()).collect();
        let is_index = |name: &&String| name.starts_with("__index_level_") && name.ends_with("__");
        let aside = names.iter().filter(is_index).map(|name| (name.clone(), "it numbers the rows")).collect();
        let (path, singles) = (path.to_owned(), Singles::default());
        Ok(ColumnarFile { path, kept, sample: None, budget, schema, format, names, texts, aside, singles })
    }

    /// Hash of the file. Cost O(bytes).
    ///
    /// # Errors
    /// Fails if a file on disk cannot be read or was modified since it was opened.
    pub fn digest(&self, kind: DigestKind) -> Result<[u8; 32]> {
        self.kept.digest(&self.path, kind)
    }

    /// Hashes a file on disk from now on while it is read.
    pub fn hash_along(&self, kind: DigestKind) {
        self.kept.hash_along(kind);
    }

    /// Starts a hash of a file on disk.
    pub fn hashing(&self, kind: DigestKind) -> Option<Hashing> {
        matches!(self.kept, FileBytes::Disk(_)).then(|| Hashing::new(&self.kept, &self.path, kind))
    }

    /// Whether a column holds text by the format.
    pub fn is_text(&self, name: &str) -> bool {
        self.texts.contains(name)
    }

    /// Reads the columns of these names. Cost O(entries), on all threads.
    ///
    /// # Errors
    /// Fails for a damaged file, and for columns that are not numbers, booleans, text or dates.
    pub fn read(&self, names: &[&str]) -> Result<Vec<ColumnBuilder>> {
        let places = places(&self.names);
        let indices: Vec<usize> = names.iter().filter_map(|name| places.get(name).copied()).collect();
        let columns = self.columns(&indices);
        // A file modified meanwhile may look damaged.
        self.kept.check_unchanged(&self.path)?;
        let columns = columns?;
        if columns.first().is_some_and(|column| column.cells.rows() == 0) {
            return Err(unreadable(&self.path, "has columns and no rows"));
        }
        // Data of a program keep their form.
        let is_file = !matches!(self.format, Format::Batches(_));
        let cells = columns.into_iter().map(|column| column.cells);
        Ok(cells.map(|cells| if is_file { cells.thinned() } else { cells }).collect())
    }

    fn columns(&self, indices: &[usize]) -> Result<Vec<GrowingColumn>> {
        match &self.format {
            Format::Parquet(metadata, rows) => {
                // At least one byte per cell; the rest is checked while reading.
                let most = self.sample.unwrap_or(*rows).min(*rows);
                let (path, cells) = (self.path.display(), most as f64 * indices.len() as f64);
                let what = format_args!("{path}: {rows} rows of {} columns, as its footer says,", indices.len());
                self.budget.need(cells, what, "leave columns out by data.exclude, or raise the limit")?;
                let together = (CELLS / rows.max(&1)).clamp(FEW, TOGETHER);
                // A single thread reads the file in order.
                let size = if rayon::current_num_threads() > 1 { together } else { indices.len().max(1) };
                let read = |indices: &[usize]| self.parquet(metadata, indices, together);
                let parts: Result<Vec<_>> = indices.par_chunks(size).map(read).collect();
                let columns = parts?.into_iter().flatten().collect::<Vec<_>>();
                let found = columns.first().map_or(*rows, |column| column.cells.rows());
                check_rows(&self.path, most, found)?;
                Ok(columns)
            }
            _ => guarded(&self.path, || self.read_arrow(indices)),
        }
    }

    /// Reads columns in the order of `indices`, which may differ from the file's; those decoded to arrays a few at a
    /// time.
    fn parquet(
        &self,
        metadata: &ArrowReaderMetadata,
        indices: &[usize],
        together: usize,
    ) -> Result<Vec<GrowingColumn>> {
        check_codecs(&self.path, metadata.metadata(), indices)?;
        let mut columns = self.direct(metadata.metadata(), indices)?;
        let others: Vec<usize> = (0..indices.len()).filter(|&at| columns[at].is_none()).collect();
        for others in others.chunks(together) {
            let of_others: Vec<usize> = others.iter().map(|&at| indices[at]).collect();
            let read = guarded(&self.path, || self.by_arrays(metadata, &of_others))?;
            for (&at, column) in others.iter().zip(read) {
                columns[at] = Some(column);
            }
        }
        Ok(columns.into_iter().flatten().collect())
    }

    fn by_arrays(&self, metadata: &ArrowReaderMetadata, indices: &[usize]) -> Result<Vec<GrowingColumn>> {
        let mut order: Vec<usize> = (0..indices.len()).collect();
        order.sort_by_key(|&at| indices[at]);
        let mut columns = self.empty(&order.iter().map(|&at| indices[at]).collect::<Vec<_>>())?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), indices.iter().copied());
        let failed = |error: &dyn std::fmt::Display| unreadable(&self.path, error.to_string());
        let batches = batches_of(self.kept.clone(), metadata, mask, self.sample).map_err(|error| failed(&error))?;
        append_batches(&self.path, &mut columns, batches, self.sample, self.budget)?;
        let mut placed: Vec<(usize, GrowingColumn)> = order.into_iter().zip(columns).collect();
        placed.sort_by_key(|(at, _)| *at);
        Ok(placed.into_iter().map(|(_, column)| column).collect())
    }

    fn read_arrow(&self, indices: &[usize]) -> Result<Vec<GrowingColumn>> {
        let mut columns = self.empty(indices)?;
        let failed = |error: ArrowError| unreadable(&self.path, error.to_string());
        match &self.format {
            Format::Arrow(blocks) => {
                let batches = blocks.read(&self.kept, indices.to_vec()).map_err(failed)?;
                append_batches(&self.path, &mut columns, batches, self.sample, self.budget)?;
            }
            Format::Batches(batches) => {
                let batches = batches.iter().map(|batch| batch.project(indices));
                append_batches(&self.path, &mut columns, batches, self.sample, self.budget)?;
            }
            Format::Parquet(..) => {}
        }
        Ok(columns)
    }

    fn empty(&self, indices: &[usize]) -> Result<Vec<GrowingColumn>> {
        let all = match &self.format {
            Format::Parquet(_, rows) => *rows,
            Format::Arrow(blocks) => blocks.lengths.iter().sum(),
            Format::Batches(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
        };
        let rows = self.sample.map_or(all, |most| most.min(all));
        let column = |&index: &usize| {
            let is_single = self.singles.has(&self.names[index]);
            GrowingColumn::new(&self.path, self.schema.field(index), rows, is_single)
        };
        indices.iter().map(column).collect()
    }
}

/// Reads and checks the footer of a Parquet file.
fn of_parquet(path: &Path, kept: &FileBytes, budget: Budget) -> Result<(Format, SchemaRef)> {
    let metadata = footer(path, kept)?;
    let rows = check_footer(path, metadata.metadata(), kept.len())?;
    check_pages(path, metadata.metadata(), BufReader::new(kept.from(0)), budget)?;
    let schema = metadata.schema().clone();
    Ok((Format::Parquet(with_dictionaries(metadata.clone()), rows), schema))
}

/// Reader of the first rows of some columns of a Parquet file.
fn batches_of(
    reader: FileBytes,
    metadata: &ArrowReaderMetadata,
    mask: ProjectionMask,
    most: Option<usize>,
) -> parquet::errors::Result<ParquetRecordBatchReader> {
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata.clone());
    let builder = builder.with_projection(mask).with_batch_size(BATCH);
    match most {
        Some(most) => builder.with_limit(most).build(),
        None => builder.build(),
    }
}

fn append_batches(
    path: &Path,
    columns: &mut [GrowingColumn],
    batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    most: Option<usize>,
    budget: Budget,
) -> Result<()> {
    let mut taken = 0;
    for batch in batches {
        let batch = batch.map_err(|error| unreadable(path, error.to_string()))?;
        taken += std::mem::size_of::<f64>() * batch.num_rows() * columns.len();
        if taken > ASK {
            let what = format!("{}, while it is read,", path.display());
            budget.need(taken as f64, what, "leave columns out by data.exclude, or raise the limit")?;
            taken = 0;
        }
        for (column, array) in columns.iter_mut().zip(batch.columns()) {
            column.append(path, array, budget)?;
        }
        let rows = columns.first().map_or(0, |column| column.cells.rows());
        if most.is_some_and(|most| rows >= most) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
