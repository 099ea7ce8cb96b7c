//! Prepares the data of a pipeline.

use super::data::{TrainTest, prepared};
use super::scratch::with_scratch;
use std::path::Path;
use vaglio_core::Result;
use vaglio_pipeline::pipeline::ValidPipeline;

/// Reads, codes, splits and preprocesses the data of a pipeline.
///
/// # Errors
/// Fails for: unreadable files; non-finite values; names and labels that the data do not have; text columns that no map
/// accepts.
pub fn prepare(pipeline: &ValidPipeline, folder: &Path) -> Result<TrainTest> {
    let (data, scratch) = with_scratch(pipeline, folder, || prepared(pipeline, folder, false))?;
    Ok(TrainTest { scratch, ..data })
}

/// Like [`prepare`], for the beginning of large files. Reads everything if the beginning is rejected, since a class or
/// value may come later.
///
/// # Errors
/// Returns the errors of [`prepare`].
pub(super) fn prepare_sample(pipeline: &ValidPipeline, folder: &Path) -> Result<TrainTest> {
    prepared(pipeline, folder, true).or_else(|_| prepare(pipeline, folder))
}
