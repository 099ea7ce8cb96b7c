//! Parquet and Arrow files in memory, column by column or batch by batch.

use super::bytes::Kind;
use super::growing::{Growing, NumberColumn, RawColumn};
use super::guard::guarded;
use super::{checked_names, places, unreadable};
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch, cast::AsArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use arrow_select::take::take;
use bytes::Bytes;
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
    Parquet(ArrowReaderMetadata),
    File,
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
    /// A file that is damaged, has no columns, or two of one name.
    pub fn new(path: &Path, bytes: Vec<u8>, kind: Kind) -> Result<Self> {
        let bytes = Bytes::from(bytes);
        guarded(path, || {
            let failed = |error: &dyn std::fmt::Display| unreadable(path, error.to_string());
            let (format, schema) = match kind {
                Kind::Parquet => {
                    let metadata = ArrowReaderMetadata::load(&bytes, Default::default()).map_err(|e| failed(&e))?;
                    let schema = metadata.schema().clone();
                    (Format::Parquet(metadata), schema)
                }
                Kind::ArrowStream => {
                    let reader = StreamReader::try_new(Cursor::new(bytes.clone()), None).map_err(|e| failed(&e))?;
                    (Format::Stream, reader.schema())
                }
                Kind::Arrow | Kind::Text => {
                    let reader = FileReader::try_new(Cursor::new(bytes.clone()), None).map_err(|e| failed(&e))?;
                    (Format::File, reader.schema())
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
            Ok(Stored { path: path.to_owned(), bytes: bytes.clone(), schema, format, names, texts, aside })
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
            Format::Parquet(metadata) => {
                let parts: Result<Vec<_>> = indices
                    .par_chunks(TOGETHER)
                    .map(|together| guarded(&self.path, || self.of_parquet(metadata, together)))
                    .collect();
                parts?.into_iter().flatten().collect::<Vec<_>>()
            }
            Format::File | Format::Stream => guarded(&self.path, || self.of_arrow(&indices))?,
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
        append_batches(&self.path, &mut columns, batches)?;
        let mut placed: Vec<(usize, GrowingColumn)> = order.into_iter().zip(columns).collect();
        placed.sort_by_key(|(at, _)| *at);
        Ok(placed.into_iter().map(|(_, column)| column).collect())
    }

    fn of_arrow(&self, indices: &[usize]) -> Result<Vec<GrowingColumn>> {
        let mut columns = self.empty(indices)?;
        let failed = |error: ArrowError| unreadable(&self.path, error.to_string());
        let (bytes, projection) = (Cursor::new(self.bytes.clone()), Some(indices.to_vec()));
        match self.format {
            Format::Stream => {
                let batches = StreamReader::try_new(bytes, projection).map_err(failed)?;
                append_batches(&self.path, &mut columns, batches)?;
            }
            _ => {
                let batches = FileReader::try_new(bytes, projection).map_err(failed)?;
                append_batches(&self.path, &mut columns, batches)?;
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
) -> Result<()> {
    for batch in batches {
        let batch = batch.map_err(|error| unreadable(path, error.to_string()))?;
        for (column, array) in columns.iter_mut().zip(batch.columns()) {
            column.append(path, array)?;
        }
    }
    Ok(())
}

/// The type of the cells of a field, dictionaries looked through.
fn plain_type(field: &Field) -> &DataType {
    let mut data_type = field.data_type();
    while let DataType::Dictionary(_, values) = data_type {
        data_type = values;
    }
    data_type
}

/// A column of a file of types while it is read.
pub(super) struct GrowingColumn {
    name: String,
    /// The rows of the file before the first that is read.
    before: usize,
    /// Its cells.
    pub cells: Growing,
}

impl GrowingColumn {
    /// An empty column for a field of numbers, truth values, text or dates.
    pub fn of(path: &Path, field: &Field) -> Result<Self> {
        let cells = match plain_type(field) {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Growing::Raw(RawColumn::default()),
            DataType::Boolean | DataType::Null => Growing::Numbers(NumberColumn::default()),
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _) => Growing::Dates(NumberColumn::default()),
            other if other.is_integer() || other.is_floating() || other.is_decimal() => {
                Growing::Numbers(NumberColumn::default())
            }
            other => {
                let (name, what) = (field.name(), other.to_string());
                let message = format!(
                    "column `{name}` is of type {}; expected numbers, truth values, text or dates; add it to data.exclude",
                    super::shortened(&what)
                );
                return Err(unreadable(path, message));
            }
        };
        Ok(GrowingColumn { name: field.name().clone(), before: 0, cells })
    }

    /// The same of rows that follow so many others.
    pub fn after(self, before: usize) -> Self {
        GrowingColumn { before, ..self }
    }

    /// Appends an array.
    pub fn append(&mut self, path: &Path, array: &dyn Array) -> Result<()> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let plain = take(dictionary.values(), dictionary.keys(), None)
                .map_err(|error| unreadable(path, error.to_string()))?;
            return self.append(path, &plain);
        }
        match &mut self.cells {
            Growing::Raw(column) => match array.data_type() {
                DataType::Utf8 => append_text(column, array.as_string::<i32>().iter()),
                DataType::LargeUtf8 => append_text(column, array.as_string::<i64>().iter()),
                _ => append_text(column, array.as_string_view().iter()),
            },
            Growing::Dates(column) => append_dates(column, array),
            Growing::Numbers(column) => append_numbers(column, array).map_err(|(row, value)| {
                let row = self.before + row;
                let message = format!("row {row}, column `{}`: a double cannot hold {value} exactly", self.name);
                unreadable(path, message)
            })?,
        }
        Ok(())
    }
}

/// A null is an empty cell, as one of a text file.
fn append_text<'a>(column: &mut RawColumn, cells: impl Iterator<Item = Option<&'a str>>) {
    cells.for_each(|cell| column.push(cell.unwrap_or_default()));
}

/// Appends dates as seconds; moments with a time zone are those of Greenwich.
fn append_dates(column: &mut NumberColumn, array: &dyn Array) {
    const DAY: f64 = 86400.0;
    match array.data_type() {
        DataType::Date32 => {
            append(column, array.as_primitive::<Date32Type>().iter().map(|c| c.map(|v| f64::from(v) * DAY)))
        }
        DataType::Date64 => append_scaled::<Date64Type>(column, array, 1e3),
        DataType::Timestamp(TimeUnit::Second, _) => append_scaled::<TimestampSecondType>(column, array, 1.0),
        DataType::Timestamp(TimeUnit::Millisecond, _) => append_scaled::<TimestampMillisecondType>(column, array, 1e3),
        DataType::Timestamp(TimeUnit::Microsecond, _) => append_scaled::<TimestampMicrosecondType>(column, array, 1e6),
        _ => append_scaled::<TimestampNanosecondType>(column, array, 1e9),
    }
}

fn append_scaled<T: ArrowPrimitiveType<Native = i64>>(column: &mut NumberColumn, array: &dyn Array, unit: f64) {
    append(column, array.as_primitive::<T>().iter().map(|cell| cell.map(|value| value as f64 / unit)));
}

/// Appends numbers; the error is the row and value of one that a double cannot hold.
fn append_numbers(column: &mut NumberColumn, array: &dyn Array) -> std::result::Result<(), (usize, i128)> {
    match array.data_type() {
        DataType::UInt8 if array.null_count() == 0 => column.extend_bytes(array.as_primitive::<UInt8Type>().values()),
        DataType::UInt8 => append_exact::<UInt8Type>(column, array),
        DataType::UInt16 => append_exact::<UInt16Type>(column, array),
        DataType::UInt32 => append_exact::<UInt32Type>(column, array),
        DataType::Int8 => append_exact::<Int8Type>(column, array),
        DataType::Int16 => append_exact::<Int16Type>(column, array),
        DataType::Int32 => append_exact::<Int32Type>(column, array),
        DataType::Float16 => append_exact::<Float16Type>(column, array),
        DataType::Float32 => append_exact::<Float32Type>(column, array),
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            if values.null_count() > 0 || !column.extend_finite(values.values()) {
                append_exact::<Float64Type>(column, array);
            }
        }
        DataType::UInt64 => append_wide::<UInt64Type>(column, array)?,
        DataType::Int64 => append_wide::<Int64Type>(column, array)?,
        DataType::Decimal32(..) => append_decimals::<Decimal32Type>(column, array),
        DataType::Decimal64(..) => append_decimals::<Decimal64Type>(column, array),
        DataType::Decimal128(..) => append_decimals::<Decimal128Type>(column, array),
        DataType::Decimal256(..) => append_decimals::<Decimal256Type>(column, array),
        DataType::Null => append(column, (0..array.len()).map(|_| None)),
        _ => append(column, array.as_boolean().iter().map(|cell| cell.map(|b| f64::from(u8::from(b))))),
    }
    Ok(())
}

fn append(column: &mut NumberColumn, cells: impl Iterator<Item = Option<f64>>) {
    for cell in cells {
        match cell {
            Some(value) if value.is_finite() => column.push(value),
            Some(value) if value.is_nan() => column.push_missing("NaN"),
            Some(value) => column.push_odd(&value.to_string()),
            None => column.push_missing("a null"),
        }
    }
}

/// Appends the doubles next to decimal numbers.
fn append_decimals<T: DecimalType>(column: &mut NumberColumn, array: &dyn Array) {
    let array = array.as_primitive::<T>();
    let value = |row: usize| array.value_as_string(row).parse::<f64>().unwrap_or(f64::NAN);
    append(column, (0..array.len()).map(|row| array.is_valid(row).then(|| value(row))));
}

fn append_exact<T: ArrowPrimitiveType<Native: Into<f64>>>(column: &mut NumberColumn, array: &dyn Array) {
    append(column, array.as_primitive::<T>().iter().map(|cell| cell.map(Into::into)));
}

fn append_wide<T: ArrowPrimitiveType<Native: Into<i128>>>(
    column: &mut NumberColumn,
    array: &dyn Array,
) -> std::result::Result<(), (usize, i128)> {
    for cell in array.as_primitive::<T>() {
        match cell.map(Into::into) {
            Some(value) if (value as f64) as i128 == value => column.push(value as f64),
            Some(value) => return Err((column.rows() + 1, value)),
            None => column.push_missing("a null"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
