//! Predictions in a file: CSV or Parquet.

use super::destination::Destination;
#[cfg(feature = "parquet")]
use super::in_parquet::ParquetRows;
use super::predictions::Beside;
use crate::pipeline::SavedModel;
use std::path::Path;
#[cfg(not(feature = "parquet"))]
use vaglio_core::Error;
use vaglio_core::Result;

impl SavedModel {
    /// Predicts the rows of a data file into another, as they come: Parquet where its name ends in `.parquet`, else CSV.
    /// Returns the figures as a short table where predictions are compared with targets.
    ///
    /// Symbolic links are followed. A regular file appears whole or not at all; devices and pipes are written as they are.
    ///
    /// # Errors
    /// Those of [`SavedModel::predict_in_batches`]; [`vaglio_core::Error::Unwritable`].
    pub fn predict_to_file(&self, data: &Path, beside: &Beside, out: &Path) -> Result<Option<String>> {
        if out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
            return self.predict_to_parquet(data, &Beside { typed: true, ..beside.clone() }, out);
        }
        let mut file: Option<Destination> = None;
        let figures = self.predict_in_batches(data, beside, Self::ROWS, &mut |predictions| match &mut file {
            Some(file) => file.put(predictions.more_csv()?.as_bytes()),
            None => file.insert(Destination::open(out)?).put(predictions.to_csv()?.as_bytes()),
        })?;
        file.map_or(Ok(()), Destination::finish)?;
        Ok(figures)
    }

    #[cfg(feature = "parquet")]
    fn predict_to_parquet(&self, data: &Path, beside: &Beside, out: &Path) -> Result<Option<String>> {
        let mut file: Option<ParquetRows> = None;
        let figures = self.predict_in_batches(data, beside, Self::ROWS, &mut |predictions| {
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
    fn predict_to_parquet(&self, _data: &Path, _beside: &Beside, _out: &Path) -> Result<Option<String>> {
        let message = "this program was built without Parquet; write .csv or build with the feature `parquet`";
        Err(Error::setting("--out", message))
    }
}
