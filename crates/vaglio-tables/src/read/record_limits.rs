//! Limits on the size of a record and a line: more is an unclosed quote, no table, or an attack.

use super::bytes::{FileKind, kind};
use super::codecs::Codec;
use super::records::LONGEST;
use super::unreadable;
use std::io::Read;
use std::path::Path;
use vaglio_core::Result;

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
    /// Bytes of whole pieces without a line end, and of nothing but line ends.
    long: usize,
    empty: usize,
    /// Start of a cell whose quote is still open.
    open: Option<usize>,
    /// Start of the last quoted cell, and the end of its last quote.
    closed: (usize, usize),
}

impl LineWatch {
    /// Rejects a text whose last pieces, one of which begins at `from`, are a line, a quoted cell or empty lines beyond
    /// the limit.
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

#[cfg(all(test, feature = "parquet"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::tests::folder_of;
    use super::*;
    use crate::ReadSpec;
    use crate::budget::Budget;
    use crate::read::{Batches, TableSource};
    use std::path::PathBuf;

    /// Compressed file of some bytes followed by `count` copies of one.
    fn bomb(name: &str, head: &[u8], byte: u8, count: usize) -> PathBuf {
        let path = folder_of("bombs").join(name);
        let mut writer = zstd::Encoder::new(std::fs::File::create(&path).unwrap(), 1).unwrap();
        std::io::Write::write_all(&mut writer, head).unwrap();
        let mut rest = std::io::repeat(byte).take(count as u64);
        std::io::copy(&mut rest, &mut writer).unwrap();
        writer.finish().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() < 250_000);
        path
    }

    #[test]
    fn few_bytes_that_stand_for_long_lines_or_many_empty_ones_are_refused_by_line() {
        let much = 3 * RECORD;
        for (name, head, byte, words) in [
            ("empty.csv.zst", &b""[..], b'\n', "line 1 and those after it are empty"),
            ("after.csv.zst", b"a,b\n1,2\n", b'\n', " and those after it are empty"),
            ("long.csv.zst", b"a,b\n1,", b'x', "line 2 is longer than that"),
            ("header.csv.zst", b"a,", b'x', "line 1 is longer than that"),
            ("zeros.csv.zst", b"", 0, "line 1 is longer than that"),
        ] {
            let path = bomb(name, head, byte, much);
            let paths = [path.clone()];
            let opened = TableSource::open_within(&paths, &ReadSpec::default(), Budget::new(1 << 40));
            let error = opened.map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(words), "{error}");
            assert!(error.contains("a line may have 67108864 bytes, and line "), "{error}");
        }
    }

    #[test]
    fn cells_in_quotes_that_are_not_closed_are_refused_by_line_while_they_are_read() {
        for (name, head, byte) in [
            ("lines.csv.zst", &b"a,b\n1,\"\n\nx"[..], b'\n'),
            ("again.csv.zst", b"a,b\n1,\"x\"\"\ny\"\n2,\"\"\"", b' '),
        ] {
            let line = 2 + usize::from(name == "again.csv.zst") * 2;
            let paths = [bomb(name, head, byte, 32 * RECORD)];
            let limit = Budget::new(crate::budget::resident().unwrap_or(0) + 1_000_000_000);
            let opened = TableSource::open_within(&paths, &ReadSpec::default(), limit);
            let error = opened.map(|_| ()).unwrap_err().to_string();
            let words =
                format!("a row may have 67108864 bytes, and that of line {line} has more; is a quote not closed?");
            assert!(error.contains(name) && error.contains(&words), "{error}");
        }
    }

    #[test]
    fn quotes_inside_of_cells_and_closed_ones_are_followed() {
        let open = |pieces: &[&str]| {
            let (mut watch, mut bytes) = (LineWatch::default(), Vec::new());
            for piece in pieces {
                let from = bytes.len();
                bytes.extend_from_slice(piece.as_bytes());
                watch.quotes(&bytes, from);
            }
            watch.open
        };
        assert_eq!(open(&["a,b\n5\" pipe,1\n"]), None);
        assert_eq!(open(&["\"a,b\n"]), Some(0));
        assert_eq!(open(&["\"a\"\"\"", ",1\n"]), None);
        assert_eq!(open(&["1,\"a\"", "\"\n", "\n"]), Some(2));
        assert_eq!(open(&["1;\"a\"", "\n2;\"", "b"]), Some(8));
    }

    #[test]
    fn rows_that_follow_one_by_one_are_bounded_as_well() {
        let path = bomb("stream.csv.zst", &b"a,b\n1,2\n".repeat(1000).repeat(200), b'\n', 2 * RECORD);
        let batches = Batches::open(&path, &ReadSpec::default()).unwrap().unwrap();
        let mut rows = batches
            .start(&[("a".into(), crate::read::Hint::Class)], &[], Default::default(), 1 << 20)
            .unwrap()
            .unwrap();
        let error = rows.next_rows().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("a row has more than 67108864 bytes"), "{error}");
    }

    #[test]
    fn memory_for_names_is_asked_for_before_they_are_made() {
        let path = folder_of("bombs").join("names.csv");
        std::fs::write(&path, "a,".repeat(20 << 20) + "\n").unwrap();
        let limit = Budget::new(crate::budget::resident().unwrap_or(0) + 1_000_000_000);
        let opened = TableSource::open_within(&[path], &ReadSpec::default(), limit);
        let error = opened.map(|_| ()).unwrap_err();
        assert_eq!(error.field(), Some("limits.memory"), "{error}");
        assert!(error.to_string().contains("names.csv, whose header has 20971521 names, would take about "), "{error}");
    }
}
