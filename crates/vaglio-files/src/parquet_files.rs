//! Predictions and condensed tables as Parquet.

use super::condense::CondensedTable;
use super::condensed::{FOLD, ROWS, WEIGHT};
use super::predictions::{OutputColumn, Predictions};
use arrow_array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray, UInt32Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use vaglio_core::{Cause, Cells, Error, Result};
use vaglio_tables::disk::Destination;

/// Turns an error while writing a file into one of ours.
fn write_error<E: Into<Box<dyn std::error::Error + Send + Sync>>>(path: &Path) -> impl Fn(E) -> Error {
    move |error| Error::unwritable(path, Cause::from_error(error))
}

/// Adds rows as a row group to a file, which the first rows create with their columns.
pub fn put(
    file: &mut Option<ArrowWriter<Destination>>,
    path: &Path,
    predictions: &Predictions,
) -> Result<ControlFlow<()>> {
    let batch = batch(path, predictions)?;
    let writer = match file {
        Some(writer) => writer,
        None => {
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            let writer = ArrowWriter::try_new(Destination::open(path)?, batch.schema(), Some(properties));
            file.insert(writer.map_err(write_error(path))?)
        }
    };
    writer.write(&batch).and_then(|()| writer.flush()).map_err(write_error(path))?;
    Ok(ControlFlow::Continue(()))
}

/// Completes a file and renames it into place.
pub fn finish(writer: ArrowWriter<Destination>, path: &Path) -> Result<()> {
    writer.into_inner().map_err(write_error(path))?.finish()
}

/// Converts predictions to a record batch; data columns keep their types, with nulls for missing cells.
fn batch(path: &Path, predictions: &Predictions) -> Result<RecordBatch> {
    let columns = predictions.columns().into_iter().map(|(name, column)| {
        let nullable = matches!(column, OutputColumn::Data(_));
        let array: ArrayRef = match column {
            OutputColumn::Data(cells) => array(cells),
            OutputColumn::Rows(rows) => Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| *row as i64 + 1))),
            OutputColumn::Numbers(values) => Arc::new(Float64Array::from(values.to_vec())),
            OutputColumn::Labels(labels) => Arc::new(StringArray::from_iter_values(labels)),
        };
        (name, array, nullable)
    });
    RecordBatch::try_from_iter_with_nullable(columns).map_err(write_error(path))
}

fn array(cells: &Cells) -> ArrayRef {
    let present = |value: f64| (!value.is_nan()).then_some(value);
    match cells {
        Cells::Numbers(numbers) => {
            let column = numbers.view();
            Arc::new((0..column.len()).map(|row| present(column.get(row))).collect::<Float64Array>())
        }
        Cells::Text(text) => {
            Arc::new(text.iter().map(|cell| (!cell.is_empty()).then_some(cell)).collect::<StringArray>())
        }
        Cells::Dates(dates) => {
            let moment = |seconds: &f64| present(*seconds).map(|seconds| (seconds * 1e6).round() as i64);
            Arc::new(dates.iter().map(moment).collect::<TimestampMicrosecondArray>())
        }
    }
}

/// Key in the metadata of the file.
const KEY: &str = "vaglio.condensed";

impl CondensedTable {
    /// Writes a Parquet file, which appears whole. The key `vaglio.condensed` of its metadata holds the rows, files, hash,
    /// folds and seed of what was condensed.
    ///
    /// # Errors
    /// [`Error::Setting`] for a name that does not end in `.parquet`, or that a column has already;
    /// [`Error::Unwritable`].
    pub fn write(&self, path: &Path) -> Result<()> {
        if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("parquet")) {
            return Err(Error::setting("--out", "condensed tables are Parquet files; end its name in `.parquet`"));
        }
        if let Some(name) = self.names.iter().find(|name| [WEIGHT, FOLD, ROWS].contains(&name.as_str())) {
            return Err(Error::setting("data", format!("the column `{name}` has the name of a column to be written")));
        }
        let numbers = |values: &Vec<f64>| Arc::new(Float64Array::from(values.clone())) as ArrayRef;
        let counts = self.counts.iter().map(|counts| (ROWS, numbers(counts)));
        let columns = self.names.iter().map(String::as_str).zip(self.columns.iter().map(numbers));
        let roles =
            [(WEIGHT, numbers(&self.weights)), (FOLD, Arc::new(UInt32Array::from(self.folds.clone())) as ArrayRef)];
        let batch = RecordBatch::try_from_iter(columns.chain(roles).chain(counts)).map_err(write_error(path))?;
        let about = serde_json::json!({
            "rows": self.all_rows().round() as u64, "files": self.files, "digest": self.digest, "folds": self.fold_count(), "seed": self.seed,
        });
        let about = KeyValue::new(KEY.to_owned(), about.to_string());
        let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![about])).build();
        let writer = ArrowWriter::try_new(Destination::open(path)?, batch.schema(), Some(properties));
        let mut writer = writer.map_err(write_error(path))?;
        writer.write(&batch).map_err(write_error(path))?;
        finish(writer, path)
    }
}
