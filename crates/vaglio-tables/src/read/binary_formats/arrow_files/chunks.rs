//! Rows of a Parquet or Arrow file, read in chunks.

use super::columns::{append_array, empty_column};
use super::guard::guarded;
use super::{ColumnarFile, RecordBatches, check_codecs, check_rows, sorted};
use crate::read::column_builder::ColumnBuilder;
use crate::read::places;
use crate::read::reader::{ChunkReader, FileHeader};
use arrow_array::RecordBatch;
use vaglio_core::Result;

/// A Parquet or Arrow file, and the batches of its rows.
pub(super) struct ColumnarChunks {
    file: ColumnarFile,
    batches: RecordBatches,
    /// Remainder of the last batch.
    left: Option<RecordBatch>,
    /// File columns to read, increasing, and the position among them of each wanted one.
    indices: Vec<usize>,
    places: Vec<usize>,
}

impl ColumnarChunks {
    pub fn new(file: ColumnarFile) -> Self {
        let batches = Box::new(std::iter::empty());
        ColumnarChunks { file, batches, left: None, indices: Vec::new(), places: Vec::new() }
    }
}

impl ChunkReader for ColumnarChunks {
    fn header(&self) -> &FileHeader {
        &self.file.header
    }

    fn start(&mut self, wanted: &[&str], rows: usize) -> Result<()> {
        let places = places(&self.file.header.names);
        let wanted: Vec<usize> = wanted.iter().filter_map(|name| places.get(name).copied()).collect();
        (self.indices, self.places) = sorted(&wanted);
        if let super::ColumnarFormat::Parquet(metadata, _) = &self.file.format {
            check_codecs(&self.file.path, metadata.metadata(), |root| self.indices.binary_search(&root).is_ok())?;
        }
        self.batches = guarded(&self.file.path, || self.file.batches(&self.indices, rows.max(1)))?;
        Ok(())
    }

    fn next(&mut self, first: usize, rows: usize) -> Result<Vec<ColumnBuilder>> {
        let ColumnarChunks { file, batches, left, indices, places } = self;
        guarded(&file.path, || {
            let batch = loop {
                match left.take().filter(|batch| batch.num_rows() > 0) {
                    Some(batch) => break batch,
                    None => *left = batches.next().transpose()?,
                }
                if left.is_none() {
                    return check_rows(&file.path, file.rows(), first).map(|()| Vec::new());
                }
            };
            let taken = batch.num_rows().min(rows);
            *left = Some(batch.slice(taken, batch.num_rows() - taken));
            let column = |place: &usize| {
                let field = file.schema.field(indices[*place]);
                let mut column = empty_column(&file.path, field, 0, false)?;
                append_array(
                    &mut column,
                    &file.path,
                    field.name(),
                    &batch.column(*place).slice(0, taken),
                    file.budget,
                )?;
                Ok(column)
            };
            places.iter().map(column).collect()
        })
    }
}
