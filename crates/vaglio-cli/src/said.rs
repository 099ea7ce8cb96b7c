//! What the program says, without a process of its own: for fuzz targets.

use crate::commands::planned;
use crate::failure::Failure;
use std::path::Path;
use vaglio::core::Error;

/// What `vaglio plan` prints with these assignments.
///
/// # Errors
/// What standard error is told instead.
pub fn of_plan(pipeline: &Path, assignments: &[String]) -> Result<String, String> {
    planned(pipeline, assignments).map_err(|failure| failure.text())
}

/// What standard error is told of an error.
pub fn of_error(error: Error) -> String {
    Failure::from(error).text()
}
