//! From a pipeline and its files to what a run needs, whichever way the table is read.

use super::data::{Prepared, prepared};
use super::streamed::{self, Keeping, Loading};
use std::path::Path;
use vaglio_core::{Error, Result};
use vaglio_pipeline::pipeline::ValidPipeline;

/// Reads, codes, splits and preprocesses the data of a pipeline.
///
/// # Errors
/// Files that cannot be read or hold values that are not finite; names and labels that the data do not have; text
/// columns that no map takes.
pub fn prepare(pipeline: &ValidPipeline, folder: &Path) -> Result<Prepared> {
    prepare_with(pipeline, folder, Keeping::default())
}

/// The same, which keeps what the pass makes over a table that is read in batches.
///
/// # Errors
/// Those of [`prepare`].
pub(super) fn prepare_with(pipeline: &ValidPipeline, folder: &Path, kept: Keeping<'_>) -> Result<Prepared> {
    match streamed::prepared(pipeline, folder, kept)? {
        Loading::Batches(prepared) => Ok(*prepared),
        Loading::Whole(why) => prepared(pipeline, folder, false).map_err(|error| with_reason(why.as_ref(), error)),
    }
}

/// The same where no more than the parts of the rows has to be known: of a table that is read in batches the labels of all rows
/// and the first of the others, which `true` tells.
///
/// # Errors
/// Those of [`prepare`].
pub(super) fn prepare_parts(pipeline: &ValidPipeline, folder: &Path) -> Result<(Prepared, bool)> {
    match streamed::sampled(pipeline, folder)? {
        Loading::Batches(prepared) => Ok((*prepared, true)),
        Loading::Whole(why) => {
            let whole = prepared(pipeline, folder, false).map_err(|error| with_reason(why.as_ref(), error))?;
            Ok((whole, false))
        }
    }
}

/// The same of the beginning of large files. What would be refused by it, since a class or a value is not among the first
/// rows, is read as a whole.
///
/// # Errors
/// Those of [`prepare`].
pub(super) fn prepare_sample(pipeline: &ValidPipeline, folder: &Path) -> Result<Prepared> {
    match streamed::sampled(pipeline, folder)? {
        Loading::Batches(prepared) => Ok(*prepared),
        Loading::Whole(why) => {
            let sample = prepared(pipeline, folder, true).or_else(|_| prepared(pipeline, folder, false));
            sample.map_err(|error| with_reason(why.as_ref(), error))
        }
    }
}

/// An error of a table that was read whole: where it is too large, with why it cannot be read in batches.
fn with_reason(why: Option<&Error>, error: Error) -> Error {
    match (why, error) {
        (Some(why), Error::Setting { field, message, place, from_root }) if field == "limits.memory" => {
            let message = format!("{message}; and it cannot be read in batches: {why}");
            Error::Setting { field, message, place, from_root }
        }
        (_, error) => error,
    }
}
