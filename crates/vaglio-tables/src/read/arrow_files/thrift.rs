//! Thrift's compact protocol, and the structures of Parquet's format.
//!
//! The reader of parquet 60 interprets a field by its number, whatever its declared type, and iterates over unknown
//! lists of booleans without consuming bytes: a few bytes claim billions. This check accepts known fields of the right
//! types only and no such list, so that the reader ends after as many steps as there are bytes.

use std::io::{Error, ErrorKind, Read};

type Outcome<T> = std::io::Result<T>;

/// Type of a field, or of the elements of a list.
pub(super) enum FieldType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    Binary,
    /// Types of its fields 1, 2, …; others are skipped.
    Struct(&'static [FieldType]),
    List(&'static FieldType),
}

use FieldType::{Binary, Bool, Double, I8, I16, I32, I64, List, Struct};

/// A structure without fields.
const EMPTY: FieldType = Struct(&[]);

const STATISTICS: FieldType = Struct(&[Binary, Binary, I64, I64, Binary, Binary, Bool, Bool, I64]);

/// Header of a page: data, index, dictionary, and data of version 2.
pub(super) const PAGE_HEADER: &[FieldType] = &[
    I32,
    I32,
    I32,
    I32,
    Struct(&[I32, I32, I32, I32, STATISTICS]),
    EMPTY,
    Struct(&[I32, I32, Bool]),
    Struct(&[I32, I32, I32, I32, I32, I32, Bool, STATISTICS]),
];

const TIME: FieldType = Struct(&[Bool, Struct(&[EMPTY, EMPTY, EMPTY])]);

/// The ninth field is unused.
const LOGICAL_TYPE: FieldType = Struct(&[
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[I32, I32]),
    EMPTY,
    TIME,
    TIME,
    EMPTY,
    Struct(&[I8, Bool]),
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[I8]),
    Struct(&[Binary]),
    Struct(&[Binary, I32]),
    EMPTY,
]);

const SCHEMA_ELEMENT: FieldType = Struct(&[I32, I32, I32, Binary, I32, I32, I32, I32, I32, LOGICAL_TYPE]);

const KEY_VALUES: FieldType = List(&Struct(&[Binary, Binary]));

const BOUNDING_BOX: FieldType = Struct(&[Double, Double, Double, Double, Double, Double, Double, Double]);

const COLUMN: FieldType = Struct(&[
    I32,
    List(&I32),
    List(&Binary),
    I32,
    I64,
    I64,
    I64,
    KEY_VALUES,
    I64,
    I64,
    I64,
    STATISTICS,
    List(&Struct(&[I32, I32, I32])),
    I64,
    I32,
    Struct(&[I64, List(&I64), List(&I64)]),
    Struct(&[BOUNDING_BOX, List(&I32)]),
]);

/// The eighth field, encryption of a column, is skipped.
const COLUMN_CHUNK: FieldType = Struct(&[Binary, I64, COLUMN, I64, I32, I64, I32, EMPTY, Binary]);

const ROW_GROUP: FieldType = Struct(&[List(&COLUMN_CHUNK), I64, I64, List(&Struct(&[I32, Bool, Bool])), I64, I64, I16]);

/// Footer of a file; the eighth field, encryption, is skipped.
pub(super) const FOOTER: &[FieldType] = &[
    I32,
    List(&SCHEMA_ELEMENT),
    I64,
    List(&ROW_GROUP),
    KEY_VALUES,
    Binary,
    List(&Struct(&[EMPTY, EMPTY, EMPTY])),
    EMPTY,
    Binary,
];

/// Type codes on the wire.
mod wire {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const I8: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 13;

    /// Whether a code is a boolean, which a field encodes in its type; lists of booleans are rejected.
    pub fn is_truth(code: u8) -> bool {
        matches!(code, TRUE | FALSE)
    }
}

impl FieldType {
    /// Whether the type is encoded by this code.
    fn is_written(&self, code: u8) -> bool {
        let expected = match self {
            Bool => return wire::is_truth(code),
            I8 => wire::I8,
            I16 => wire::I16,
            I32 => wire::I32,
            I64 => wire::I64,
            Double => wire::DOUBLE,
            Binary => wire::BINARY,
            Struct(_) => wire::STRUCT,
            List(_) => wire::LIST,
        };
        code == expected
    }
}

