//! Parquet and Arrow files, column by column or batch by batch.

use super::growing::{NumberColumn, TextColumn};
use super::{ColumnFilter, checked_names, system, unreadable};
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch, cast::AsArray};
use arrow_ipc::reader::FileReader;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::take::take;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use vaglio_core::{Cells, Result, Table};

/// Reads the selected columns of a Parquet file, some at a time.
pub(super) fn read_parquet(path: &Path, filter: &ColumnFilter) -> Result<Table> {
    let (file, metadata) = open_parquet(path)?;
    let indices = filter.indices(&names_of(path, metadata.schema())?);
    let mut out = Vec::with_capacity(indices.len());
    for together in indices.chunks(TOGETHER) {
        let columns = together.iter().map(|&index| GrowingColumn::of(path, metadata.schema().field(index)));
        let mut columns = columns.collect::<Result<Vec<_>>>()?;
        let file = file.try_clone().map_err(|error| system(path, &error))?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), together.iter().copied());
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_projection(mask)
            .with_batch_size(BATCH)
            .build()
            .map_err(|error| unreadable(path, error.to_string()))?;
        append_batches(path, &mut columns, batches)?;
        out.extend(columns);
    }
    finish(path, out)
}

/// Columns of a Parquet file that are decoded side by side: one page of each is in memory, and opening the file for
/// one column alone costs as much as its number of columns.
const TOGETHER: usize = 16;

/// Rows that are decoded at a time.
const BATCH: usize = 8192;

/// Reads the selected columns of an Arrow file, batch by batch.
pub(super) fn read_arrow(path: &Path, filter: &ColumnFilter) -> Result<Table> {
    let schema = open_arrow(path, None)?.schema();
    let indices = filter.indices(&names_of(path, &schema)?);
    let columns = indices.iter().map(|&index| GrowingColumn::of(path, schema.field(index)));
    let mut columns = columns.collect::<Result<Vec<_>>>()?;
    append_batches(path, &mut columns, open_arrow(path, Some(indices))?)?;
    finish(path, columns)
}

/// The names of the columns of a Parquet file.
pub(super) fn parquet_header(path: &Path) -> Result<Vec<String>> {
    names_of(path, open_parquet(path)?.1.schema())
}

/// The names of the columns of an Arrow file.
pub(super) fn arrow_header(path: &Path) -> Result<Vec<String>> {
    names_of(path, &open_arrow(path, None)?.schema())
}

fn open_parquet(path: &Path) -> Result<(File, ArrowReaderMetadata)> {
    let file = File::open(path).map_err(|error| system(path, &error))?;
    let metadata = ArrowReaderMetadata::load(&file, Default::default());
    Ok((file, metadata.map_err(|error| unreadable(path, error.to_string()))?))
}

fn open_arrow(path: &Path, projection: Option<Vec<usize>>) -> Result<FileReader<BufReader<File>>> {
    let file = File::open(path).map_err(|error| system(path, &error))?;
    FileReader::try_new(BufReader::new(file), projection).map_err(|error| unreadable(path, error.to_string()))
}

fn names_of(path: &Path, schema: &Schema) -> Result<Vec<String>> {
    if schema.fields().is_empty() {
        return Err(unreadable(path, "has no columns"));
    }
    checked_names(path, schema.fields().iter().map(|field| field.name().clone()).collect())
}

fn finish(path: &Path, columns: Vec<GrowingColumn>) -> Result<Table> {
    let columns: Result<Vec<_>> = columns.into_iter().map(GrowingColumn::finish).collect();
    let table = Table::new(columns?)?;
    if table.rows() == 0 && !table.columns().is_empty() {
        return Err(unreadable(path, "has columns and no rows"));
    }
    Ok(table)
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

struct GrowingColumn {
    name: String,
    cells: GrowingCells,
}

enum GrowingCells {
    Numbers(NumberColumn),
    Text(TextColumn),
}

impl GrowingColumn {
    /// An empty column for a field of numbers, truth values or text.
    fn of(path: &Path, field: &Field) -> Result<Self> {
        let mut data_type = field.data_type();
        while let DataType::Dictionary(_, values) = data_type {
            data_type = values;
        }
        let cells = match data_type {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => GrowingCells::Text(TextColumn::default()),
            DataType::Boolean => GrowingCells::Numbers(NumberColumn::default()),
            other if other.is_integer() || other.is_floating() => GrowingCells::Numbers(NumberColumn::default()),
            other => {
                let message =
                    format!("column `{}` is of type {other}; expected numbers, truth values or text", field.name());
                return Err(unreadable(path, message));
            }
        };
        Ok(GrowingColumn { name: field.name().clone(), cells })
    }

    fn append(&mut self, path: &Path, array: &dyn Array) -> Result<()> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let plain = take(dictionary.values(), dictionary.keys(), None)
                .map_err(|error| unreadable(path, error.to_string()))?;
            return self.append(path, &plain);
        }
        match &mut self.cells {
            GrowingCells::Text(column) => {
                match array.data_type() {
                    DataType::Utf8 => append_text(column, array.as_string::<i32>().iter()),
                    DataType::LargeUtf8 => append_text(column, array.as_string::<i64>().iter()),
                    _ => append_text(column, array.as_string_view().iter()),
                }
                Ok(())
            }
            GrowingCells::Numbers(column) => append_numbers(column, array).map_err(|(row, value)| {
                let message = format!("row {row}, column `{}`: a double cannot hold {value} exactly", self.name);
                unreadable(path, message)
            }),
        }
    }

    fn finish(self) -> Result<(String, Cells)> {
        let cells = match self.cells {
            GrowingCells::Numbers(column) => column.finish(&self.name)?,
            GrowingCells::Text(column) => column.finish(&self.name)?,
        };
        Ok((self.name, cells))
    }
}

fn append_text<'a>(column: &mut TextColumn, cells: impl Iterator<Item = Option<&'a str>>) {
    for cell in cells {
        match cell {
            Some(text) => column.push(text),
            None => column.push_missing("a null"),
        }
    }
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
        DataType::Float64 => append_exact::<Float64Type>(column, array),
        DataType::UInt64 => append_wide::<UInt64Type>(column, array)?,
        DataType::Int64 => append_wide::<Int64Type>(column, array)?,
        _ => append(column, array.as_boolean().iter().map(|cell| cell.map(|b| f64::from(u8::from(b))))),
    }
    Ok(())
}

fn append(column: &mut NumberColumn, cells: impl Iterator<Item = Option<f64>>) {
    for cell in cells {
        match cell {
            Some(value) => column.push(value),
            None => column.push_missing("a null"),
        }
    }
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
