//! Records of a text, read one by one, with a limit on their size: more is an unclosed quote, no table, or an attack.

use super::dialect::Dialect;
use csv::{ErrorKind, StringRecord};
use std::io::{Read, Take};
use vaglio_core::{Cause, Error, Result};

/// Maximum bytes of a cell.
const LONGEST: usize = 1 << 24;
/// Maximum bytes of a record.
pub(super) const RECORD: usize = 4 * LONGEST;
/// Bytes between checks of the memory limit.
pub(super) const STEP: usize = 1 << 22;

/// Message on a record with more bytes than [`RECORD`].
pub(super) fn too_long() -> String {
    format!("a row has more than {RECORD} bytes; is a quote not closed?")
}

/// Reader of the records of a text.
pub(super) struct RecordReader<R> {
    /// Reader whose bytes for the next record are limited.
    pub reader: csv::Reader<Take<R>>,
    pub record: StringRecord,
    /// Byte at which the memory limit is checked next.
    next_check: usize,
}

/// Fault of a record, which ends reading.
pub(super) struct RecordFault {
    /// Byte at which the record begins.
    pub byte: usize,
    /// Number of records before it.
    pub row: usize,
    /// Message after the place of the record, or the error at the memory limit.
    pub what: Result<Cause, Error>,
}

impl<R: Read> RecordReader<R> {
    /// Reads a text; the memory limit is first checked at a byte.
    pub fn new(dialect: Dialect, text: R, first_check: usize) -> Self {
        let reader = dialect.reader(text.take(RECORD as u64));
        RecordReader { reader, record: StringRecord::new(), next_check: first_check }
    }

    /// Reads the next record; returns `false` after the last.
    ///
    /// # Errors
    /// The message after the place of a record that cannot be read.
    pub fn read_one(&mut self, names: &[String]) -> Result<bool, Cause> {
        self.reader.get_mut().set_limit(RECORD as u64);
        let read = self.reader.read_record(&mut self.record);
        if self.reader.get_ref().limit() == 0 {
            return Err(format!(": {}", too_long()).into());
        }
        read.map_err(|error| {
            let text = match error.kind() {
                ErrorKind::Utf8 { err, .. } => {
                    let column = names.get(err.field()).map(|name| format!(", column `{name}`")).unwrap_or_default();
                    format!(
                        "{column}: the text is not UTF-8; if it is Latin-1, set data.read.encoding: latin1, or convert \
                         the file to UTF-8"
                    )
                }
                ErrorKind::Io(error) => format!(": it cannot be read: {error}"),
                _ => format!(": {error}"),
            };
            Cause::new(text, error)
        })
    }

    /// Passes at most `most` records to `take` and returns their number.
    pub fn read(
        &mut self,
        most: usize,
        names: &[String],
        check_limit: impl Fn() -> Result<()>,
        mut take: impl FnMut(&StringRecord),
    ) -> Result<usize, RecordFault> {
        for row in 0..most {
            let byte = self.reader.position().byte() as usize;
            match self.read_one(names) {
                Ok(true) => {}
                Ok(false) => return Ok(row),
                Err(cause) => return Err(RecordFault { byte, row, what: Ok(cause) }),
            }
            let byte = self.record.position().map_or(0, |position| position.byte() as usize);
            if let Some(message) = fault(&self.record, names) {
                return Err(RecordFault { byte, row, what: Ok(message.into()) });
            }
            if byte >= self.next_check {
                self.next_check = byte + STEP;
                check_limit().map_err(|error| RecordFault { byte, row, what: Err(error) })?;
            }
            take(&self.record);
        }
        Ok(most)
    }
}

/// Message after the place of a record that is ragged or has a cell that is too long.
fn fault(record: &StringRecord, names: &[String]) -> Option<String> {
    let (found, header) = (record.len(), names.len());
    if found != header {
        return Some(format!(" has {found} cells and the header has {header}"));
    }
    if record.as_slice().len() <= LONGEST {
        return None;
    }
    let cells = record.iter().map(str::len).zip(names);
    let (length, name) = cells.max_by_key(|(length, _)| *length).filter(|(length, _)| *length > LONGEST)?;
    Some(format!(
        ": column `{name}` has a cell of {length} bytes, and at most {LONGEST} are read; is a quote not closed?"
    ))
}
