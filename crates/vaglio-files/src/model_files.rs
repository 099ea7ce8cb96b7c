//! What saved models do with files.

use super::export::Language;
use super::predictions::{Beside, Predictions};
use super::stream::Sink;
use std::ops::Deref;
use std::path::Path;
use vaglio_core::{Result, Table};
use vaglio_export::Formulas;
use vaglio_pipeline::pipeline::SavedModel;
use vaglio_tables::read::Source;

/// What a [`SavedModel`] does with tables of files.
pub trait ModelFiles {
    /// Rows that are predicted at a time, where nothing else is said.
    const ROWS: usize = 1 << 16;

    /// Predicts the rows of a table that has at least the columns `sources`, `series` and `time`; others are ignored.
    ///
    /// The predictions are in the order of the table's rows, whatever the order of time.
    ///
    /// # Errors
    /// A missing column; a cell that the maps were not prepared for; times that are text, or twice in a series.
    fn predict(&self, table: Table) -> Result<Predictions>;

    /// Predicts the rows of a data file, columns matched by name.
    ///
    /// # Errors
    /// Those of reading the file and of [`ModelFiles::predict`].
    fn predict_file(&self, path: &Path) -> Result<Predictions>;

    /// The same with what is asked for beside predictions.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for what the model cannot give; [`vaglio_core::Error::UnknownName`] for columns that
    /// the file does not have.
    fn predict_file_with(&self, path: &Path, beside: &Beside) -> Result<Predictions>;

    /// The same of a table that is open, which messages call `path`.
    ///
    /// # Errors
    /// Those of [`ModelFiles::predict_file_with`].
    fn predict_source(&self, source: &Source, path: &Path, beside: &Beside) -> Result<Predictions>;

    /// Predicts the rows of a data file, at most `rows` at a time, and gives the predictions to `sink` in order; returns the
    /// figures as a short table where predictions are compared with targets.
    ///
    /// The predictions are those of [`ModelFiles::predict_file_with`] to the last bit. Memory does not grow with the file;
    /// but all rows come at once where the model looks at several (series, lags, models that are no readout of columns as
    /// they are), from several files, from other encodings than UTF-8, and from models of earlier versions.
    /// For figures, predictions and targets are remembered.
    ///
    /// # Errors
    /// Those of [`ModelFiles::predict_file_with`]; batches before a fault were given away.
    fn predict_in_batches(&self, path: &Path, beside: &Beside, rows: usize, sink: Sink<'_>) -> Result<Option<String>>;

    /// Predicts the rows of a data file into another, as they come: Parquet where its name ends in `.parquet`, else CSV.
    /// Returns the figures as a short table where predictions are compared with targets.
    ///
    /// Symbolic links are followed. A regular file appears whole or not at all; devices and pipes are written as they are.
    ///
    /// # Errors
    /// Those of [`ModelFiles::predict_in_batches`]; [`vaglio_core::Error::Unwritable`]; [`vaglio_core::Error::Setting`] where
    /// `out` is a file of the data.
    fn predict_to_file(&self, data: &Path, beside: &Beside, out: &Path) -> Result<Option<String>>;

    /// The model as formulas over the columns of a table, as far as a language can hold them.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] that names the part which is no expression, and the language.
    fn formulas(&self, language: Language) -> Result<Formulas>;
}

impl ModelFiles for SavedModel {
    fn predict(&self, table: Table) -> Result<Predictions> {
        FileModel(self).predict(table)
    }

    fn predict_file(&self, path: &Path) -> Result<Predictions> {
        FileModel(self).predict_file(path)
    }

    fn predict_file_with(&self, path: &Path, beside: &Beside) -> Result<Predictions> {
        FileModel(self).predict_file_with(path, beside)
    }

    fn predict_source(&self, source: &Source, path: &Path, beside: &Beside) -> Result<Predictions> {
        FileModel(self).predict_source(source, path, beside)
    }

    fn predict_in_batches(&self, path: &Path, beside: &Beside, rows: usize, sink: Sink<'_>) -> Result<Option<String>> {
        FileModel(self).predict_in_batches(path, beside, rows, sink)
    }

    fn predict_to_file(&self, data: &Path, beside: &Beside, out: &Path) -> Result<Option<String>> {
        FileModel(self).predict_to_file(data, beside, out)
    }

    fn formulas(&self, language: Language) -> Result<Formulas> {
        FileModel(self).formulas(language)
    }
}

/// A saved model at work on tables of files.
pub(super) struct FileModel<'m>(pub &'m SavedModel);

impl Deref for FileModel<'_> {
    type Target = SavedModel;

    fn deref(&self) -> &SavedModel {
        self.0
    }
}
