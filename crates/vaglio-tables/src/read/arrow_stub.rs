//! Replacement for Parquet and Arrow support in builds without the feature `parquet`.

use super::bytes::FileKind;
use super::reader::{ChunkReader, FileReader};
use super::unreadable;
use crate::budget::Budget;
use std::path::Path;
use vaglio_core::Result;

/// Opens no file.
pub(super) fn on_disk(_path: &Path, _budget: Budget) -> Result<Option<Box<dyn FileReader>>> {
    Ok(None)
}

/// Refuses a file.
///
/// # Errors
/// Always, with the remedy.
pub(super) fn in_memory(path: &Path, _: Vec<u8>, _: FileKind, _: Budget) -> Result<Box<dyn FileReader>> {
    let message = "this program was built without Parquet and Arrow; convert the file to .csv or build with the feature \
                   `parquet`";
    Err(unreadable(path, message))
}

/// Samples no file.
pub(super) fn sampled(_: &Path, _: FileKind, _: Budget) -> Result<Option<(Box<dyn FileReader>, f64)>> {
    Ok(None)
}

/// Reads no file in chunks.
pub(super) fn chunks(_: &Path, _: FileKind, _: Budget) -> Option<Box<dyn ChunkReader>> {
    None
}
