//! Records of a text, read one by one.

use super::dialect::Dialect;
use super::record_limits::{LONGEST, RecordLimitReader};
use csv::StringRecord;
use std::io::Read;
use vaglio_core::{Error, Result};

/// Reader of the records of a text.
pub(super) struct RecordReader<R> {
    reader: csv::Reader<RecordLimitReader<R>>,
    record: StringRecord,
    /// Byte at which the memory limit is checked next.
    next_check: usize,
}

/// Fault of a record, which ends reading.
pub(super) struct RecordFault {
    /// Byte at which the record begins.
    pub byte: usize,
    /// Number of records before it.
    pub row: usize,
    pub what: RecordFaultKind,
}

/// Kind of a record's fault.
pub(super) enum RecordFaultKind {
    /// The record cannot be read.
    Unreadable(csv::Error),
    /// The record is ragged or has a cell that is too long: the message after the place.
    Odd(String),
    /// The memory limit is exceeded.
    TooLarge(Error),
}

/// Bytes between checks of the memory limit.
pub(super) const STEP: usize = 1 << 22;

impl<R: Read> RecordReader<R> {
    /// Reads a text without its header; the memory limit is first checked at a byte.
    pub fn new(dialect: Dialect, text: R, first_check: usize) -> Self {
        let reader = dialect.reader(RecordLimitReader::new(text));
        RecordReader { reader, record: StringRecord::new(), next_check: first_check }
    }

    /// Passes at most `most` records to `take` and returns their number.
    pub fn read(
        &mut self,
        most: usize,
        names: &[String],
        held: impl Fn() -> Result<()>,
        mut take: impl FnMut(&StringRecord),
    ) -> Result<usize, RecordFault> {
        for row in 0..most {
            self.reader.get_mut().begin();
            let byte = self.reader.position().byte() as usize;
            match self.reader.read_record(&mut self.record) {
                Ok(true) => {}
                Ok(false) => return Ok(row),
                Err(error) => return Err(RecordFault { byte, row, what: RecordFaultKind::Unreadable(error) }),
            }
            let byte = self.record.position().map_or(0, |position| position.byte() as usize);
            if let Some(message) = fault(&self.record, names) {
                return Err(RecordFault { byte, row, what: RecordFaultKind::Odd(message) });
            }
            if byte >= self.next_check {
                self.next_check = byte + STEP;
                held().map_err(|error| RecordFault { byte, row, what: RecordFaultKind::TooLarge(error) })?;
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
