//! Bytes of a file: in memory, or on disk and read on demand.

use crate::read::loaded_file::check_unchanged;
use crate::read::system;
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::{File, Metadata};
use std::io::{BufReader, Error, Read, Result as Outcome};
use std::path::Path;
use std::sync::Arc;
use vaglio_core::Result;

/// Bytes of a file, read from a position on.
#[derive(Debug, Clone)]
pub(super) struct FileBytes {
    /// The bytes, unless they are on disk.
    memory: Bytes,
    /// A file that threads read in parallel, with its metadata when it was opened.
    disk: Option<Arc<(File, Metadata)>>,
    /// Position of the next byte.
    at: u64,
}

/// First bytes of Parquet files.
pub(super) const PARQUET: &[u8] = b"PAR1";

impl FileBytes {
    /// Bytes in memory.
    pub fn in_memory(memory: impl Into<Bytes>) -> Self {
        FileBytes { memory: memory.into(), disk: None, at: 0 }
    }

    /// Leaves a file on disk if it begins with these bytes; `None` for other files, streams, and systems without
    /// positioned reads.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn on_disk(path: &Path, begins: &[u8]) -> Result<Option<Self>> {
        let failed = |error: Error| system(path, error);
        // A stream can be opened once.
        if !std::fs::metadata(path).map_err(failed)?.is_file() || !cfg!(any(unix, windows)) {
            return Ok(None);
        }
        let file = File::open(path).map_err(failed)?;
        let before = file.metadata().map_err(failed)?;
        let kept = FileBytes { memory: Bytes::new(), disk: Some(Arc::new((file, before))), at: 0 };
        let mut first = vec![0; begins.len()];
        let is_such = kept.from(0).read_exact(&mut first).is_ok() && first == begins;
        Ok(is_such.then_some(kept))
    }

    /// Rejects a file on disk that was modified since it was opened.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Unreadable`].
    pub fn check_unchanged(&self, path: &Path) -> Result<()> {
        let Some((file, before)) = self.disk.as_deref() else { return Ok(()) };
        let after = file.metadata().map_err(|error| system(path, error))?;
        check_unchanged(path, before, &after, before.len())
    }

    /// Whether the file is on disk.
    pub fn is_on_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// The bytes from `at` on.
    fn from(&self, at: u64) -> Self {
        FileBytes { at, ..self.clone() }
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

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::with_capacity(1 << 10, self.from(start)))
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
