//! Checks of Parquet page headers: the memory limit is checked for the claimed sizes before decoding.
//!
//! The reader of parquet 60 allocates as many bytes as a header claims for its uncompressed page.

use super::super::unreadable;
use super::TOGETHER;
use super::thrift::{PAGE_HEADER, read_struct};
use crate::budget::Budget;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use vaglio_core::Result;

/// Content of a page header.
#[derive(Debug, Default, Clone, Copy)]
struct PageHeader {
    uncompressed: i64,
    compressed: i64,
    values: i64,
    is_dictionary: bool,
}

/// Rejects pages that claim more than the memory limit, or more values than their column has.
///
/// A truncated header is left to the decoder, which reports the fault.
///
/// # Errors
/// Fails for a damaged file; [`vaglio_core::Error::Setting`] at `limits.memory`.
pub(super) fn check_pages(
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

/// Page headers of a column up to the first unreadable one, and whether that one holds other fields, which the decoder
/// would misread.
fn headers(file: &mut (impl Read + Seek), column: &ColumnChunkMetaData) -> (Vec<PageHeader>, bool) {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset()).min(column.data_page_offset());
    let (mut found, mut left) = (Vec::new(), column.compressed_size());
    if file.seek(SeekFrom::Start(start.max(0) as u64)).is_err() {
        return (found, false);
    }
    while left > 0 {
        let mut header = PageHeader::default();
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
