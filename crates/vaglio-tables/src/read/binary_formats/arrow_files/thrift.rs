//! Thrift's compact protocol, in which Parquet describes files and pages.
//!
//! The reader of parquet 60 takes a field's type from its number. It skips a list of booleans without reading bytes, so
//! six bytes claim two billion steps. Here fields have their types and increasing numbers, and such lists are refused:
//! reading ends after as many steps as there are bytes.

use FieldType::{Any, Binary, Byte, Double, List, Number, Struct};
use std::io::{Error, ErrorKind, Read, Result};

/// Type of a field, or of the elements of a list.
pub(super) enum FieldType {
    Byte,
    /// A whole number of at most 64 bits.
    Number,
    Double,
    Binary,
    /// Types of the fields 1, 2, …; others are of any type.
    Struct(&'static [FieldType]),
    List(&'static FieldType),
    /// A field that the reader skips, or whose type it checks, such as booleans.
    Any,
}

const EMPTY: FieldType = Struct(&[]);

/// Header of a page.
pub(super) const PAGE_HEADER: &[FieldType] = &[
    Number,
    Number,
    Number,
    Number,
    Struct(&[Number, Number, Number, Number]),
    EMPTY,
    Struct(&[Number, Number]),
    Struct(&[Number, Number, Number, Number, Number, Number]),
];

const UNIT: FieldType = Struct(&[EMPTY, EMPTY, EMPTY]);
const TIME: FieldType = Struct(&[Any, UNIT]);

const LOGICAL_TYPE: FieldType = Struct(&[
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[Number, Number]),
    EMPTY,
    TIME,
    TIME,
    Any,
    Struct(&[Byte]),
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[Byte]),
    Struct(&[Binary]),
    Struct(&[Binary, Number]),
    EMPTY,
]);

const SCHEMA_ELEMENT: FieldType =
    Struct(&[Number, Number, Number, Binary, Number, Number, Number, Number, Number, LOGICAL_TYPE]);

const BOUNDING_BOX: FieldType = Struct(&[Double, Double, Double, Double, Double, Double, Double, Double]);

const COLUMN: FieldType = Struct(&[
    Number,
    List(&Number),
    Any,
    Number,
    Number,
    Number,
    Number,
    Any,
    Number,
    Number,
    Number,
    Struct(&[Binary, Binary, Number, Number, Binary, Binary, Any, Any, Number]),
    List(&Struct(&[Number, Number, Number])),
    Number,
    Number,
    Struct(&[Number, List(&Number), List(&Number)]),
    Struct(&[BOUNDING_BOX, List(&Number)]),
]);

const COLUMN_CHUNK: FieldType = Struct(&[Binary, Number, COLUMN, Number, Number, Number, Number]);

const ROW_GROUP: FieldType =
    Struct(&[List(&COLUMN_CHUNK), Number, Number, List(&Struct(&[Number])), Number, Any, Number]);

/// Footer of a file.
pub(super) const FOOTER: &[FieldType] =
    &[Number, List(&SCHEMA_ELEMENT), Number, List(&ROW_GROUP), List(&Struct(&[Binary, Binary])), Binary, List(&UNIT)];

/// Maximum nesting of structures and lists.
const DEEPEST: usize = 32;

/// Reads a structure. Reports whole numbers, and the lengths of strings, with the field numbers that lead to them.
///
/// # Errors
/// [`ErrorKind::InvalidData`] for fields that the reader of parquet 60 would misread; [`ErrorKind::UnexpectedEof`] if
/// the bytes end before the structure.
pub(super) fn read_struct(bytes: impl Read, fields: &[FieldType], report: impl FnMut(&[i16], u64)) -> Result<()> {
    Thrift { bytes, report, place: Vec::new() }.fields(fields)
}

struct Thrift<R, F> {
    bytes: R,
    report: F,
    /// Field numbers that lead to the current position, with 0 for a list.
    place: Vec<i16>,
}

fn invalid() -> Error {
    Error::new(ErrorKind::InvalidData, "a field is not as the format has it")
}

impl<R: Read, F: FnMut(&[i16], u64)> Thrift<R, F> {
    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn read_unsigned(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(invalid())
    }

    fn read_signed(&mut self) -> Result<i64> {
        self.read_unsigned().map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn pass(&mut self, bytes: u64) -> Result<()> {
        let passed = std::io::copy(&mut self.bytes.by_ref().take(bytes), &mut std::io::sink())?;
        if passed == bytes { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    fn fields(&mut self, types: &[FieldType]) -> Result<()> {
        let mut last = 0;
        loop {
            let head = self.byte()?;
            if head & 15 == 0 {
                return Ok(());
            }
            let field = if head < 16 { self.read_signed()? } else { last + i64::from(head >> 4) };
            if field <= last || field > i16::MAX.into() {
                return Err(invalid());
            }
            last = field;
            self.place.push(field as i16);
            self.value(types.get(field as usize - 1).unwrap_or(&Any), head & 15)?;
            self.place.pop();
        }
    }

    /// Reads a value whose type is written as `code`.
    fn value(&mut self, known: &FieldType, code: u8) -> Result<()> {
        match (code, known) {
            (1 | 2, Any) => Ok(()),
            (3, Byte | Any) => self.pass(1),
            (4..=6, Number | Any) => {
                let number = self.read_signed()?;
                (self.report)(&self.place, number as u64);
                Ok(())
            }
            (7, Double | Any) => self.pass(8),
            (8, Binary | Any) => {
                let length = self.read_unsigned()?;
                (self.report)(&self.place, length);
                self.pass(length)
            }
            (9, List(element)) => self.list(element),
            (9, Any) => self.list(&Any),
            (12, Struct(fields)) if self.place.len() < DEEPEST => self.fields(fields),
            (12, Any) if self.place.len() < DEEPEST => self.fields(&[]),
            _ => Err(invalid()),
        }
    }

    /// Reads a list. An element takes at least a byte, so false lengths end with the bytes.
    fn list(&mut self, element: &FieldType) -> Result<()> {
        let head = self.byte()?;
        let (code, few) = (head & 15, u64::from(head >> 4));
        let count = if few == 15 { self.read_unsigned()? } else { few };
        if (count > 0 && code < 3) || self.place.len() >= DEEPEST {
            return Err(invalid());
        }
        self.place.push(0);
        (0..count).try_for_each(|_| self.value(element, code))?;
        self.place.pop();
        Ok(())
    }
}
