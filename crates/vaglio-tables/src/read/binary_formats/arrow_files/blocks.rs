//! Blocks of Arrow files and streams: dictionaries and batches of rows.

use super::file_bytes::FileBytes;
use super::file_error;
use crate::read::unreadable;
use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, Message, MetadataVersion, root_as_message};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};
use std::path::Path;
use std::sync::Arc;
use vaglio_core::{Error, Result};

/// Blocks of an Arrow file or stream.
#[derive(Debug)]
pub(super) struct ArrowBlocks {
    pub schema: SchemaRef,
    version: MetadataVersion,
    /// Blocks in the order of decoding, with their number of rows; `None` for a dictionary. In a stream, a dictionary may
    /// replace an earlier one.
    blocks: Vec<(Block, Option<usize>)>,
}

/// First bytes of a file.
const MAGIC: &[u8] = b"ARROW1";
/// Bytes before the first message of a file: at least the magic bytes, and at most these with zeros after them.
const START: [u64; 2] = [8, 64];

/// Bytes at the end of a file: the length of its footer, and the magic bytes.
const END: usize = 10;

fn damage_error(path: &Path, what: &str) -> Error {
    unreadable(path, format!("is damaged: {what}"))
}

impl ArrowBlocks {
    /// Reads the messages of a stream, without their bodies. A file is a stream between magic bytes and a footer.
    ///
    /// # Errors
    /// Fails for a damaged file.
    pub fn new(file: &FileBytes) -> Result<Self> {
        let path = &*file.path;
        let bytes_at = |at: u64, length: usize| file.get_bytes(at, length).map_err(file_error(path));
        let number_at =
            |at: u64| bytes_at(at, 4).map(|bytes| bytes.first_chunk().map_or(0, |b| i32::from_le_bytes(*b)));
        let (mut at, mut end) = (0, file.len());
        let is_file = file.get_bytes(0, MAGIC.len()).is_ok_and(|first| first == MAGIC);
        if is_file {
            end = end.saturating_sub(END as u64);
            let footer = bytes_at(end, END)?.first_chunk().copied().unwrap_or_default();
            end = end.saturating_sub(read_footer_length(footer).map_err(file_error(path))? as u64);
            at = START[0];
        }
        let (mut known, mut blocks) = (None, Vec::new());
        while at < end {
            let (head, length) = match number_at(at)? {
                -1 => (8, number_at(at + 4)?),
                length => (4, length),
            };
            if length == 0 && known.is_none() && at < START[1] {
                at += START[0];
                continue;
            }
            if length == 0 {
                break;
            }
            let metadata = bytes_at(at, head + length as usize)?;
            let message = message(path, &metadata)?;
            if let Some(schema) = message.header_as_schema() {
                known = Some((read_schema(path, schema)?, message.version()));
            } else {
                blocks.push((Block::new(at as i64, metadata.len() as i32, message.bodyLength()), rows(message)));
            }
            at = at.saturating_add(metadata.len() as u64).saturating_add(message.bodyLength() as u64);
            if at > end {
                return Err(damage_error(path, "a message is longer than what is left of it"));
            }
        }
        let (schema, version) = known.ok_or_else(|| damage_error(path, "it names no columns"))?;
        if is_file {
            // Dictionaries of a file may come after the rows that use them.
            blocks.sort_by_key(|(_, rows)| rows.is_some());
        }
        Ok(ArrowBlocks { schema, version, blocks })
    }

    /// Numbers of rows of the batches.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.blocks.iter().filter_map(|(_, rows)| *rows)
    }

    /// Reads the batches of these columns in order; those of a file on disk within the memory limit.
    pub fn read(
        self: &Arc<Self>,
        file: &FileBytes,
        columns: Vec<usize>,
    ) -> impl Iterator<Item = Result<RecordBatch>> + use<> {
        let (blocks, file) = (Arc::clone(self), file.clone());
        let mut decoder = FileDecoder::new(self.schema.clone(), self.version).with_projection(columns);
        let decoded = move |at: usize| -> Result<Option<RecordBatch>> {
            let (block, rows) = &blocks.blocks[at];
            let bytes = block_bytes(&file, block)?.into();
            match rows {
                None => decoder.read_dictionary(block, &bytes).map(|()| None),
                Some(_) => decoder.read_record_batch(block, &bytes),
            }
            .map_err(file_error(&file.path))
        };
        (0..self.blocks.len()).map(decoded).filter_map(Result::transpose)
    }
}

/// Column types of a file whose bytes are in the order of this machine.
fn read_schema(path: &Path, schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(unreadable(path, "its bytes are in another order than those of this machine"));
    }
    try_fb_to_schema(schema).map(Arc::new).map_err(file_error(path))
}

/// Message in the metadata of a block, after its length.
fn message<'a>(path: &Path, metadata: &'a [u8]) -> Result<Message<'a>> {
    let start = if metadata.starts_with(&[0xff; 4]) { 8 } else { 4 };
    root_as_message(&metadata[start..]).map_err(|error| damage_error(path, &format!("a block: {error}")))
}

/// Number of rows of a batch; `None` for a dictionary.
fn rows(message: Message<'_>) -> Option<usize> {
    let is_dictionary = message.header_as_dictionary_batch().is_some();
    (!is_dictionary).then(|| message.header_as_record_batch().map_or(0, |batch| batch.length() as usize))
}

/// Bytes of a block, within the memory limit with all that its compressed buffers claim to become: the decoder of
/// arrow-ipc 60 allocates as much.
fn block_bytes(file: &FileBytes, block: &Block) -> Result<Bytes> {
    let (path, budget) = (&*file.path, file.budget);
    let remedy = "write the file in smaller batches, or raise the limit";
    let length = block.metaDataLength() as usize + block.bodyLength() as usize;
    if file.is_on_disk() {
        budget.need(length as f64, format_args!("{}: a batch", path.display()), remedy)?;
    }
    let bytes = file.get_bytes(block.offset() as u64, length).map_err(file_error(path))?;
    let message = message(path, &bytes)?;
    let dictionary_batch = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let batch = message.header_as_record_batch().or(dictionary_batch);
    let body = &bytes[block.metaDataLength() as usize..];
    // An empty buffer claims nothing.
    let claim = |buffer: &arrow_ipc::Buffer| match buffer.length() < 8 {
        true => None,
        false => Some(i64::from_le_bytes(*body.get(buffer.offset() as usize..)?.first_chunk()?)),
    };
    let buffers = batch.filter(|batch| batch.compression().is_some()).and_then(|batch| batch.buffers());
    let claimed: f64 = buffers.into_iter().flatten().filter_map(claim).map(|claim| claim.max(0) as f64).sum();
    budget.need(claimed, format_args!("{}: a batch, decompressed,", path.display()), remedy)?;
    Ok(bytes)
}
