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
use vaglio_core::{Error, Result};
use vaglio_tables::disk::Destination;

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
