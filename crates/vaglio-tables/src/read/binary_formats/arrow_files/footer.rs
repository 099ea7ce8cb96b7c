//! Rows, compression and column types of a Parquet file by its footer.

use super::columns::is_text;
use super::file_bytes::FileBytes;
use super::file_error;
use super::thrift::{FOOTER, read_struct};
use crate::read::unreadable;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use vaglio_core::Result;

/// Reads the footer of a file.
///
/// # Errors
/// Fails for a damaged file.
pub(super) fn footer(file: &FileBytes) -> Result<ArrowReaderMetadata> {
    let read = || {
        let at = file.len().saturating_sub(END as u64);
        let end = file.get_bytes(at, END)?;
        let length = end.strip_suffix(b"PAR1").and_then(|length| length.first_chunk());
        let length = u32::from_le_bytes(*length.ok_or_else(|| ParquetError::General("it has no footer".into()))?);
        let bytes = file.get_bytes(at.saturating_sub(length.into()), length as usize)?;
        check_fields(&bytes)?;
        let metadata = ParquetMetaDataReader::decode_metadata(&bytes)?;
        ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::default())
    };
    read().map_err(file_error(&file.path))
}

/// Bytes after a footer: its length, and the magic bytes.
const END: usize = 8;
/// Maximum nesting of groups of columns.
const DEEPEST: usize = 64;

/// Rejects fields that the reader of parquet 60 would misread, and groups of columns for which it would take too much
/// memory: it allocates as many children as a group claims, and calls itself for a group in a group.
fn check_fields(bytes: &[u8]) -> parquet::errors::Result<()> {
    let (mut open, mut is_possible) = (Vec::new(), true);
    read_struct(bytes, FOOTER, |place, number| match place {
        // The name of a column or group, and the number of children of a group.
        [2, 0, 4] => {
            while open.pop_if(|left| *left == 0).is_some() {}
            open.last_mut().into_iter().for_each(|left| *left -= 1);
        }
        [2, 0, 5] => {
            open.push(number);
            is_possible &= number <= bytes.len() as u64 && open.len() <= DEEPEST;
        }
        _ => {}
    })?;
    match is_possible {
        true => Ok(()),
        false => Err(ParquetError::General("a group claims more columns than there can be".into())),
    }
}

/// Number of rows of a file, as its footer says.
///
/// # Errors
/// Fails if the groups of rows have another number.
pub(super) fn rows(path: &Path, metadata: &ParquetMetaData) -> Result<usize> {
    let said = metadata.file_metadata().num_rows();
    let rows = metadata.row_groups().iter().fold(0i64, |rows, group| rows.saturating_add(group.num_rows()));
    match usize::try_from(said) {
        Ok(count) if said == rows => Ok(count),
        _ => Err(unreadable(path, format!("is damaged: its footer says {said} rows, and its groups have {rows}"))),
    }
}

/// Rejects wanted columns, by the number of their root, with an unsupported compression.
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`] that names the column.
pub(super) fn check_codecs(path: &Path, metadata: &ParquetMetaData, is_wanted: impl Fn(usize) -> bool) -> Result<()> {
    let schema = metadata.file_metadata().schema_descr();
    for leaf in (0..schema.num_columns()).filter(|leaf| is_wanted(schema.get_column_root_idx(*leaf))) {
        let chunks = metadata.row_groups().iter().filter_map(|group| group.columns().get(leaf));
        let codec = chunks.map(ColumnChunkMetaData::compression).find_map(|compression| match compression {
            Compression::BROTLI(_) => Some("brotli"),
            Compression::LZO => Some("LZO"),
            _ => None,
        });
        if let Some(codec) = codec {
            let name = crate::read::truncate_message(&schema.column(leaf).path().string());
            let message = format!(
                "column `{name}` is compressed by {codec}, which this program does not read; write the file again \
                 with snappy, gzip, lz4 or zstd, or without compression"
            );
            return Err(unreadable(path, message));
        }
    }
    Ok(())
}

/// Checks that a file holds as many rows as it claims.
///
/// # Errors
/// Fails if the numbers differ.
pub(super) fn check_rows(path: &Path, said: usize, found: usize) -> Result<()> {
    match said == found {
        true => Ok(()),
        false => Err(unreadable(path, format!("is damaged: its footer says {said} rows, and it holds {found}"))),
    }
}

/// Keeps dictionary-encoded text as dictionaries: a few bytes of it can represent gigabytes.
pub(super) fn with_dictionaries(metadata: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let columns = metadata.metadata().row_groups().iter().flat_map(|group| group.columns().iter().enumerate());
    let coded = columns.filter(|(_, column)| column.dictionary_page_offset().is_some());
    let coded: HashSet<usize> = coded.map(|(leaf, _)| metadata.parquet_schema().get_column_root_idx(leaf)).collect();
    let field = |(root, field): (usize, &Arc<Field>)| {
        if !is_text(field.data_type()) || !coded.contains(&root) {
            return Arc::clone(field);
        }
        let values = if *field.data_type() == DataType::LargeUtf8 { DataType::LargeUtf8 } else { DataType::Utf8 };
        let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
        Arc::new(field.as_ref().clone().with_data_type(words))
    };
    let schema = metadata.schema();
    let fields: Vec<Arc<Field>> = schema.fields().iter().enumerate().map(field).collect();
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).unwrap_or(metadata)
}
