//! Replacement for binary and compressed files in builds without the feature `parquet`.

use super::bytes::FileKind;
use super::codecs::Codec;
use super::reader::{ChunkReader, FileReader};
use super::triplets::Triplets;
use super::unreadable;
use crate::budget::Budget;
use std::io::{BufRead, Read};
use std::path::Path;
use vaglio_core::Result;

/// Opens no file.
pub(super) fn on_disk(_: &Path, _: FileKind, _: Budget, _: bool) -> Result<Option<(Box<dyn FileReader>, f64)>> {
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

/// Reads no file in chunks.
pub(super) fn chunks(_: &Path, _: FileKind, _: Budget) -> Option<Box<dyn ChunkReader>> {
    None
}

/// Refuses a matrix.
///
/// # Errors
/// Always, with the remedy.
pub(super) fn npz(path: &Path, _bytes: &[u8], _budget: Budget) -> Result<Triplets> {
    Err(unreadable(path, "this program was built without .npz; build with the feature `parquet`"))
}

/// Refuses a compressed file.
///
/// # Errors
/// Always, with the remedy.
pub(super) fn decoder<'r>(_: Codec, _: impl BufRead + Send + 'r) -> std::io::Result<Box<dyn Read + Send + 'r>> {
    Err(std::io::Error::other("this program was built without compression; build with the feature `parquet`"))
}
