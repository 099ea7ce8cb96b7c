//! Pages of a Parquet file, whose headers are checked before they are decoded.

use super::file_bytes::FileBytes;
use super::thrift::{PAGE_HEADER, read_struct};
use crate::budget::Budget;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use vaglio_core::Error;

/// A Parquet file whose pages are read within the memory limit.
///
/// The reader of parquet 60 allocates as many bytes and dictionary values as the header of a page claims. It also
/// allocates as many lengths as the content of a page of delta-encoded text claims; that is not checked here.
#[derive(Debug, Clone)]
pub(super) struct CheckedPages {
    path: PathBuf,
    kept: FileBytes,
    budget: Budget,
    /// Error at the memory limit, which the reader turns into text.
    refused: Arc<Mutex<Option<Error>>>,
}

impl CheckedPages {
    pub fn new(path: &Path, kept: &FileBytes, budget: Budget) -> Self {
        CheckedPages { path: path.to_owned(), kept: kept.clone(), budget, refused: Arc::default() }
    }

    /// Error at the memory limit, if a page was refused.
    pub fn limit_error(&self) -> Option<Error> {
        self.refused.lock().ok()?.take()
    }
}

impl Length for CheckedPages {
    fn len(&self) -> u64 {
        self.kept.len()
    }
}

impl ChunkReader for CheckedPages {
    type T = BufReader<FileBytes>;

    /// A reader of the page that starts at this byte.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let (mut bytes, mut values) = (0, 0);
        read_struct(self.kept.get_read(start)?, PAGE_HEADER, |place, number| match place {
            [2] => bytes = number,
            [7, 1] => values = number,
            _ => {}
        })?;
        if values > bytes {
            return Err(ParquetError::General("a dictionary claims more values than there can be".into()));
        }
        // As many as are decoded at once.
        let all = bytes as f64 * rayon::current_num_threads() as f64;
        let remedy = "write the file with smaller pages, or raise the limit";
        let what = format_args!("{}: a page on each thread, decompressed,", self.path.display());
        if let Err(error) = self.budget.need(all, what, remedy) {
            let message = error.to_string();
            let _ = self.refused.lock().map(|mut refused| *refused = Some(error));
            return Err(ParquetError::General(message));
        }
        self.kept.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.kept.get_bytes(start, length)
    }
}
