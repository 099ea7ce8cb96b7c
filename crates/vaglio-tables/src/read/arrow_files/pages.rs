//! The headers of the pages of a Parquet file: what each claims to become is asked for before it does.
//!
//! The reader of parquet 60 fills as many bytes as a header claims that its page has without compression.

use super::super::unreadable;
use super::TOGETHER;
use super::thrift::{PAGE_HEADER, read_struct};
use crate::budget::Budget;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
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
        let mut header = Header::default();
        let number = |place: &[i16], value| match place {
            [2] => header.uncompressed = value,
            [3] => header.compressed = value,
            [kind @ (5 | 7 | 8), 1] => (header.is_dictionary, header.values) = (*kind == 7, value),
            _ => {}
        };
        let taken = match read_struct(file.by_ref().take(left as u64), PAGE_HEADER, number) {
            Ok(taken) => taken as i64,
            Err(error) => return (found, error.kind() == ErrorKind::InvalidData),
        };
        left -= taken + header.compressed;
        found.push(header);
        if header.compressed < 0 || left < 0 || file.seek_relative(header.compressed).is_err() {
            break;
        }
    }
    (found, false)
}
