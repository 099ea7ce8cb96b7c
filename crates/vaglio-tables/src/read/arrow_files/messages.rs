//! Checks of the lengths that an Arrow file claims, before it is decoded.
//!
//! The reader of arrow-ipc 60 allocates as much as the footer of a file claims for a block, and as much as a compressed
//! buffer claims to become.

use super::super::{failed, unreadable};
use super::file_bytes::FileBytes;
use crate::budget::Budget;
use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, Message, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};
use std::path::Path;
use std::sync::Arc;
use vaglio_core::{Error, Result};

/// Blocks of an Arrow file or stream, all within its length.
#[derive(Debug)]
pub(super) struct ArrowBlocks {
    pub schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
    /// Number of rows of each batch.
    pub lengths: Vec<usize>,
    /// Number of dictionaries before each batch; in a stream, later ones may replace earlier ones.
    before: Vec<usize>,
}

/// Length of the longest magic bytes at the ends of a file.
const MAGIC: u64 = 6;

fn damaged(path: &Path, what: &str) -> Error {
    unreadable(path, format!("is damaged: {what}"))
}

/// Bytes at a place, if they lie within the file.
fn bytes_at(kept: &FileBytes, at: u64, length: usize) -> Option<Bytes> {
    let end = at.checked_add(length as u64)?;
    (end <= kept.len()).then(|| kept.get_bytes(at, length).ok()).flatten()
}

impl ArrowBlocks {
    /// Reads the footer of a file and checks the lengths claimed by it and the messages.
    ///
    /// # Errors
    /// Fails for a damaged file, and for batches that would exceed the memory limit.
    pub fn new(path: &Path, kept: &FileBytes, budget: Budget) -> Result<Self> {
        let at = kept.len().checked_sub(4 + MAGIC);
        let end = at.and_then(|at| Some((at, *bytes_at(kept, at, 4 + MAGIC as usize)?.first_chunk()?)));
        let Some((at, end)) = end else { return Err(damaged(path, "it is too short for a footer")) };
        let length = read_footer_length(end).map_err(failed(path))?;
        let footer = at.checked_sub(length as u64).and_then(|start| bytes_at(kept, start, length));
        let footer = footer.ok_or_else(|| damaged(path, "its footer is longer than the file"))?;
        let footer = root_as_footer(&footer).map_err(|error| damaged(path, &format!("its footer: {error}")))?;
        let schema = footer.schema().ok_or_else(|| damaged(path, "its footer names no columns"))?;
        let dictionaries: Vec<Block> = footer.dictionaries().into_iter().flatten().copied().collect();
        let batches: Vec<Block> = footer.recordBatches().into_iter().flatten().copied().collect();
        let mut lengths = Vec::new();
        for block in dictionaries.iter().chain(&batches) {
            let parts = parts(kept.len(), block).and_then(|(at, [metadata, body])| {
                Some((bytes_at(kept, at, metadata)?, MessageBody { kept, at: at + metadata as u64, length: body }))
            });
            let (metadata, body) = parts.ok_or_else(|| damaged(path, "a block lies outside of it"))?;
            lengths.push(check(path, message(path, &metadata)?, &body, budget)?);
        }
        lengths.drain(..dictionaries.len());
        let (schema, before) = (checked_schema(path, schema)?, vec![dictionaries.len(); batches.len()]);
        Ok(ArrowBlocks { schema, version: footer.version(), dictionaries, batches, lengths, before })
    }

    /// Reads the messages of a stream and checks the lengths they claim.
    ///
    /// # Errors
    /// Fails like [`ArrowBlocks::new`].
    pub fn from_stream(path: &Path, kept: &FileBytes, budget: Budget) -> Result<Self> {
        let cut = || damaged(path, "a message is longer than what is left of it");
        let length_at = |at: u64| Some(i32::from_le_bytes(*bytes_at(kept, at, 4)?.first_chunk()?));
        let (mut at, mut known): (u64, Option<(SchemaRef, MetadataVersion)>) = (0, None);
        let (mut dictionaries, mut batches, mut lengths, mut before) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        while at < kept.len() {
            let (head, length) = match length_at(at).ok_or_else(cut)? {
                -1 => (8, length_at(at + 4).ok_or_else(cut)?),
                length => (4, length),
            };
            let length = usize::try_from(length).map_err(|_| cut())?;
            if length == 0 {
                break;
            }
            let metadata = bytes_at(kept, at, head + length).ok_or_else(cut)?;
            let message = message(path, &metadata)?;
            let start = at + metadata.len() as u64;
            let body = usize::try_from(message.bodyLength()).ok().filter(|body| start + *body as u64 <= kept.len());
            let body = body.ok_or_else(cut)?;
            let block = Block::new(at as i64, metadata.len() as i32, body as i64);
            let rows = check(path, message, &MessageBody { kept, at: start, length: body }, budget)?;
            if let Some(schema) = message.header_as_schema() {
                known = Some((checked_schema(path, schema)?, message.version()));
            } else if message.header_as_dictionary_batch().is_some() {
                dictionaries.push(block);
            } else if message.header_as_record_batch().is_some() {
                batches.push(block);
                lengths.push(rows);
                before.push(dictionaries.len());
            }
            at = start + body as u64;
        }
        let (schema, version) = known.ok_or_else(|| damaged(path, "it names no columns"))?;
        Ok(ArrowBlocks { schema, version, dictionaries, batches, lengths, before })
    }

