//! Condensed tables as Parquet.

use super::condense::CondensedTable;
use super::condensed::{FOLD, ROWS, WEIGHT};
use super::predictions_parquet::{finish, write_error};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt32Array};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::path::Path;
use std::sync::Arc;
use vaglio_core::Result;
use vaglio_tables::disk::Destination;

/// Key in the metadata of the file.
const KEY: &str = "vaglio.condensed";

/// Writes a table, with the rows, files, hash, folds and seed of what was condensed in the metadata.
pub fn write(table: &CondensedTable, path: &Path) -> Result<()> {
    let numbers = |values: &Vec<f64>| Arc::new(Float64Array::from(values.clone())) as ArrayRef;
    let counts = table.counts.iter().map(|counts| (ROWS, numbers(counts)));
    let columns = table.names.iter().map(String::as_str).zip(table.columns.iter().map(numbers));
    let roles =
        [(WEIGHT, numbers(&table.weights)), (FOLD, Arc::new(UInt32Array::from(table.folds.clone())) as ArrayRef)];
    let batch = RecordBatch::try_from_iter(columns.chain(roles).chain(counts)).map_err(write_error(path))?;
    let (files, digest) = &table.files;
    let about = serde_json::json!({
        "rows": table.all_rows.round() as u64, "files": files, "digest": digest, "folds": table.fold_count(), "seed": table.seed,
    });
    let about = KeyValue::new(KEY.to_owned(), about.to_string());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![about])).build();
    let writer = ArrowWriter::try_new(Destination::open(path)?, batch.schema(), Some(properties));
    let mut writer = writer.map_err(write_error(path))?;
    writer.write(&batch).map_err(write_error(path))?;
    finish(writer, path)
}
