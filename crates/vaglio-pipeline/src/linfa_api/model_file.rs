//! Fitted pipelines in files.

use super::fitted_pipeline::FittedPipeline;
use super::targets::TargetValue;
use crate::pipeline::SavedModel;
use linfa::dataset::TargetDim;
use std::path::Path;
use vaglio_core::{Error, Result};

impl<E, I> FittedPipeline<E, I> {
    /// Writes a model file for `vaglio predict` and [`FittedPipeline::load`], atomically.
    ///
    /// A dataset does not name its weight column, so the file does not either: error figures of `vaglio predict` give
    /// all rows equal weight.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.saved.write(path.as_ref())
    }
}

impl<E: TargetValue, I: TargetDim> FittedPipeline<E, I> {
    /// Reads a model file of [`FittedPipeline::save`] or `vaglio run`. Predictions are bit for bit the same.
    ///
    /// # Errors
    /// * [`Error::Unreadable`] if there is no such file.
    /// * [`Error::ModelRefused`] if the file was changed, is truncated, has another version, or has targets of
    ///   another type.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        FittedPipeline::from_saved(SavedModel::read(path)?).map_err(|message| Error::model_refused(path, message))
    }
}
