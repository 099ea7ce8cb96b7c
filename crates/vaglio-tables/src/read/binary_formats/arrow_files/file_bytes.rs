//! Bytes of a Parquet or Arrow file: in memory, or on disk and read on demand.

use super::thrift::{PAGE_HEADER, read_struct};
use crate::budget::Budget;
use crate::read::loaded_file::check_unchanged;
use crate::read::read_error;
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::{File, Metadata};
use std::io::{BufReader, Read, Result as Outcome};
use std::path::Path;
use std::sync::{Arc, Mutex};
use vaglio_core::{Error, Result};

/// Bytes of a file, read from a position on, with the memory limit of what is decoded from them.
#[derive(Debug, Clone)]
pub(super) struct FileBytes {
    pub path: Arc<Path>,
    pub budget: Budget,
    /// The bytes, unless they are on disk.
    memory: Bytes,
    /// A file that threads read in parallel, with its metadata when it was opened.
    disk: Option<Arc<(File, Metadata)>>,
    /// Position of the next byte.
    at: u64,
    /// Error at the memory limit, which the reader of Parquet turns into text.
    refused: Arc<Mutex<Option<Error>>>,
}

/// First bytes of Parquet files.
pub(super) const PARQUET: &[u8] = b"PAR1";

impl FileBytes {
    /// Bytes in memory.
    pub fn in_memory(path: &Path, memory: impl Into<Bytes>, budget: Budget) -> Self {
        FileBytes { path: path.into(), budget, memory: memory.into(), disk: None, at: 0, refused: Arc::default() }
    }

    /// Leaves a file on disk if it begins with these bytes; `None` for other files, streams, and systems without
    /// positioned reads.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn on_disk(path: &Path, begins: &[u8], budget: Budget) -> Result<Option<Self>> {
        let failed = read_error(path);
        // A stream can be opened once.
        if !std::fs::metadata(path).map_err(failed)?.is_file() || !cfg!(any(unix, windows)) {
            return Ok(None);
        }
        let file = File::open(path).map_err(failed)?;
        let before = file.metadata().map_err(failed)?;
        let bytes =
            FileBytes { disk: Some(Arc::new((file, before))), ..FileBytes::in_memory(path, Bytes::new(), budget) };
        let mut first = vec![0; begins.len()];
        let is_such = bytes.from(0).read_exact(&mut first).is_ok() && first == begins;
        Ok(is_such.then_some(bytes))
    }

    /// Rejects a file on disk that was modified since it was opened.
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub fn check_unchanged(&self) -> Result<()> {
        let Some((file, before)) = self.disk.as_deref() else { return Ok(()) };
        let after = file.metadata().map_err(read_error(&self.path))?;
        check_unchanged(&self.path, before, &after, before.len())
    }

    /// Whether the file is on disk.
    pub fn is_on_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// The bytes for one reader of pages, which keeps its own error at the memory limit.
    pub fn for_pages(&self) -> Self {
        FileBytes { refused: Arc::default(), ..self.clone() }
    }

    /// Error at the memory limit, if a page was refused.
    pub fn limit_error(&self) -> Option<Error> {
        self.refused.lock().ok()?.take()
    }

    /// The bytes from `at` on.
    fn from(&self, at: u64) -> Self {
        FileBytes { at, ..self.clone() }
    }

    /// Rejects a page that starts at this byte if its header claims too much. The reader of parquet 60 allocates as many
    /// bytes and dictionary values as are claimed. It also allocates as many lengths as the content of a page of
    /// delta-encoded text claims, which is not checked here.
    fn check_page(&self, start: u64) -> parquet::errors::Result<()> {
        let (mut bytes, mut values) = (0, 0);
        read_struct(self.reader(start), PAGE_HEADER, |place, number| match place {
            [2] => bytes = number,
            [7, 1] => values = number,
            _ => {}
        })?;
        if values > bytes {
            return Err(ParquetError::General("a dictionary claims more values than there can be".into()));
        }
        // As many as are decoded at once.
        let all = bytes as f64 * rayon::current_num_threads() as f64;
        let what = format_args!("{}: a page on each thread, decompressed,", self.path.display());
        self.budget.need(all, what, "write the file with smaller pages, or raise the limit").map_err(|error| {
            let message = error.to_string();
            let _ = self.refused.lock().map(|mut refused| *refused = Some(error));
            ParquetError::General(message)
        })
    }

    fn reader(&self, start: u64) -> BufReader<FileBytes> {
        BufReader::with_capacity(1 << 10, self.from(start))
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> Outcome<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

#[cfg(windows)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> Outcome<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}

#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> Outcome<usize> {
    Err(std::io::ErrorKind::Unsupported.into())
}

impl Read for FileBytes {
    fn read(&mut self, out: &mut [u8]) -> Outcome<usize> {
        let read = match self.disk.as_deref() {
            Some((file, _)) => read_at(file, out, self.at)?,
            None => {
                let start = usize::try_from(self.at).unwrap_or(usize::MAX).min(self.memory.len());
                (&self.memory[start..]).read(out)?
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for FileBytes {
    fn len(&self) -> u64 {
        self.disk.as_deref().map_or(self.memory.len() as u64, |(_, before)| before.len())
    }
}

impl ChunkReader for FileBytes {
    type T = BufReader<FileBytes>;

    /// A reader of the page that starts at this byte.
    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.check_page(start)?;
        Ok(self.reader(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF("a part lies outside of the file".into()));
        }
        if !self.is_on_disk() {
            return Ok(self.memory.slice(start as usize..start as usize + length));
        }
        let mut bytes = vec![0; length];
        self.from(start).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
