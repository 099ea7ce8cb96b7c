//! The rows of a Parquet file, some at a time.

use super::super::arrow_files::{
    GrowingColumn, check_codecs, check_footer, check_pages, check_rows, footer, with_dictionaries,
};
use super::super::growing::Growing;
use super::super::guard::guarded;
use super::super::{checked_names, places, system, unreadable};
use crate::budget::Budget;
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use vaglio_core::Result;

/// A Parquet file, and the reader of its rows.
pub(super) struct StoredRows {
    /// Names of the columns.
    pub names: Vec<String>,
    file: File,
    metadata: ArrowReaderMetadata,
    /// The types of the columns, as the file says.
    schema: SchemaRef,
    /// How many rows the file says that it has.
    pub rows: usize,
    budget: Budget,
    reader: Option<ParquetRecordBatchReader>,
    /// The columns of the file that are read, increasing, and which of them each wanted one is.
    indices: Vec<usize>,
    places: Vec<usize>,
}

impl StoredRows {
    /// `None` for a file whose fault will be told when it is read as a whole.
    pub fn new(path: &Path, budget: Budget) -> Option<Self> {
        let read = || {
            let file = File::open(path).map_err(|error| unreadable(path, error.to_string()))?;
            let metadata = footer(path, file.try_clone().map_err(|error| system(path, &error))?)?;
            let length = file.metadata().map_err(|error| system(path, &error))?.len();
            let rows = check_footer(path, metadata.metadata(), length)?;
            check_pages(path, metadata.metadata(), BufReader::new(&file), budget)?;
            let (schema, metadata) = (metadata.schema().clone(), with_dictionaries(metadata));
            let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
            let names = checked_names(path, names)?;
            let (indices, places) = (Vec::new(), Vec::new());
            Ok(StoredRows { names, file, metadata, schema, rows, budget, reader: None, indices, places })
        };
        guarded(path, read).ok().filter(|rows| !rows.names.is_empty())
    }

    /// Whether a column holds dates.
    pub fn holds_dates(&self, name: &str) -> bool {
        let field = self.schema.field_with_name(name);
        field.is_ok_and(|field| {
            matches!(field.data_type(), DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
        })
    }

    /// Says which columns are wanted, and how many rows at a time.
    pub fn start(&mut self, path: &Path, names: &[&str], rows: usize) -> Result<()> {
        let places = places(&self.names);
        let wanted: Vec<usize> = names.iter().filter_map(|name| places.get(name).copied()).collect();
        self.indices = wanted.clone();
        self.indices.sort_unstable();
        self.indices.dedup();
        self.places = wanted.iter().filter_map(|index| self.indices.binary_search(index).ok()).collect();
        check_codecs(path, self.metadata.metadata(), &self.indices)?;
        self.reader = Some(guarded(path, || self.open(path, rows))?);
        Ok(())
    }

    fn open(&self, path: &Path, rows: usize) -> Result<ParquetRecordBatchReader> {
        let failed = |error: &dyn std::fmt::Display| unreadable(path, error.to_string());
        let file = self.file.try_clone().map_err(|error| failed(&error))?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), self.indices.iter().copied());
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .with_projection(mask)
            .with_batch_size(rows.max(1))
            .build()
            .map_err(|error| failed(&error))
    }

    /// The next rows, of which the first is the row `first` of the file.
    pub fn next(&mut self, path: &Path, first: usize) -> Result<Vec<Growing>> {
        let Some(reader) = &mut self.reader else { return Ok(Vec::new()) };
        let (schema, indices, places, said, budget) =
            (&self.schema, &self.indices, &self.places, self.rows, self.budget);
        guarded(path, || {
            let Some(batch) = reader.next() else { return check_rows(path, said, first).map(|()| Vec::new()) };
            let batch = batch.map_err(|error| unreadable(path, error.to_string()))?;
            let column = |place: &usize| {
                let mut column = GrowingColumn::of(path, schema.field(indices[*place]), 0, false)?.after(first);
                column.append(path, batch.column(*place), budget)?;
                Ok(column.cells)
            };
            places.iter().map(column).collect()
        })
    }
}
