//! Rows of a Parquet or Arrow file, read in batches.

use super::super::arrow_files::{
    ArrowRows, FileBytes, GrowingColumn, PARQUET, check_codecs, check_footer, check_pages, check_rows, footer,
    with_dictionaries,
};
use super::super::column_builder::ColumnBuilder;
use super::super::guard::guarded;
use super::super::{checked_names, places, unreadable};
use crate::budget::Budget;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::Length;
use std::io::BufReader;
use std::path::Path;
use vaglio_core::Result;

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
    Parquet(FileBytes, ArrowReaderMetadata, Option<ParquetRecordBatchReader>),
    Arrow(ArrowRows),
}

impl StoredRows {
    /// A Parquet file. `None` for one whose fault will be told when it is read as a whole.
    pub fn open_parquet(path: &Path, budget: Budget) -> Option<Self> {
        let read = || {
            let Some(file) = FileBytes::on_disk(path, PARQUET)? else { return Ok(None) };
            let metadata = footer(path, &file)?;
            check_footer(path, metadata.metadata(), file.len())?;
            check_pages(path, metadata.metadata(), BufReader::new(file.from(0)), budget)?;
            let rows = metadata.metadata().file_metadata().num_rows() as usize;
            let (schema, metadata) = (metadata.schema().clone(), with_dictionaries(metadata));
            StoredRows::new(path, StoredFile::Parquet(file, metadata, None), schema, rows, budget).map(Some)
        };
        guarded(path, read).ok().flatten().filter(|rows| !rows.names.is_empty())
    }

    /// Opens an Arrow file or stream; `None` like [`StoredRows::of_parquet`].
    pub fn open_arrow(path: &Path, is_stream: bool, budget: Budget) -> Option<Self> {
        let read = || match ArrowRows::open(path, is_stream, budget)? {
            Some(rows) => {
                let (schema, count) = (rows.schema(), rows.rows());
                StoredRows::new(path, StoredFile::Arrow(rows), schema, count, budget).map(Some)
            }
            None => Ok(None),
        };
        guarded(path, read).ok().flatten().filter(|rows| !rows.names.is_empty())
    }

    fn new(path: &Path, format: StoredFile, schema: SchemaRef, rows: usize, budget: Budget) -> Result<Self> {
        let names = checked_names(path, schema.fields().iter().map(|field| field.name().clone()).collect())?;
        Ok(StoredRows { names, format, schema, rows, budget, indices: Vec::new(), places: Vec::new(), most: 1 })
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
                *reader = Some(guarded(path, || opened(path, (file, metadata), indices, most))?);
                Ok(())
            }
            StoredFile::Arrow(rows) => guarded(path, || rows.start(path, indices, most)),
        }
    }

    /// Reads the next rows; the first is row `first` of the file.
    pub fn next(&mut self, path: &Path, first: usize) -> Result<Vec<ColumnBuilder>> {
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
                let mut column = GrowingColumn::new(path, schema.field(indices[*place]), 0, false)?;
                column.append(path, batch.column(*place), budget)?;
                Ok(column.cells)
            };
            places.iter().map(column).collect()
        })
    }
}

/// The reader of some columns.
fn opened(
    path: &Path,
    (file, metadata): (&FileBytes, &ArrowReaderMetadata),
    columns: &[usize],
    most: usize,
) -> Result<ParquetRecordBatchReader> {
    let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
    ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata.clone())
        .with_projection(mask)
        .with_batch_size(most.max(1))
        .build()
        .map_err(|error| unreadable(path, error.to_string()))
}
