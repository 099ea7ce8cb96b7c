//! Checks of the lengths that an Arrow file claims, before it is decoded.
//!
//! The reader of arrow-ipc 60 allocates as much as the footer of a file claims for a block, and as much as a compressed
//! buffer claims to become.

use super::super::unreadable;
use super::decode::FileBytes;
use crate::budget::Budget;
use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, Message, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};
use std::path::Path;
use std::sync::Arc;
use vaglio_core::{Error, Result};

/// Blocks of an Arrow file, all within its length.
#[derive(Debug)]
pub(super) struct Blocks {
    pub schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
    /// Number of rows of each batch.
    pub lengths: Vec<usize>,
    /// Number of dictionaries before each batch of a stream, which may replace earlier ones.
    before: Option<Vec<usize>>,
}

/// Length of the longest magic bytes at the ends of a file.
const MAGIC: u64 = 6;

fn damaged(path: &Path, what: &str) -> Error {
    unreadable(path, format!("is damaged: {what}"))
}

impl Blocks {
    /// Reads the footer and checks the lengths claimed by it and the messages.
    ///
    /// # Errors
    /// Fails for a damaged file, and for batches that would exceed the memory limit.
    pub fn new(path: &Path, kept: &FileBytes, budget: Budget) -> Result<Self> {
        let failed = |error: ArrowError| unreadable(path, error.to_string());
        let read = |at: u64, length: usize| {
            let is_there = at.checked_add(length as u64).is_some_and(|end| end <= kept.len());
            is_there.then(|| kept.get_bytes(at, length).ok()).flatten()
        };
        let at = kept.len().checked_sub(4 + MAGIC);
        let end = at.and_then(|at| Some((at, *read(at, 4 + MAGIC as usize)?.first_chunk()?)));
        let Some((at, end)) = end else { return Err(damaged(path, "it is too short for a footer")) };
        let length = read_footer_length(end).map_err(failed)?;
        let footer = at.checked_sub(length as u64).and_then(|start| read(start, length));
        let footer = footer.ok_or_else(|| damaged(path, "its footer is longer than the file"))?;
        let footer = root_as_footer(&footer).map_err(|error| damaged(path, &format!("its footer: {error}")))?;
        let schema = footer.schema().ok_or_else(|| damaged(path, "its footer names no columns"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(unreadable(path, "its bytes are in another order than those of this machine"));
        }
        let schema = Arc::new(try_fb_to_schema(schema).map_err(failed)?);
        let all = |blocks: Option<&[Block]>| blocks.unwrap_or_default().to_vec();
        let dictionaries =
            all(footer.dictionaries().map(|blocks| blocks.iter().copied().collect::<Vec<_>>()).as_deref());
        let batches = all(footer.recordBatches().map(|blocks| blocks.iter().copied().collect::<Vec<_>>()).as_deref());
        let mut lengths = Vec::new();
        for block in dictionaries.iter().chain(&batches) {
            let parts = parts(kept.len(), block)
                .and_then(|(at, [metadata, body])| Some((read(at, metadata)?, at + metadata as u64, body)));
            let (metadata, at, length) = parts.ok_or_else(|| damaged(path, "a block lies outside of it"))?;
            let body = MessageBody { length, read: &|start, length| read(at + start as u64, length) };
            lengths.push(check(path, message(path, &metadata)?, &body, budget)?);
        }
        lengths.drain(..dictionaries.len());
        Ok(Blocks { schema, version: footer.version(), dictionaries, batches, lengths, before: None })
    }

    /// Reads the messages of a stream and checks the lengths they claim.
    ///
    /// # Errors
    /// Fails like [`Blocks::new`].
    pub fn from_stream(path: &Path, kept: &FileBytes, budget: Budget) -> Result<Self> {
        let failed = |error: ArrowError| unreadable(path, error.to_string());
        let cut = || damaged(path, "a message is longer than what is left of it");
        let read = |at: u64, length: usize| {
            let is_there = at.checked_add(length as u64).is_some_and(|end| end <= kept.len());
            is_there.then(|| kept.get_bytes(at, length).ok()).flatten()
        };
        let length_at = |at: u64| Some(i32::from_le_bytes(*read(at, 4)?.first_chunk()?));
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
            let metadata = read(at, head + length).ok_or_else(cut)?;
            let message = message(path, &metadata)?;
            let start = at + metadata.len() as u64;
            let body = usize::try_from(message.bodyLength()).ok().filter(|body| start + *body as u64 <= kept.len());
            let body = body.ok_or_else(cut)?;
            let block = Block::new(at as i64, metadata.len() as i32, body as i64);
            let rows = {
                let read = |place: usize, length: usize| read(start + place as u64, length);
                check(path, message, &MessageBody { length: body, read: &read }, budget)?
            };
            if let Some(schema) = message.header_as_schema() {
                if !schema.endianness().equals_to_target_endianness() {
                    return Err(unreadable(path, "its bytes are in another order than those of this machine"));
                }
                known = Some((Arc::new(try_fb_to_schema(schema).map_err(failed)?), message.version()));
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
        Ok(Blocks { schema, version, dictionaries, batches, lengths, before: Some(before) })
    }

    /// Reads the batches of these columns.
    ///
    /// # Errors
    /// Fails if a block cannot be decoded.
    pub fn read(
        &self,
        kept: &FileBytes,
        columns: Vec<usize>,
    ) -> std::result::Result<impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>, ArrowError> {
        let mut decoder = self.decoder(kept, columns)?;
        let batch = move |place| {
            let between = self.go_on(kept, &mut decoder, (place, place + 1));
            between.and_then(|()| self.batch(kept, &decoder, place)).transpose()
        };
        Ok((0..self.batches.len()).filter_map(batch))
    }

    /// Decoder of these columns, with all dictionaries of a file.
    ///
    /// # Errors
    /// Fails if a block cannot be decoded.
    pub fn decoder(&self, kept: &FileBytes, columns: Vec<usize>) -> std::result::Result<FileDecoder, ArrowError> {
        let mut decoder = FileDecoder::new(self.schema.clone(), self.version).with_projection(columns);
        if self.before.is_none() {
            self.take_dictionaries(kept, &mut decoder, 0..self.dictionaries.len())?;
        }
        Ok(decoder)
    }

    /// Reads the dictionaries of a stream between two batches.
    ///
    /// # Errors
    /// Fails if a block cannot be decoded.
    pub fn go_on(
        &self,
        kept: &FileBytes,
        decoder: &mut FileDecoder,
        (from, to): (usize, usize),
    ) -> std::result::Result<(), ArrowError> {
        let Some(before) = &self.before else { return Ok(()) };
        let count = |batch: usize| batch.checked_sub(1).and_then(|last| before.get(last)).copied().unwrap_or(0);
        self.take_dictionaries(kept, decoder, count(from)..count(to))
    }

    fn take_dictionaries(
        &self,
        kept: &FileBytes,
        decoder: &mut FileDecoder,
        places: std::ops::Range<usize>,
    ) -> std::result::Result<(), ArrowError> {
        for block in &self.dictionaries[places] {
            decoder.read_dictionary(block, &block_bytes(kept, block)?.into())?;
        }
        Ok(())
    }

    /// Reads the batch at a place.
    ///
    /// # Errors
    /// Fails if a block cannot be decoded.
    pub fn batch(
        &self,
        kept: &FileBytes,
        decoder: &FileDecoder,
        place: usize,
    ) -> std::result::Result<Option<RecordBatch>, ArrowError> {
        let block = &self.batches[place];
        decoder.read_record_batch(block, &block_bytes(kept, block)?.into())
    }

    /// Stored bytes of the batch at a place.
    pub fn bytes(&self, place: usize) -> f64 {
        self.batches[place].bodyLength() as f64
    }
}

/// Bytes of a block within the file.
fn block_bytes(kept: &FileBytes, block: &Block) -> std::result::Result<Bytes, ArrowError> {
    let length = block.metaDataLength() as usize + block.bodyLength() as usize;
    let bytes = kept.get_bytes(block.offset() as u64, length);
    bytes.map_err(|error| ArrowError::IpcError(error.to_string()))
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

/// Body of a message, of which few bytes are read.
struct MessageBody<'b> {
    length: usize,
    read: &'b dyn Fn(usize, usize) -> Option<Bytes>,
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
        let first = if is_compressed && length >= 8 { (body.read)(start, 8) } else { None };
        if let Some(length) = first.as_deref().and_then(|first| first.first_chunk()) {
            claimed += i64::from_le_bytes(*length).max(0) as f64;
        }
    }
    let remedy = "write the file in smaller batches, or raise the limit";
    budget.need(claimed, format_args!("{}: a batch, decompressed,", path.display()), remedy)?;
    Ok(if dictionary.is_some() { 0 } else { usize::try_from(batch.length()).unwrap_or(0) })
}
