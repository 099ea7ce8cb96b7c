//! Checks of a Parquet footer against the file and itself.

use super::super::{failed, unreadable};
use super::guard::guarded;
use super::thrift::{FOOTER, read_struct};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use vaglio_core::Result;

/// Reads the footer of a file.
///
/// Rejects footers on which the reader of parquet 60 would not end ([`super::thrift`]); a truncated footer is left to
/// that reader, which reports the fault.
///
/// # Errors
/// Fails for a damaged file.
pub(super) fn footer(path: &Path, reader: &impl ChunkReader) -> Result<ArrowReaderMetadata> {
    let has_other_fields = || -> parquet::errors::Result<bool> {
        let Some(start) = reader.len().checked_sub(END) else { return Ok(false) };
        let end = reader.get_bytes(start, END as usize)?;
        let (length, magic) = end.split_at(4);
        let length = length.try_into().map_or(0, u32::from_le_bytes);
        let Some(start) = start.checked_sub(length.into()).filter(|_| magic == b"PAR1") else { return Ok(false) };
        let bytes = reader.get_bytes(start, length as usize)?;
        let read = read_struct(&bytes[..], FOOTER, |_, _| {});
        Ok(read.is_err_and(|error| error.kind() == ErrorKind::InvalidData))
    };
    if has_other_fields().map_err(failed(path))? {
        return Err(unreadable(path, "is damaged: its footer has fields of other kinds than the format gives it"));
    }
    guarded(path, || ArrowReaderMetadata::load(reader, Default::default()).map_err(failed(path)))
}

/// Bytes after a footer: its length, and the magic bytes.
const END: u64 = 8;

/// Rejects a footer with inconsistent numbers of rows or columns outside of the file, and returns the number of rows.
///
/// # Errors
/// Fails for a damaged file.
pub(super) fn check_footer(path: &Path, metadata: &ParquetMetaData, length: u64) -> Result<usize> {
    let said = metadata.file_metadata().num_rows();
    let mut rows = 0i64;
    for group in metadata.row_groups() {
        rows = rows.saturating_add(group.num_rows());
        for column in group.columns() {
            if column.column_descr().max_rep_level() == 0 && column.num_values() != group.num_rows() {
                let (name, values) = (column.column_path().string(), column.num_values());
                let name = super::super::shortened(&name);
                let message = format!(
                    "is damaged: column `{name}` has {values} values in a group of {} rows, as its footer says",
                    group.num_rows()
                );
                return Err(unreadable(path, message));
            }
            if !is_inside(column, length) {
                return Err(unreadable(path, "is damaged: a column lies outside of it, as its footer says"));
            }
        }
    }
    match usize::try_from(said) {
        Ok(count) if said == rows => Ok(count),
        _ => Err(unreadable(path, format!("is damaged: its footer says {said} rows, and its groups have {rows}"))),
    }
}

/// Rejects columns, by the number of their root, with an unsupported compression.
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`] that names the column.
pub(super) fn check_codecs(path: &Path, metadata: &ParquetMetaData, roots: &[usize]) -> Result<()> {
    let schema = metadata.file_metadata().schema_descr();
    let is_wanted = |leaf: &usize| roots.contains(&schema.get_column_root_idx(*leaf));
    for leaf in (0..schema.num_columns()).filter(is_wanted) {
        let of_leaf = metadata.row_groups().iter().filter_map(|group| group.columns().get(leaf));
        let codec = of_leaf.map(ColumnChunkMetaData::compression).find_map(|compression| match compression {
            Compression::BROTLI(_) => Some("brotli"),
            Compression::LZO => Some("LZO"),
            _ => None,
        });
        if let Some(codec) = codec {
            let name = super::super::shortened(&schema.column(leaf).path().string());
            let message = format!(
                "column `{name}` is compressed by {codec}, which this program does not read; write the file again \
                 with snappy, gzip, lz4 or zstd, or without compression"
            );
            return Err(unreadable(path, message));
        }
    }
    Ok(())
}

/// Whether the pages of a column lie within a file of this length.
fn is_inside(column: &ColumnChunkMetaData, length: u64) -> bool {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset()).min(column.data_page_offset());
    let end = start.checked_add(column.compressed_size());
    start >= 0 && column.compressed_size() >= 0 && end.is_some_and(|end| end as u64 <= length)
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
    let groups = metadata.metadata().row_groups();
    let descriptor = metadata.parquet_schema();
    let has_dictionary = |root: usize| {
        let leaf = (0..descriptor.num_columns()).find(|&leaf| descriptor.get_column_root_idx(leaf) == root);
        leaf.is_some_and(|leaf| {
            let of_group = |group: &parquet::file::metadata::RowGroupMetaData| {
                group.columns().get(leaf).is_some_and(|column| column.dictionary_page_offset().is_some())
            };
            groups.iter().any(of_group)
        })
    };
    let is_text =
        |field: &Field| matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let mut is_changed = false;
    let field = |(root, field): (usize, &Arc<Field>)| match is_text(field) && has_dictionary(root) {
        false => Arc::clone(field),
        true => {
            is_changed = true;
            let values = if *field.data_type() == DataType::LargeUtf8 { DataType::LargeUtf8 } else { DataType::Utf8 };
            let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
            Arc::new(field.as_ref().clone().with_data_type(words))
        }
    };
    let schema = metadata.schema();
    let fields: Vec<Arc<Field>> = schema.fields().iter().enumerate().map(field).collect();
    if !is_changed {
        return metadata;
    }
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).unwrap_or(metadata)
}