    /// Reads the batches of these columns in order, each with the dictionaries before it; those of a file on disk
    /// within the memory limit.
    pub fn read(
        self: &Arc<Self>,
        path: &Path,
        kept: &FileBytes,
        columns: Vec<usize>,
        budget: Budget,
    ) -> impl Iterator<Item = Result<RecordBatch>> + use<> {
        let (blocks, path, kept) = (Arc::clone(self), path.to_owned(), kept.clone());
        let mut decoder = FileDecoder::new(self.schema.clone(), self.version).with_projection(columns);
        let mut known = 0;
        let batch = move |place: usize| -> Result<Option<RecordBatch>> {
            let failed = failed(&path);
            for block in &blocks.dictionaries[known..blocks.before[place]] {
                decoder.read_dictionary(block, &block_bytes(&path, &kept, block)?.into()).map_err(&failed)?;
            }
            known = blocks.before[place];
            let block = &blocks.batches[place];
            if let FileBytes::Disk(_) = kept {
                let remedy = "write the file in smaller batches, or raise the limit";
                budget.need(block.bodyLength() as f64, format_args!("{}: a batch", path.display()), remedy)?;
            }
            decoder.read_record_batch(block, &block_bytes(&path, &kept, block)?.into()).map_err(failed)
        };
        (0..self.batches.len()).map(batch).filter_map(Result::transpose)
    }
}

/// Column types of a file whose bytes are in the order of this machine.
fn checked_schema(path: &Path, schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(unreadable(path, "its bytes are in another order than those of this machine"));
    }
    try_fb_to_schema(schema).map(Arc::new).map_err(failed(path))
}

/// Bytes of a block within the file.
fn block_bytes(path: &Path, kept: &FileBytes, block: &Block) -> Result<Bytes> {
    let length = block.metaDataLength() as usize + block.bodyLength() as usize;
    kept.get_bytes(block.offset() as u64, length).map_err(failed(path))
}

/// Offset of a block in a file of this length, and the lengths of its metadata and body, if it lies within.
fn parts(length: u64, block: &Block) -> Option<(u64, [usize; 2])> {
    let start = u64::try_from(block.offset()).ok()?;
    let metadata = u64::try_from(block.metaDataLength()).ok()?;
    let body = u64::try_from(block.bodyLength()).ok()?;
    let end = start.checked_add(metadata)?.checked_add(body)?;
    let lengths = [usize::try_from(metadata).ok()?, usize::try_from(body).ok()?];
    (end <= length).then_some((start, lengths))
}

/// Body of a message, read only in part.
struct MessageBody<'b> {
    kept: &'b FileBytes,
    at: u64,
    length: usize,
}

/// Message in the metadata of a block, after its length.
fn message<'a>(path: &Path, metadata: &'a [u8]) -> Result<Message<'a>> {
    let start = if metadata.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let text = metadata.get(start..).ok_or_else(|| damaged(path, "a block is too short"))?;
    root_as_message(text).map_err(|error| damaged(path, &format!("a block: {error}")))
}

/// Checks the lengths that a message claims against its body, and returns its number of rows.
fn check(path: &Path, message: Message<'_>, body: &MessageBody<'_>, budget: Budget) -> Result<usize> {
    let dictionary = message.header_as_dictionary_batch();
    let batch = message.header_as_record_batch().or(dictionary.and_then(|dictionary| dictionary.data()));
    let Some(batch) = batch else { return Ok(0) };
    if batch.length() < 0 || batch.nodes().is_some_and(|nodes| nodes.iter().any(|node| node.length() < 0)) {
        return Err(damaged(path, "a batch has fewer rows than none"));
    }
    let (mut claimed, is_compressed) = (0.0, batch.compression().is_some());
    for buffer in batch.buffers().into_iter().flatten() {
        let place = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let place = place.filter(|(start, length)| start.checked_add(*length).is_some_and(|end| end <= body.length));
        let (start, length) = place.ok_or_else(|| damaged(path, "a column lies outside of its block"))?;
        let first = if is_compressed && length >= 8 { bytes_at(body.kept, body.at + start as u64, 8) } else { None };
        if let Some(length) = first.as_deref().and_then(|first| first.first_chunk()) {
            claimed += i64::from_le_bytes(*length).max(0) as f64;
        }
    }
    let remedy = "write the file in smaller batches, or raise the limit";
    budget.need(claimed, format_args!("{}: a batch, decompressed,", path.display()), remedy)?;
    Ok(if dictionary.is_some() { 0 } else { usize::try_from(batch.length()).unwrap_or(0) })
}
