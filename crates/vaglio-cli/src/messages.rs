//! Output of the program without a process, for fuzz targets.

use crate::commands::describe_plan;
use crate::failure::CliError;
use std::path::Path;
use vaglio::core::Error;

/// Text that `vaglio plan` prints with these assignments.
///
/// # Errors
/// Text of the error message.
pub fn plan_message(pipeline: &Path, assignments: &[String]) -> Result<String, String> {
    describe_plan(pipeline, assignments).map_err(|failure| failure.text())
}

/// Text of an error message.
pub fn error_message(error: Error) -> String {
    CliError::from(error).text()
}
