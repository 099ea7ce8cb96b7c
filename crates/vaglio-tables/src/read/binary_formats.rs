//! Parquet, Arrow, `.npz` and compressed files.

mod arrow_files;
mod npz;

pub(super) use arrow_files::{chunks, in_memory, on_disk};
pub(super) use npz::read as npz;

use super::codecs::Codec;
use std::io::{BufRead, Read, Result};

/// Decompresses a reader.
///
/// # Errors
/// Fails for a damaged header.
pub(super) fn decoder<'r>(codec: Codec, reader: impl BufRead + Send + 'r) -> Result<Box<dyn Read + Send + 'r>> {
    Ok(match codec {
        Codec::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(reader)),
        Codec::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(reader)?),
        Codec::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(reader)),
    })
}
