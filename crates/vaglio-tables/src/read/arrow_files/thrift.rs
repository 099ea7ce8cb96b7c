//! Thrift's compact protocol, in which Parquet files describe themselves.
//!
//! The reader of parquet 60 steps through lists of booleans in unknown fields, which take no bytes: a few bytes claim
//! billions of steps. Structures with such a list are rejected before they are read.

use std::io::{Error, ErrorKind, Read};

type Outcome<T> = std::io::Result<T>;

/// Codes of the types of values.
mod code {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const I8: u8 = 3;
    pub const I16: u8 = 4;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 13;
}

/// Maximum nesting of structures, lists and maps.
const DEEPEST: usize = 32;

/// Reads a structure, returns its length in bytes, and reports whole numbers with the field numbers that lead to them.
///
/// # Errors
/// [`ErrorKind::InvalidData`] if a list holds booleans or a code is unknown; [`ErrorKind::UnexpectedEof`] if the bytes
/// end before the structure.
pub(super) fn read_struct(bytes: impl Read, mut number: impl FnMut(&[i16], i64)) -> Outcome<u64> {
    let mut thrift = Thrift { bytes, taken: 0, place: Vec::new(), number: &mut number };
    thrift.fields(0)?;
    Ok(thrift.taken)
}

struct Thrift<'n, R> {
    bytes: R,
    taken: u64,
    /// Field numbers that lead to the current position.
    place: Vec<i16>,
    number: &'n mut dyn FnMut(&[i16], i64),
}

fn invalid<T>() -> Outcome<T> {
    Err(Error::from(ErrorKind::InvalidData))
}

impl<R: Read> Thrift<'_, R> {
    fn byte(&mut self) -> Outcome<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        self.taken += 1;
        Ok(byte[0])
    }

    fn unsigned(&mut self) -> Outcome<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        invalid()
    }

    fn signed(&mut self) -> Outcome<i64> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn pass(&mut self, bytes: u64) -> Outcome<()> {
        let passed = std::io::copy(&mut self.bytes.by_ref().take(bytes), &mut std::io::sink())?;
        self.taken += passed;
        if passed == bytes { Ok(()) } else { Err(Error::from(ErrorKind::UnexpectedEof)) }
    }

    fn fields(&mut self, depth: usize) -> Outcome<()> {
        let mut field = 0i16;
        loop {
            let head = self.byte()?;
            if head & 15 == 0 {
                return Ok(());
            }
            let next = match head >> 4 {
                0 => i16::try_from(self.signed()?).ok(),
                step => field.checked_add(i16::from(step)),
            };
            field = next.ok_or(ErrorKind::InvalidData)?;
            self.place.push(field);
            self.value(head & 15, depth)?;
            self.place.pop();
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Outcome<()> {
        match kind {
            // A field has the value of a boolean in its code.
            code::TRUE | code::FALSE => Ok(()),
            code::I8 => self.pass(1),
            code::I16..=code::I64 => {
                let value = self.signed()?;
                (self.number)(&self.place, value);
                Ok(())
            }
            code::DOUBLE => self.pass(8),
            code::BINARY => self.unsigned().and_then(|bytes| self.pass(bytes)),
            code::UUID => self.pass(16),
            _ if depth == DEEPEST => invalid(),
            code::LIST | code::SET => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
                self.elements(count, &[head & 15], depth)
            }
            code::MAP => {
                let count = self.unsigned()?;
                let codes = if count == 0 { 0 } else { self.byte()? };
                self.elements(count, &[codes >> 4, codes & 15], depth)
            }
            code::STRUCT => self.fields(depth + 1),
            _ => invalid(),
        }
    }

    /// Reads `count` elements of these types; each takes at least a byte, so that a false count ends with the bytes.
    fn elements(&mut self, count: u64, kinds: &[u8], depth: usize) -> Outcome<()> {
        if count > 0 && kinds.iter().any(|kind| matches!(*kind, code::TRUE | code::FALSE)) {
            return invalid();
        }
        (0..count).try_for_each(|_| kinds.iter().try_for_each(|kind| self.value(*kind, depth + 1)))
    }
}
