//! Refusal of Parquet in builds without the feature `parquet`.

use super::predictions::Predictions;
use std::ops::ControlFlow;
use std::path::Path;
use vaglio_core::{Error, Result};
use vaglio_tables::disk::Destination;

/// Refuses to write.
///
/// # Errors
/// Always, with the remedy.
pub(super) fn put(_: &mut Option<Destination>, _: &Path, _: &Predictions) -> Result<ControlFlow<()>> {
    let message = "this program was built without Parquet; write .csv or build with the feature `parquet`";
    Err(Error::setting("--out", message))
}

/// Completes a file, of which there is none.
pub(super) fn finish(file: Destination, _: &Path) -> Result<()> {
    file.finish()
}
