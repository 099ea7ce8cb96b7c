//! Rows of a Parquet or Arrow file, read in batches.

use super::super::arrow_files::{
    ArrowRows, GrowingColumn, Kept, PARQUET, check_codecs, check_footer, check_pages, check_rows, footer,
    with_dictionaries,
};
use super::super::growing::Growing;
use super::super::guard::guarded;
use super::super::load::check_unchanged;
use super::super::{checked_names, places, unreadable};
use crate::budget::Budget;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::Length;
use std::collections::HashMap;
use std::fs::Metadata;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use vaglio_core::Result;

/// Cache of files whose pages were checked: their metadata then, and their footers. Checking reads the header of every
/// page.
#[derive(Debug, Default)]
pub(super) struct CheckedFiles(Mutex<HashMap<PathBuf, (Metadata, ArrowReaderMetadata)>>);

impl CheckedFiles {
    /// Footer of a file that has not changed since.
    fn get(&self, path: &Path, now: &Metadata) -> Option<ArrowReaderMetadata> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, footer) = all.get(path)?;
        check_unchanged(path, before, now, before.len()).is_ok().then(|| footer.clone())
    }

    fn put(&self, path: &Path, before: &Metadata, footer: &ArrowReaderMetadata) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(path.to_owned(), (before.clone(), footer.clone()));
    }
}

/// A Parquet or Arrow file, and the reader of its rows.
pub(super) struct StoredRows {
    /// Names of the columns.
    pub names: Vec<String>,
    format: StoredFile,
    /// Column types by the file.
    schema: SchemaRef,
    /// Number of rows that the file claims.
    pub rows: usize,
    budget: Budget,
    /// File columns to read, increasing, and the position among them of each wanted one.
    indices: Vec<usize>,
    places: Vec<usize>,
    most: usize,
}

enum StoredFile {
    Parquet(Kept, ArrowReaderMetadata, Option<ParquetRecordBatchReader>),
    Arrow(ArrowRows),
}

impl StoredRows {
    /// Opens a Parquet file; `None` if it has a fault, which reading it as a whole reports.
    pub fn of_parquet(path: &Path, before: &Metadata, budget: Budget, checked: &CheckedFiles) -> Option<Self> {
        let read = || {
            let Some(file) = Kept::on_disk(path, PARQUET)? else { return Ok(None) };
            let metadata = match checked.get(path, before) {
                Some(metadata) => metadata,
                None => {
                    let metadata = footer(path, &file)?;
                    check_footer(path, metadata.metadata(), file.len())?;
                    check_pages(path, metadata.metadata(), BufReader::new(file.from(0)), budget)?;
                    checked.put(path, before, &metadata);
                    metadata
                }
            };
            let rows = metadata.metadata().file_metadata().num_rows() as usize;
            let (schema, metadata) = (metadata.schema().clone(), with_dictionaries(metadata));
            StoredRows::of(path, StoredFile::Parquet(file, metadata, None), schema, rows, budget).map(Some)
        };
        guarded(path, read).ok().flatten().filter(|rows| !rows.names.is_empty())
    }

    /// Opens an Arrow file or stream; `None` like [`StoredRows::of_parquet`].
    pub fn of_arrow(path: &Path, is_stream: bool, budget: Budget) -> Option<Self> {
        let read = || match ArrowRows::open(path, is_stream, budget)? {
            Some(rows) => {
                let (schema, count) = (rows.schema(), rows.rows());
                StoredRows::of(path, StoredFile::Arrow(rows), schema, count, budget).map(Some)
            }
            None => Ok(None),
        };
        guarded(path, read).ok().flatten().filter(|rows| !rows.names.is_empty())
    }

    fn of(path: &Path, format: StoredFile, schema: SchemaRef, rows: usize, budget: Budget) -> Result<Self> {
        let names = checked_names(path, schema.fields().iter().map(|field| field.name().clone()).collect())?;
        Ok(StoredRows { names, format, schema, rows, budget, indices: Vec::new(), places: Vec::new(), most: 1 })
    }

