//! Parquet and Arrow files in memory, column by column or batch by batch.

mod columns;
mod footer;
mod messages;

use super::bytes::Kind;
use super::growing::Growing;
use super::guard::guarded;
use super::{checked_names, places, unreadable};
use crate::budget::Budget;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use bytes::Bytes;
pub(super) use columns::GrowingColumn;
use columns::plain_type;
pub(super) use footer::{check_footer, check_rows, with_dictionaries};
use messages::{Blocks, check_stream};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use rayon::prelude::*;
use std::collections::HashSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vaglio_core::Result;

/// A Parquet or Arrow file in memory.
#[derive(Debug)]
pub(super) struct Stored {
    path: PathBuf,
    bytes: Bytes,
    budget: Budget,
    schema: SchemaRef,
    format: Format,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Those that hold text.
    texts: HashSet<String>,
    /// Columns that say nothing of the rows, with why.
    pub aside: Vec<(String, &'static str)>,
}

#[derive(Debug)]
enum Format {
    /// With the number of rows that it says.
    Parquet(ArrowReaderMetadata, usize),
    File(Blocks),
    Stream,
}

/// Columns of a Parquet file that are decoded side by side: one page of each is in memory, and opening the file for
/// one column alone costs as much as its number of columns.
const TOGETHER: usize = 32;

/// Rows that are decoded at a time.
const BATCH: usize = 1 << 15;

impl Stored {
    /// Reads what a file says of itself.
    ///
    /// # Errors
    /// A file that is damaged, has no columns, two of one name, or more cells than there may be memory for.
    pub fn new(path: &Path, bytes: Vec<u8>, kind: Kind, budget: Budget) -> Result<Self> {
        let bytes = Bytes::from(bytes);
        guarded(path, || {
            let failed = |error: &dyn std::fmt::Display| unreadable(path, error.to_string());
            let (format, schema) = match kind {
                Kind::Parquet => {
                    let metadata = ArrowReaderMetadata::load(&bytes, Default::default()).map_err(|e| failed(&e))?;
                    let rows = check_footer(path, metadata.metadata(), bytes.len() as u64)?;
                    let schema = metadata.schema().clone();
                    (Format::Parquet(with_dictionaries(metadata), rows), schema)
                }
                Kind::ArrowStream => {
                    check_stream(path, &bytes, budget)?;
                    let reader = StreamReader::try_new(Cursor::new(bytes.clone()), None).map_err(|e| failed(&e))?;
                    (Format::Stream, reader.schema())
                }
                Kind::Arrow | Kind::Text => {
                    let blocks = Blocks::new(path, &bytes, budget)?;
                    let schema = blocks.schema.clone();
                    (Format::File(blocks), schema)
                }
            };
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
            Ok(Stored { path: path.to_owned(), bytes: bytes.clone(), budget, schema, format, names, texts, aside })
        })
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the format says that a column holds text.
    pub fn is_text(&self, name: &str) -> bool {
        self.texts.contains(name)
    }

    /// Reads the columns of these names. Cost O(entries), on all threads.
    ///
    /// # Errors
    /// A file that is damaged; columns that are neither numbers, truth values, text nor dates.
    pub fn read(&self, names: &[&str]) -> Result<Vec<Growing>> {
        let places = places(&self.names);
        let indices: Vec<usize> = names.iter().filter_map(|name| places.get(name).copied()).collect();
        let columns = match &self.format {
            Format::Parquet(metadata, rows) => {
                // A byte a cell at least; what they take beyond that is seen while they are read.
                let (path, cells) = (self.path.display(), *rows as f64 * indices.len() as f64);
                let what = format_args!("{path}: {rows} rows of {} columns, as its footer says,", indices.len());
                self.budget.need(cells, what, "leave columns out by data.exclude, or raise the limit")?;
                let parts: Result<Vec<_>> = indices
                    .par_chunks(TOGETHER)
                    .map(|together| guarded(&self.path, || self.of_parquet(metadata, together)))
                    .collect();
                let columns = parts?.into_iter().flatten().collect::<Vec<_>>();
                let found = columns.first().map_or(*rows, |column| column.cells.rows());
                check_rows(&self.path, *rows, found)?;
                columns
            }
            Format::File(_) | Format::Stream => guarded(&self.path, || self.of_arrow(&indices))?,
        };
        if columns.first().is_some_and(|column| column.cells.rows() == 0) {
            return Err(unreadable(&self.path, "has columns and no rows"));
        }
        Ok(columns.into_iter().map(|column| column.cells).collect())
    }

    /// Columns in the order of `indices`, which need not be that of the file.
    fn of_parquet(&self, metadata: &ArrowReaderMetadata, indices: &[usize]) -> Result<Vec<GrowingColumn>> {
        let mut order: Vec<usize> = (0..indices.len()).collect();
        order.sort_by_key(|&at| indices[at]);
        let mut columns = self.empty(&order.iter().map(|&at| indices[at]).collect::<Vec<_>>())?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), indices.iter().copied());
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(self.bytes.clone(), metadata.clone())
            .with_projection(mask)
            .with_batch_size(BATCH)
            .build()
            .map_err(|error| unreadable(&self.path, error.to_string()))?;
        append_batches(&self.path, &mut columns, batches, self.budget)?;
        let mut placed: Vec<(usize, GrowingColumn)> = order.into_iter().zip(columns).collect();
        placed.sort_by_key(|(at, _)| *at);
        Ok(placed.into_iter().map(|(_, column)| column).collect())
    }

    fn of_arrow(&self, indices: &[usize]) -> Result<Vec<GrowingColumn>> {
        let mut columns = self.empty(indices)?;
        let failed = |error: ArrowError| unreadable(&self.path, error.to_string());
        match &self.format {
            Format::File(blocks) => {
                let batches = blocks.read(&self.bytes, indices.to_vec()).map_err(failed)?;
                append_batches(&self.path, &mut columns, batches, self.budget)?;
            }
            _ => {
                let bytes = Cursor::new(self.bytes.clone());
                let batches = StreamReader::try_new(bytes, Some(indices.to_vec())).map_err(failed)?;
                append_batches(&self.path, &mut columns, batches, self.budget)?;
            }
        }
        Ok(columns)
    }

    fn empty(&self, indices: &[usize]) -> Result<Vec<GrowingColumn>> {
        indices.iter().map(|&index| GrowingColumn::of(&self.path, self.schema.field(index))).collect()
    }
}

fn append_batches(
    path: &Path,
    columns: &mut [GrowingColumn],
    batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    budget: Budget,
) -> Result<()> {
    for batch in batches {
        let batch = batch.map_err(|error| unreadable(path, error.to_string()))?;
        for (column, array) in columns.iter_mut().zip(batch.columns()) {
            column.append(path, array, budget)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod strangers;
#[cfg(test)]
mod tests;
