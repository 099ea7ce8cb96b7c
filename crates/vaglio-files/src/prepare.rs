//! Prepares the data of a pipeline, from whole tables or in batches.

use super::data::{Prepared, prepared};
use super::streamed::{self, Keeping, Loading};
use std::path::Path;
use vaglio_core::{Error, Result};
use vaglio_pipeline::pipeline::ValidPipeline;

/// Reads, codes, splits and preprocesses the data of a pipeline.
///
/// # Errors
/// Fails for: unreadable files; non-finite values; names and labels that the data do not have; text columns that no map
/// accepts.
pub fn prepare(pipeline: &ValidPipeline, folder: &Path) -> Result<Prepared> {
    prepare_with(pipeline, folder, Keeping::default())
}

/// Like [`prepare`], keeping results of the pass over a table that is read in batches.
///
/// # Errors
/// Returns the errors of [`prepare`].
pub(super) fn prepare_with(pipeline: &ValidPipeline, folder: &Path, kept: Keeping<'_>) -> Result<Prepared> {
    match streamed::prepared(pipeline, folder, kept)? {
        Loading::Batches(prepared) => Ok(*prepared),
        Loading::Whole(why) => prepared(pipeline, folder, false).map_err(|error| with_reason(why.as_ref(), error)),
    }
}

/// Like [`prepare`], for splits only: of a table read in batches, the labels of all rows and the first of the others.
/// Returns whether the rows are such a sample.
///
/// # Errors
/// Returns the errors of [`prepare`].
pub(super) fn prepare_parts(pipeline: &ValidPipeline, folder: &Path) -> Result<(Prepared, bool)> {
    match streamed::sampled(pipeline, folder)? {
        Loading::Batches(prepared) => Ok((*prepared, true)),
        Loading::Whole(why) => {
            let whole = prepared(pipeline, folder, false).map_err(|error| with_reason(why.as_ref(), error))?;
            Ok((whole, false))
        }
    }
}

/// Like [`prepare`], for the beginning of large files. Reads everything if the beginning is rejected, since a class or
/// value may come later.
///
/// # Errors
/// Returns the errors of [`prepare`].
pub(super) fn prepare_sample(pipeline: &ValidPipeline, folder: &Path) -> Result<Prepared> {
    match streamed::sampled(pipeline, folder)? {
        Loading::Batches(prepared) => Ok(*prepared),
        Loading::Whole(why) => {
            let sample = prepared(pipeline, folder, true).or_else(|_| prepared(pipeline, folder, false));
            sample.map_err(|error| with_reason(why.as_ref(), error))
        }
    }
}

/// Adds to the error of a table that is too large why it cannot be read in batches.
fn with_reason(why: Option<&Error>, error: Error) -> Error {
    match (why, error) {
        (Some(why), Error::Setting { field, message, place, from_root }) if field == "limits.memory" => {
            let message = format!("{message}; and it cannot be read in batches: {why}");
            Error::Setting { field, message, place, from_root }
        }
        (_, error) => error,
    }
}
