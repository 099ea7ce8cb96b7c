//! Decompression of gzip, zstd and bzip2.

use std::io::{BufRead, Read, Result};

/// Compression of a file, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Gzip,
    Zstd,
    Bzip2,
}

impl Codec {
    /// Compression of a file that begins with these bytes, if any.
    pub fn from_magic(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Codec::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Codec::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some(Codec::Bzip2),
            _ => None,
        }
    }

    /// Decompresses a reader.
    ///
    /// # Errors
    /// Fails for a damaged header, or if the program was built without compression.
    #[cfg(feature = "parquet")]
    pub fn decoder<'r>(self, reader: impl BufRead + Send + 'r) -> Result<Box<dyn Read + Send + 'r>> {
        Ok(match self {
            Codec::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(reader)),
            Codec::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(reader)?),
            Codec::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(reader)),
        })
    }

    #[cfg(not(feature = "parquet"))]
    pub fn decoder<'r>(self, _reader: impl BufRead + Send + 'r) -> Result<Box<dyn Read + Send + 'r>> {
        Err(std::io::Error::other("this program was built without compression; build with the feature `parquet`"))
    }
}
