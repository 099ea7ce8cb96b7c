//! Limit on the size of a record: more is an unclosed quote, no table, or an attack.

use std::io::Read;

/// Maximum bytes of a cell: more are an unclosed quote, or an attack.
pub(super) const LONGEST: usize = 1 << 24;
/// Maximum bytes of a record.
pub(super) const RECORD: usize = 4 * LONGEST;

/// Message on a record with more bytes.
pub(super) fn too_long() -> String {
    format!("a row has more than {RECORD} bytes; is a quote not closed?")
}

/// A reader that fails if one record is larger than any in a table.
pub(super) struct RecordLimitReader<R> {
    inner: R,
    left: usize,
}

impl<R> RecordLimitReader<R> {
    pub fn new(inner: R) -> Self {
        RecordLimitReader { inner, left: RECORD }
    }

    /// Starts a new record.
    pub fn begin(&mut self) {
        self.left = RECORD;
    }
}

impl<R: Read> Read for RecordLimitReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min(self.left);
        if most == 0 && !buffer.is_empty() {
            return Err(std::io::Error::other(too_long()));
        }
        let read = self.inner.read(&mut buffer[..most])?;
        self.left -= read;
        Ok(read)
    }
}

#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests;
