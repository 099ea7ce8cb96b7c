//! Writes predictions to CSV or Parquet files.

use super::model_files::{FileModel, ModelFiles};
use super::predictions::PredictOptions;
#[cfg(feature = "parquet")]
use super::predictions_parquet::ParquetRows;
use std::path::Path;
#[cfg(not(feature = "parquet"))]
use vaglio_core::Error;
use vaglio_core::Result;
use vaglio_pipeline::pipeline::SavedModel;
use vaglio_tables::disk::{Destination, check_apart};
use vaglio_tables::read::expanded;

/// Number of rows predicted at a time.
const ROWS: usize = <SavedModel as ModelFiles>::ROWS;

/// Rejects an output that is one of the input tables, which may be patterns or folders.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for `--out`; errors for a table that does not exist.
pub fn check_apart_from_tables<'t>(out: &Path, tables: impl IntoIterator<Item = &'t Path>) -> Result<()> {
    tables
        .into_iter()
        .try_for_each(|table| check_apart(out, expanded(table)?.into_iter().map(|file| ("the table", file))))
}

impl FileModel<'_> {
    /// Implements `ModelFiles::predict_to_file`.
    ///
    /// # Errors
    /// Returns the errors of `ModelFiles::predict_to_file`.
    pub(super) fn predict_to_file(&self, data: &Path, beside: &PredictOptions, out: &Path) -> Result<Option<String>> {
        check_apart_from_tables(out, [data])?;
        if out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
            return self.predict_to_parquet(data, &PredictOptions { typed: true, ..beside.clone() }, out);
        }
        let mut file: Option<Destination> = None;
        let figures = self.predict_in_batches(data, beside, ROWS, &mut |predictions| match &mut file {
            Some(file) => file.put(predictions.more_csv()?.as_bytes()),
            None => file.insert(Destination::open(out)?).put(predictions.to_csv()?.as_bytes()),
        })?;
        file.map_or(Ok(()), Destination::finish)?;
        Ok(figures)
    }

    #[cfg(feature = "parquet")]
    fn predict_to_parquet(&self, data: &Path, beside: &PredictOptions, out: &Path) -> Result<Option<String>> {
        let mut file: Option<ParquetRows> = None;
        let figures = self.predict_in_batches(data, beside, ROWS, &mut |predictions| {
            let rows = match &mut file {
                Some(file) => file,
                None => file.insert(ParquetRows::open(out, predictions)?),
            };
            rows.put(predictions)
        })?;
        file.map_or(Ok(()), ParquetRows::finish)?;
        Ok(figures)
    }

    #[cfg(not(feature = "parquet"))]
    fn predict_to_parquet(&self, _data: &Path, _beside: &PredictOptions, _out: &Path) -> Result<Option<String>> {
        let message = "this program was built without Parquet; write .csv or build with the feature `parquet`";
        Err(Error::setting("--out", message))
    }
}