/// Maximum nesting of unknown structures, lists and maps.
const DEEPEST: usize = 8;

/// Reads a structure with known fields.
///
/// Reports whole numbers, except those in lists, with the field numbers that lead to them.
///
/// # Errors
/// [`ErrorKind::InvalidData`] if a known field has another type or a list holds booleans; [`ErrorKind::UnexpectedEof`]
/// if the bytes end before the structure.
pub(super) fn read_struct(bytes: impl Read, fields: &[FieldType], mut number: impl FnMut(&[i16], i64)) -> Outcome<u64> {
    let mut thrift = Thrift { bytes, taken: 0, place: Vec::new(), number: &mut number };
    thrift.fields(fields, 0)?;
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
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            if shift > 63 {
                return invalid();
            }
            value |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return Ok(value);
            }
        }
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

    /// Reads the fields of a structure; `depth` counts the unknown ones around it.
    fn fields(&mut self, types: &[FieldType], depth: usize) -> Outcome<()> {
        let mut field = 0i16;
        loop {
            let head = self.byte()?;
            let code = head & 15;
            if code == 0 {
                return Ok(());
            }
            let next = match head >> 4 {
                0 => i16::try_from(self.signed()?).ok(),
                step => field.checked_add(i16::from(step)),
            };
            field = next.ok_or(ErrorKind::InvalidData)?;
            let known = usize::try_from(field).ok().and_then(|field| types.get(field.checked_sub(1)?));
            self.place.push(field);
            match known {
                Some(known) if known.is_written(code) => self.value(known, code)?,
                Some(_) => return invalid(),
                None => self.skip(code, depth)?,
            }
            self.place.pop();
        }
    }

    /// Reads the value of a known field.
    fn value(&mut self, known: &FieldType, code: u8) -> Outcome<()> {
        match known {
            I16 | I32 | I64 => {
                let value = self.signed()?;
                (self.number)(&self.place, value);
                Ok(())
            }
            Struct(types) => self.fields(types, 0),
            List(of) => {
                let (element, count) = self.list()?;
                if count > 0 && !of.is_written(element) {
                    return invalid();
                }
                (0..count).try_for_each(|_| match of {
                    Struct(types) => self.fields(types, 0),
                    _ => self.skip(element, 0),
                })
            }
            Bool | I8 | Double | Binary => self.skip(code, 0),
        }
    }

    /// Reads element type and length of a list. An element takes at least a byte, so false lengths end with the bytes.
    fn list(&mut self) -> Outcome<(u8, u64)> {
        let head = self.byte()?;
        let (element, few) = (head & 15, head >> 4);
        let count = if few == 15 { self.unsigned()? } else { u64::from(few) };
        if count > 0 && wire::is_truth(element) { invalid() } else { Ok((element, count)) }
    }

    /// Skips an unknown value.
    fn skip(&mut self, code: u8, depth: usize) -> Outcome<()> {
        match code {
            wire::TRUE | wire::FALSE => Ok(()),
            wire::I8 => self.pass(1),
            wire::I16 | wire::I32 | wire::I64 => self.unsigned().map(|_| ()),
            wire::DOUBLE => self.pass(8),
            wire::BINARY => self.unsigned().and_then(|bytes| self.pass(bytes)),
            wire::UUID => self.pass(16),
            _ if depth == DEEPEST => invalid(),
            wire::LIST | wire::SET => {
                let (element, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip(element, depth + 1))
            }
            wire::MAP => {
                let count = self.unsigned()?;
                let codes = if count == 0 { 0 } else { self.byte()? };
                let (key, value) = (codes >> 4, codes & 15);
                if wire::is_truth(key) || wire::is_truth(value) {
                    return invalid();
                }
                (0..count).try_for_each(|_| self.skip(key, depth + 1).and_then(|()| self.skip(value, depth + 1)))
            }
            wire::STRUCT => self.fields(&[], depth + 1),
            _ => invalid(),
        }
    }
}
