//! Parquet, Arrow, sparse and compressed files.

mod arrow_files;
mod batches;
mod encodings;
mod record_limits;
mod sparse_files;
mod untrusted_files;

use crate::create_folder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::path::PathBuf;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn write(name: &str, batch: &RecordBatch) -> [PathBuf; 2] {
    let paths = ["parquet", "arrow"].map(|extension| create_folder("arrow").join(format!("{name}.{extension}")));
    let mut writer = ArrowWriter::try_new(File::create(&paths[0]).unwrap(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    let mut writer = FileWriter::try_new(File::create(&paths[1]).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.write(&batch.slice(0, 0)).unwrap();
    writer.finish().unwrap();
    paths
}
