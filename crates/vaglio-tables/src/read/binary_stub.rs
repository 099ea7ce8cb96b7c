//! Replacement for binary and compressed files in builds without the feature `parquet`.

use super::bytes::{FileKind, is_compressed};
use super::reader::ChunkReader;
use super::triplets::Triplets;
use super::unreadable;
use crate::budget::Budget;
use std::io::{BufRead, Read};
use std::path::Path;
use vaglio_core::Result;

/// Opens no file.
pub(super) fn on_disk(_: &Path, _: FileKind, _: Budget) -> Result<Option<Box<dyn ChunkReader>>> {
    Ok(None)
}

/// Refuses a file.
///
/// # Errors
/// Always, with the remedy.
pub(super) fn in_memory(path: &Path, _: Vec<u8>, _: FileKind, _: Budget) -> Result<Box<dyn ChunkReader>> {
    let message = "this program was built without Parquet and Arrow; convert the file to .csv or build with the feature \
                   `parquet`";
    Err(unreadable(path, message))
}

/// Refuses a matrix.
///
/// # Errors
/// Always, with the remedy.
pub(super) fn npz(path: &Path, _bytes: &[u8], _budget: Budget) -> Result<Triplets> {
    Err(unreadable(path, "this program was built without .npz; build with the feature `parquet`"))
}

/// Refuses a compressed file, and passes others on.
///
/// # Errors
/// Fails for a compressed file, with the remedy.
pub(super) fn decoder<'r>(mut reader: impl BufRead + Send + 'r) -> std::io::Result<(Box<dyn Read + Send + 'r>, bool)> {
    match is_compressed(reader.fill_buf()?) {
        true => {
            Err(std::io::Error::other("this program was built without compression; build with the feature `parquet`"))
        }
        false => Ok((Box::new(reader), false)),
    }
}
