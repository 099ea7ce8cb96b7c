//! Thrift's compact protocol, and what the format of Parquet says that is in its structures.
//!
//! The reader of parquet 60 takes a field for what its number stands for, whatever kind it says that it has, and goes through
//! lists of truth values that it does not know one by one, taking no byte for each: some bytes claim billions. What passes
//! here has known fields of their kinds and no such list, so that reader ends after as many steps as there are bytes.

use std::io::{Error, ErrorKind, Read};

type Outcome<T> = std::io::Result<T>;

/// What a field, or an element of a list, is.
pub(super) enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    Binary,
    /// The kinds of its fields 1, 2, …; others are skipped.
    Struct(&'static [Kind]),
    List(&'static Kind),
}

use Kind::{Binary, Bool, Double, I8, I16, I32, I64, List, Struct};

/// A structure without a field.
const EMPTY: Kind = Struct(&[]);

const STATISTICS: Kind = Struct(&[Binary, Binary, I64, I64, Binary, Binary, Bool, Bool, I64]);

/// The header of a page: of data, of an index, of a dictionary, of data of the second version.
pub(super) const PAGE_HEADER: &[Kind] = &[
    I32,
    I32,
    I32,
    I32,
    Struct(&[I32, I32, I32, I32, STATISTICS]),
    EMPTY,
    Struct(&[I32, I32, Bool]),
    Struct(&[I32, I32, I32, I32, I32, I32, Bool, STATISTICS]),
];

const TIME: Kind = Struct(&[Bool, Struct(&[EMPTY, EMPTY, EMPTY])]);

/// The ninth is not given.
const LOGICAL_TYPE: Kind = Struct(&[
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

const SCHEMA_ELEMENT: Kind = Struct(&[I32, I32, I32, Binary, I32, I32, I32, I32, I32, LOGICAL_TYPE]);

const KEY_VALUES: Kind = List(&Struct(&[Binary, Binary]));

const BOUNDING_BOX: Kind = Struct(&[Double, Double, Double, Double, Double, Double, Double, Double]);

const COLUMN: Kind = Struct(&[
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

/// The eighth is how a column is encrypted, which is skipped.
const COLUMN_CHUNK: Kind = Struct(&[Binary, I64, COLUMN, I64, I32, I64, I32, EMPTY, Binary]);

const ROW_GROUP: Kind = Struct(&[List(&COLUMN_CHUNK), I64, I64, List(&Struct(&[I32, Bool, Bool])), I64, I64, I16]);

/// The footer of a file; the eighth is how it is encrypted, which is skipped.
pub(super) const FOOTER: &[Kind] = &[
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

/// How a kind is written.
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
}

impl Kind {
    /// Whether a field that says so is of this kind; a truth value is said in its place.
    fn is_written(&self, kind: u8) -> bool {
        let expected = match self {
            Bool => return matches!(kind, wire::TRUE | wire::FALSE),
            I8 => wire::I8,
            I16 => wire::I16,
            I32 => wire::I32,
            I64 => wire::I64,
            Double => wire::DOUBLE,
            Binary => wire::BINARY,
            Struct(_) => wire::STRUCT,
            List(_) => wire::LIST,
        };
        kind == expected
    }
}

/// Structures in structures that are not known, at most.
const DEEPEST: usize = 8;

/// Reads a structure whose fields are known.
///
/// The whole numbers in it, those in lists aside, are given with the numbers of the fields that lead to them.
///
/// # Errors
/// [`ErrorKind::InvalidData`] where a known field is of another kind, or a list holds truth values;
/// [`ErrorKind::UnexpectedEof`] where the bytes end before the structure.
pub(super) fn read_struct(bytes: impl Read, fields: &[Kind], mut number: impl FnMut(&[i16], i64)) -> Outcome<u64> {
    let mut thrift = Thrift { bytes, taken: 0, place: Vec::new(), number: &mut number };
    thrift.fields(fields, 0)?;
    Ok(thrift.taken)
}

struct Thrift<'n, R> {
    bytes: R,
    taken: u64,
    /// The numbers of the fields that lead to where it reads.
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

    /// The fields of a structure; `depth` counts the unknown ones that it is in.
    fn fields(&mut self, kinds: &[Kind], depth: usize) -> Outcome<()> {
        let mut field = 0i16;
        loop {
            let head = self.byte()?;
            let kind = head & 15;
            if kind == 0 {
                return Ok(());
            }
            let next = match head >> 4 {
                0 => i16::try_from(self.signed()?).ok(),
                step => field.checked_add(i16::from(step)),
            };
            field = next.ok_or(ErrorKind::InvalidData)?;
            let known = usize::try_from(field).ok().and_then(|field| kinds.get(field.checked_sub(1)?));
            self.place.push(field);
            match known {
                Some(known) if known.is_written(kind) => self.value(known)?,
                Some(_) => return invalid(),
                None => self.skip(kind, depth)?,
            }
            self.place.pop();
        }
    }

    /// A value of a known kind in its field.
    fn value(&mut self, kind: &Kind) -> Outcome<()> {
        match kind {
            I16 | I32 | I64 => {
                let value = self.signed()?;
                (self.number)(&self.place, value);
                Ok(())
            }
            Struct(kinds) => self.fields(kinds, 0),
            List(of) => {
                let (element, count) = self.list()?;
                if count > 0 && !of.is_written(element) {
                    return invalid();
                }
                (0..count).try_for_each(|_| match of {
                    Struct(kinds) => self.fields(kinds, 0),
                    _ => self.skip(element, 0),
                })
            }
            Bool => Ok(()),
            I8 => self.skip(wire::I8, 0),
            Double => self.skip(wire::DOUBLE, 0),
            Binary => self.skip(wire::BINARY, 0),
        }
    }

    /// The kind of the elements of a list, and how many there are: each takes a byte at least, so a claim of more than there
    /// are ends with the bytes.
    fn list(&mut self) -> Outcome<(u8, u64)> {
        let head = self.byte()?;
        let (element, few) = (head & 15, head >> 4);
        let count = if few == 15 { self.unsigned()? } else { u64::from(few) };
        let is_of_truths = matches!(element, wire::TRUE | wire::FALSE);
        if count > 0 && is_of_truths { invalid() } else { Ok((element, count)) }
    }

    /// Passes a value that is not known.
    fn skip(&mut self, kind: u8, depth: usize) -> Outcome<()> {
        match kind {
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
                let kinds = if count == 0 { 0 } else { self.byte()? };
                let (key, value) = (kinds >> 4, kinds & 15);
                if count > 0 && [key, value].iter().any(|kind| matches!(*kind, wire::TRUE | wire::FALSE)) {
                    return invalid();
                }
                (0..count).try_for_each(|_| self.skip(key, depth + 1).and_then(|()| self.skip(value, depth + 1)))
            }
            wire::STRUCT => self.fields(&[], depth + 1),
            _ => invalid(),
        }
    }
}
