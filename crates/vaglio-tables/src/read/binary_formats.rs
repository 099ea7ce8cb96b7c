//! Parquet, Arrow, `.npz` and compressed files.

mod arrow_files;
mod npz;

pub(super) use arrow_files::{in_memory, on_disk};
pub(super) use npz::read as npz;

use super::bytes::is_compressed;
use std::io::{BufRead, Read, Result};

/// Reads the decompressed bytes, and tells whether they were compressed.
///
/// # Errors
/// Fails if the first bytes cannot be read, and for a damaged header.
pub(super) fn decoder<'r>(mut reader: impl BufRead + Send + 'r) -> Result<(Box<dyn Read + Send + 'r>, bool)> {
    let first = reader.fill_buf()?;
    let magic = if is_compressed(first) { first.first().copied() } else { None };
    let plain: Box<dyn Read + Send + 'r> = match magic {
        None => Box::new(reader),
        Some(0x1f) => Box::new(flate2::bufread::MultiGzDecoder::new(reader)),
        Some(0x28) => Box::new(zstd::stream::read::Decoder::with_buffer(reader)?),
        Some(_) => Box::new(bzip2::bufread::MultiBzDecoder::new(reader)),
    };
    Ok((plain, magic.is_some()))
}
