//! What an Arrow file says of its own lengths, compared with the file before anything is read by it.
//!
//! The reader of arrow-ipc 60 allocates and fills as much as the footer of a file claims for a block, and as much as a
//! compressed buffer claims to become.

use super::super::unreadable;
use crate::budget::Budget;
use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, Message, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use vaglio_core::{Error, Result};

/// The parts of an Arrow file, all of which lie in it.
#[derive(Debug)]
pub(super) struct Blocks {
    pub schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
    /// How many rows each batch has.
    pub lengths: Vec<usize>,
}

/// The longest name of the format, by which files begin and end.
const MAGIC: usize = 6;

fn damaged(path: &Path, what: &str) -> Error {
    unreadable(path, format!("is damaged: {what}"))
}

impl Blocks {
    /// Reads the footer, and compares the lengths that it and the messages claim with the file.
    ///
    /// # Errors
    /// A file that is damaged; batches that would take more memory than there may be.
    pub fn new(path: &Path, bytes: &Bytes, budget: Budget) -> Result<Self> {
        let failed = |error: ArrowError| unreadable(path, error.to_string());
        let end = bytes.len().checked_sub(4 + MAGIC).and_then(|at| bytes[at..].first_chunk().map(|end| (at, *end)));
        let Some((at, end)) = end else { return Err(damaged(path, "it is too short for a footer")) };
        let length = read_footer_length(end).map_err(failed)?;
        let footer = at.checked_sub(length).map(|start| &bytes[start..at]);
        let footer = footer.ok_or_else(|| damaged(path, "its footer is longer than the file"))?;
        let footer = root_as_footer(footer).map_err(|error| damaged(path, &format!("its footer: {error}")))?;
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
            let (metadata, body) = parts(bytes, block).ok_or_else(|| damaged(path, "a block lies outside of it"))?;
            lengths.push(check(path, message(path, metadata)?, body, budget)?);
        }
        lengths.drain(..dictionaries.len());
        Ok(Blocks { schema, version: footer.version(), dictionaries, batches, lengths })
    }

    /// The batches of these columns.
    ///
    /// # Errors
    /// A block that cannot be decoded.
    pub fn read(
        &self,
        bytes: &Bytes,
        columns: Vec<usize>,
    ) -> std::result::Result<impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>, ArrowError> {
        let mut decoder = FileDecoder::new(self.schema.clone(), self.version).with_projection(columns);
        let of_block = |block: &Block| {
            let length = block.metaDataLength() as usize + block.bodyLength() as usize;
            let start = block.offset() as usize;
            bytes.slice(start..start + length).into()
        };
        for block in &self.dictionaries {
            decoder.read_dictionary(block, &of_block(block))?;
        }
        let batch = move |block: &Block| decoder.read_record_batch(block, &of_block(block)).transpose();
        Ok(self.batches.iter().filter_map(batch))
    }
}

/// The metadata and the body of a block, if it lies in the file.
fn parts<'a>(bytes: &'a [u8], block: &Block) -> Option<(&'a [u8], &'a [u8])> {
    let start = usize::try_from(block.offset()).ok()?;
    let metadata = usize::try_from(block.metaDataLength()).ok()?;
    let body = usize::try_from(block.bodyLength()).ok()?;
    let rest = bytes.get(start..)?;
    rest.get(metadata..)?.get(..body).map(|body| (&rest[..metadata], body))
}

/// The message in the metadata of a block, which begins with its length.
fn message<'a>(path: &Path, metadata: &'a [u8]) -> Result<Message<'a>> {
    let start = if metadata.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let text = metadata.get(start..).ok_or_else(|| damaged(path, "a block is too short"))?;
    root_as_message(text).map_err(|error| damaged(path, &format!("a block: {error}")))
}

/// Compares the lengths that a message claims with its body, and returns the number of rows that it has.
fn check(path: &Path, message: Message<'_>, body: &[u8], budget: Budget) -> Result<usize> {
    let dictionary = message.header_as_dictionary_batch();
    let batch = message.header_as_record_batch().or(dictionary.and_then(|dictionary| dictionary.data()));
    let Some(batch) = batch else { return Ok(0) };
    if batch.length() < 0 || batch.nodes().is_some_and(|nodes| nodes.iter().any(|node| node.length() < 0)) {
        return Err(damaged(path, "a batch has fewer rows than none"));
    }
    let (mut claimed, is_compressed) = (0.0, batch.compression().is_some());
    for buffer in batch.buffers().into_iter().flatten() {
        let place = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = place.and_then(|(start, length)| body.get(start..)?.get(..length));
        let bytes = bytes.ok_or_else(|| damaged(path, "a column lies outside of its block"))?;
        if let (true, Some(length)) = (is_compressed, bytes.first_chunk()) {
            claimed += i64::from_le_bytes(*length).max(0) as f64;
        }
    }
    let remedy = "write the file in smaller batches, or raise the limit";
    budget.need(claimed, format_args!("{}: a batch, decompressed,", path.display()), remedy)?;
    Ok(if dictionary.is_some() { 0 } else { usize::try_from(batch.length()).unwrap_or(0) })
}

/// Compares the lengths that the messages of a stream claim with it, and returns the number of rows of each.
///
/// # Errors
/// A stream that is damaged; batches that would take more memory than there may be.
pub(super) fn check_stream(path: &Path, bytes: &[u8], budget: Budget) -> Result<Vec<usize>> {
    let cut = || damaged(path, "a message is longer than what is left of it");
    let (mut rest, mut lengths) = (bytes, Vec::new());
    while let Some((mark, after)) = rest.split_first_chunk::<4>() {
        let (length, after) = match mark {
            [0xff, 0xff, 0xff, 0xff] => after.split_first_chunk::<4>().ok_or_else(cut)?,
            _ => (mark, after),
        };
        let length = usize::try_from(i32::from_le_bytes(*length)).map_err(|_| cut())?;
        if length == 0 {
            break;
        }
        let metadata = after.get(..length).ok_or_else(cut)?;
        let message = root_as_message(metadata).map_err(|error| damaged(path, &format!("a message: {error}")))?;
        let body = usize::try_from(message.bodyLength()).ok().and_then(|body| after[length..].get(..body));
        let body = body.ok_or_else(cut)?;
        lengths.push(check(path, message, body, budget)?);
        rest = &after[length + body.len()..];
    }
    Ok(lengths)
}
