//! The headers of the pages of a Parquet file: what each claims to become is asked for before it does.
//!
//! The reader of parquet 60 fills as many bytes as a header claims that its page has without compression.

use super::super::unreadable;
use super::TOGETHER;
use crate::budget::Budget;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use vaglio_core::Result;

/// What the header of a page says.
#[derive(Debug, Default, Clone, Copy)]
struct Header {
    uncompressed: i64,
    compressed: i64,
    values: i64,
    is_dictionary: bool,
}

/// Refuses pages that claim to take more memory than there may be, and more values than their column has.
///
/// A header that ends too early is left to the decoder, which tells what is wrong with it.
///
/// # Errors
/// A file that is damaged; [`vaglio_core::Error::Setting`] of `limits.memory`.
pub(in crate::read) fn check_pages(
    path: &Path,
    metadata: &ParquetMetaData,
    mut file: impl Read + Seek,
    budget: Budget,
) -> Result<()> {
    for group in metadata.row_groups() {
        let (mut largest, mut is_damaged) = (Vec::with_capacity(group.columns().len()), false);
        for column in group.columns() {
            let mut most = 0;
            let (found, is_other) = headers(&mut file, column);
            is_damaged |= is_other;
            for header in found {
                let is_too_many = match header.is_dictionary {
                    true => header.values > header.uncompressed,
                    false => header.values > column.num_values(),
                };
                if is_too_many {
                    return Err(unreadable(path, "is damaged: a page claims more values than there can be"));
                }
                most = most.max(header.uncompressed);
            }
            largest.push(most);
        }
        // As many as are decoded at once.
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let bytes: f64 = largest.iter().take(TOGETHER * rayon::current_num_threads()).map(|most| *most as f64).sum();
        let remedy = "write the file with smaller pages, or raise the limit";
        budget.need(bytes, format_args!("{}: the pages of a row group, decompressed,", path.display()), remedy)?;
        if is_damaged {
            return Err(unreadable(path, "is damaged: a page has no header of a page"));
        }
    }
    Ok(())
}

/// The headers of the pages of a column, up to the first that cannot be read, and whether something else is in its place:
/// the decoder would take that for what it is not, and for as much as it claims.
fn headers(file: &mut (impl Read + Seek), column: &ColumnChunkMetaData) -> (Vec<Header>, bool) {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset()).min(column.data_page_offset());
    let (mut found, mut left) = (Vec::new(), column.compressed_size());
    if file.seek(SeekFrom::Start(start.max(0) as u64)).is_err() {
        return (found, false);
    }
    while left > 0 {
        let mut thrift = Thrift { file: &mut *file, taken: 0 };
        let header = match thrift.header() {
            Ok(header) => header,
            Err(error) => return (found, error.kind() == ErrorKind::InvalidData),
        };
        left -= thrift.taken + header.compressed;
        found.push(header);
        if header.compressed < 0 || left < 0 || file.seek_relative(header.compressed).is_err() {
            break;
        }
    }
    (found, false)
}

/// Thrift's compact protocol, as far as page headers need it.
struct Thrift<'f, F> {
    file: &'f mut F,
    taken: i64,
}

type Outcome<T> = std::io::Result<T>;

/// Structures in structures, at most.
const DEEPEST: usize = 8;

impl<F: Read> Thrift<'_, F> {
    fn byte(&mut self) -> Outcome<u8> {
        let mut byte = [0];
        self.file.read_exact(&mut byte)?;
        self.taken += 1;
        Ok(byte[0])
    }

    fn unsigned(&mut self) -> Outcome<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            if shift > 63 {
                return Err(Error::from(ErrorKind::InvalidData));
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

    /// The fields of a structure, each given with its number and type to `take`, which reads its value.
    fn fields(&mut self, mut take: impl FnMut(&mut Self, i64, u8) -> Outcome<()>) -> Outcome<()> {
        let mut field = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.signed()?,
                step => field + i64::from(step),
            };
            take(self, field, head & 15)?;
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Outcome<()> {
        let bytes = match kind {
            1 | 2 => 0,
            3 => 1,
            4..=6 => return self.unsigned().map(|_| ()),
            7 => 8,
            8 => self.unsigned()?,
            12 if depth < DEEPEST => return self.fields(|thrift, _, kind| thrift.skip(kind, depth + 1)),
            // Page headers have no lists.
            _ => return Err(Error::from(ErrorKind::InvalidData)),
        };
        let skipped = std::io::copy(&mut self.file.by_ref().take(bytes), &mut std::io::sink())?;
        self.taken += skipped as i64;
        if skipped == bytes { Ok(()) } else { Err(Error::from(ErrorKind::UnexpectedEof)) }
    }

    fn header(&mut self) -> Outcome<Header> {
        let mut header = Header::default();
        self.fields(|thrift, field, kind| {
            expect(&[I32, I32, I32, I32, STRUCT, STRUCT, STRUCT, STRUCT], field, kind)?;
            match field {
                2 => thrift.signed().map(|value| header.uncompressed = value),
                3 => thrift.signed().map(|value| header.compressed = value),
                5 | 7 | 8 => {
                    header.is_dictionary = field == 7;
                    thrift.of_page(field, &mut header.values)
                }
                _ => thrift.skip(kind, 0),
            }
        })?;
        Ok(header)
    }

    /// The header of a page of data, of a dictionary, or of data of the second version.
    fn of_page(&mut self, page: i64, values: &mut i64) -> Outcome<()> {
        let kinds: &[u8] = match page {
            5 => &[I32, I32, I32, I32, STRUCT],
            7 => &[I32, I32, BOOL],
            _ => &[I32, I32, I32, I32, I32, I32, BOOL, STRUCT],
        };
        self.fields(|thrift, field, kind| {
            expect(kinds, field, kind)?;
            match (field, kind) {
                (1, _) => thrift.signed().map(|value| *values = value),
                (_, STRUCT) if kinds.len() as i64 == field => thrift.fields(|thrift, field, kind| {
                    expect(&[BINARY, BINARY, I64, I64, BINARY, BINARY, BOOL, BOOL], field, kind)?;
                    thrift.skip(kind, 2)
                }),
                _ => thrift.skip(kind, 1),
            }
        })
    }
}

const BOOL: u8 = 1;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

/// Refuses a field of another kind than the format gives that number.
fn expect(kinds: &[u8], field: i64, kind: u8) -> Outcome<()> {
    let expected = usize::try_from(field - 1).ok().and_then(|place| kinds.get(place));
    // A truth value is its kind.
    match expected.is_none_or(|expected| *expected == kind || (*expected == BOOL && kind == 2)) {
        true => Ok(()),
        false => Err(Error::from(ErrorKind::InvalidData)),
    }
}