    /// Whether columns can be read without the others.
    pub fn is_by_column(&self) -> bool {
        matches!(self.format, StoredFile::Parquet(..))
    }

    /// Whether a column holds dates.
    pub fn holds_dates(&self, name: &str) -> bool {
        let field = self.schema.field_with_name(name);
        field.is_ok_and(|field| {
            matches!(field.data_type(), DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
        })
    }

    /// Sets the wanted columns and the rows per batch.
    pub fn start(&mut self, path: &Path, names: &[&str], most: usize) -> Result<()> {
        self.most = most;
        let places = places(&self.names);
        let wanted: Vec<usize> = names.iter().filter_map(|name| places.get(name).copied()).collect();
        self.indices = wanted.clone();
        self.indices.sort_unstable();
        self.indices.dedup();
        self.places = wanted.iter().filter_map(|index| self.indices.binary_search(index).ok()).collect();
        let indices = &self.indices;
        match &mut self.format {
            StoredFile::Parquet(file, metadata, reader) => {
                check_codecs(path, metadata.metadata(), indices)?;
                *reader = Some(guarded(path, || opened(path, (file, metadata), indices, (0, most)))?);
                Ok(())
            }
            StoredFile::Arrow(rows) => guarded(path, || rows.start(path, indices, most)),
        }
    }

    /// Skips up to `rows` rows from `first` on and returns their number.
    pub fn skip(&mut self, path: &Path, first: usize, rows: usize) -> Result<usize> {
        let (skipped, indices) = (rows.min(self.rows - first.min(self.rows)), &self.indices);
        match &mut self.format {
            StoredFile::Parquet(file, metadata, reader) => {
                let next = || opened(path, (file, metadata), indices, (first + skipped, self.most));
                *reader = Some(guarded(path, next)?);
            }
            StoredFile::Arrow(rows) => guarded(path, || rows.skip(path, skipped))?,
        }
        Ok(skipped)
    }

    /// Reads the next rows; the first is row `first` of the file.
    pub fn next(&mut self, path: &Path, first: usize) -> Result<Vec<Growing>> {
        let (schema, indices, places, said, budget) =
            (&self.schema, &self.indices, &self.places, self.rows, self.budget);
        let format = &mut self.format;
        guarded(path, || {
            let batch: Option<RecordBatch> = match format {
                StoredFile::Parquet(_, _, reader) => {
                    let batch = reader.as_mut().and_then(Iterator::next).transpose();
                    batch.map_err(|error| unreadable(path, error.to_string()))?
                }
                StoredFile::Arrow(rows) => rows.next(path)?,
            };
            let Some(batch) = batch else { return check_rows(path, said, first).map(|()| Vec::new()) };
            let column = |place: &usize| {
                let mut column = GrowingColumn::of(path, schema.field(indices[*place]), 0, false)?;
                column.append(path, batch.column(*place), budget)?;
                Ok(column.cells)
            };
            places.iter().map(column).collect()
        })
    }
}

/// Reader of some columns from row `first` on.
fn opened(
    path: &Path,
    (file, metadata): (&Kept, &ArrowReaderMetadata),
    columns: &[usize],
    (first, most): (usize, usize),
) -> Result<ParquetRecordBatchReader> {
    let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
    // Earlier row groups are skipped without reading their page headers.
    let groups = metadata.metadata().row_groups();
    let ends = groups.iter().scan(0, |end, group| {
        *end += group.num_rows() as usize;
        Some(*end)
    });
    let ends: Vec<usize> = ends.collect();
    let group = ends.partition_point(|end| *end <= first);
    let before = ends[..group].last().copied().unwrap_or(0);
    ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata.clone())
        .with_projection(mask)
        .with_row_groups((group..groups.len()).collect())
        .with_batch_size(most.max(1))
        .with_offset(first - before)
        .build()
        .map_err(|error| unreadable(path, error.to_string()))
}
