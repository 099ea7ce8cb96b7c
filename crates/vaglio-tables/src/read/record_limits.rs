//! Limits on the size of a record and a line: more is an unclosed quote, no table, or an attack.

use super::bytes::{FileKind, kind};
use super::codecs::Codec;
use super::unreadable;
use std::io::Read;
use std::path::Path;
use vaglio_core::Result;

/// Maximum bytes of a cell: more are an unclosed quote, or an attack.
pub(super) const LONGEST: usize = 1 << 24;
/// Maximum bytes of a record or a line.
pub(super) const RECORD: usize = 4 * LONGEST;

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
            let message = format!("a row has more than {RECORD} bytes; is a quote not closed?");
            return Err(std::io::Error::other(message));
        }
        let read = self.inner.read(&mut buffer[..most])?;
        self.left -= read;
        Ok(read)
    }
}

/// Checks a text piece by piece while it is read or decompressed.
#[derive(Default)]
pub(super) struct LineWatch {
    is_text: Option<bool>,
    /// Bytes of the last whole pieces, if none has a line end.
    long: usize,
    /// Bytes of the last whole pieces, if they are nothing but line ends.
    empty: usize,
    /// Start of a cell whose quote is still open.
    open: Option<usize>,
    /// Start of the last quoted cell, and the end of its last quote.
    closed: (usize, usize),
}

impl LineWatch {
    /// Rejects a line, a quoted cell or a run of empty lines beyond the limit; bytes before `from` were checked.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Unreadable`] with the line.
    pub fn check(&mut self, path: &Path, bytes: &[u8], from: usize) -> Result<()> {
        let is_plain = || Codec::from_magic(bytes).is_none();
        let is_text = || is_plain() && matches!(kind(path, bytes), Ok(FileKind::Text));
        if !*self.is_text.get_or_insert_with(is_text) {
            return Ok(());
        }
        let line_at = |place: usize| 1 + memchr::memchr_iter(b'\n', &bytes[..place]).count();
        self.quotes(bytes, from);
        if let Some(start) = self.open.filter(|start| bytes.len() - start > RECORD) {
            let line = line_at(start);
            let message =
                format!("a row may have {RECORD} bytes, and that of line {line} has more; is a quote not closed?");
            return Err(unreadable(path, message));
        }
        let piece = &bytes[from..];
        let is_long = memchr::memchr2(b'\n', b'\r', piece).is_none();
        let is_empty = piece.iter().all(|byte| matches!(byte, b'\n' | b'\r'));
        self.long = if is_long { self.long + piece.len() } else { 0 };
        self.empty = if is_empty { self.empty + piece.len() } else { 0 };
        let what = match () {
            () if self.long > RECORD => "is longer than that",
            () if self.empty > RECORD => "and those after it are empty, and have more than that",
            () => return Ok(()),
        };
        let line = line_at(bytes.len() - self.long.max(self.empty));
        Err(unreadable(path, format!("a line may have {RECORD} bytes, and line {line} {what}; is it a table?")))
    }

    /// Follows quoted cells through a piece: a quote opens only at the beginning of a cell, and a doubled one is text.
    fn quotes(&mut self, bytes: &[u8], from: usize) {
        for place in memchr::memchr_iter(b'"', &bytes[from..]).map(|place| from + place) {
            match self.open.take() {
                Some(start) => self.closed = (start, place + 1),
                None if place > 0 && self.closed.1 == place => self.open = Some(self.closed.0),
                None if place == 0 || b",;\t|\n\r".contains(&bytes[place - 1]) => self.open = Some(place),
                None => {}
            }
        }
    }
}

#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests;
