//! Rows of an Arrow file or stream on disk, read in batches.

use super::decode::FileBytes;
use super::messages::Blocks;
use super::unreadable;
use crate::budget::Budget;
use arrow_array::RecordBatch;
use arrow_ipc::reader::FileDecoder;
use arrow_schema::{ArrowError, SchemaRef};
use std::path::Path;
use vaglio_core::Result;

/// First bytes of Arrow files.
const ARROW: &[u8] = b"ARROW1";

/// An Arrow file, and the reader of its rows.
pub(in crate::read) struct ArrowRows {
    kept: FileBytes,
    blocks: Blocks,
    budget: Budget,
    decoder: Option<FileDecoder>,
    /// Index of the next batch, and of the batch up to which dictionaries were read.
    next: usize,
    decoded: usize,
    /// Remainder of the previous batch.
    left: Option<RecordBatch>,
    most: usize,
}

impl ArrowRows {
    /// Opens a file; `None` for other formats.
    ///
    /// # Errors
    /// Fails for a damaged file.
    pub fn open(path: &Path, is_stream: bool, budget: Budget) -> Result<Option<Self>> {
        let begins = if is_stream { &[] } else { ARROW };
        let Some(kept) = FileBytes::on_disk(path, begins)? else { return Ok(None) };
        let blocks = match is_stream {
            true => Blocks::from_stream(path, &kept, budget)?,
            false => Blocks::new(path, &kept, budget)?,
        };
        Ok(Some(ArrowRows { kept, blocks, budget, decoder: None, next: 0, decoded: 0, left: None, most: 1 }))
    }

    /// Column types.
    pub fn schema(&self) -> SchemaRef {
        self.blocks.schema.clone()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.blocks.lengths.iter().sum()
    }

    /// Sets the wanted columns and the rows per batch.
    ///
    /// # Errors
    /// Fails if a dictionary cannot be decoded.
    pub fn start(&mut self, path: &Path, columns: &[usize], most: usize) -> Result<()> {
        let decoder = self.blocks.decoder(&self.kept, columns.to_vec()).map_err(|error| failed(path, &error))?;
        (self.decoder, self.most) = (Some(decoder), most.max(1));
        Ok(())
    }

    /// Reads the next rows.
    ///
    /// # Errors
    /// Fails if a batch cannot be decoded or would exceed the memory limit.
    pub fn next(&mut self, path: &Path) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.left.take().filter(|batch| batch.num_rows() > 0) {
                let rows = batch.num_rows().min(self.most);
                self.left = Some(batch.slice(rows, batch.num_rows() - rows));
                return Ok(Some(batch.slice(0, rows)));
            }
            let Some(decoder) = self.decoder.as_mut().filter(|_| self.next < self.blocks.lengths.len()) else {
                return Ok(None);
            };
            let what = format_args!("{}: a batch", path.display());
            self.budget.need(
                self.blocks.bytes(self.next),
                what,
                "write the file in smaller batches, or raise the limit",
            )?;
            let between = (self.decoded, self.next + 1);
            let read = self.blocks.go_on(&self.kept, decoder, between);
            let batch = read.and_then(|()| self.blocks.batch(&self.kept, decoder, self.next));
            (self.left, self.next) = (batch.map_err(|error| failed(path, &error))?, self.next + 1);
            self.decoded = self.next;
        }
    }
}

fn failed(path: &Path, error: &ArrowError) -> vaglio_core::Error {
    unreadable(path, error.to_string())
}
