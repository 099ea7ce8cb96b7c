//! Bytes of a file: in memory, or on disk and read on demand.

use crate::read::digest::HashSteps;
use crate::read::loaded_file::check_unchanged;
use crate::read::system;
use blake3::{Hash, Hasher};
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::{File, Metadata};
use std::io::{BufReader, Error, ErrorKind, Read, Result as Outcome, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use vaglio_core::Result;

/// Bytes of a file.
#[derive(Debug, Clone)]
pub(super) enum FileBytes {
    Memory(Bytes),
    Disk(Arc<OnDisk>),
}

/// A file that threads read in parallel, with its metadata when it was opened.
#[derive(Debug)]
pub(super) struct OnDisk {
    file: File,
    before: Metadata,
    /// Hash of the first bytes, for a file that is read in order.
    along: Mutex<Option<Box<Hasher>>>,
}

/// Bytes hashed at a time.
const STEP: usize = 1 << 18;
/// Maximum gap between hashed and read bytes: page headers.
const BETWEEN: u64 = 1 << 16;

/// First bytes of Parquet files.
pub(super) const PARQUET: &[u8] = b"PAR1";
/// First bytes of Arrow files.
pub(super) const ARROW: &[u8] = b"ARROW1";

impl FileBytes {
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
        let kept = FileBytes::Disk(Arc::new(OnDisk { file, before, along: Mutex::default() }));
        let mut first = vec![0; begins.len()];
        let is_such = kept.fill(&mut first, 0).is_ok() && first == begins;
        Ok(is_such.then_some(kept))
    }

    /// Rejects a file on disk that was modified since it was opened.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Unreadable`].
    pub fn check_unchanged(&self, path: &Path) -> Result<()> {
        let FileBytes::Disk(disk) = self else { return Ok(()) };
        let after = disk.file.metadata().map_err(|error| system(path, error))?;
        check_unchanged(path, &disk.before, &after, disk.before.len())
    }

    /// Hashes pages of a file on disk as they are read, while they are in cache; useful if no other thread can hash.
    fn hash_along(&self) {
        if let FileBytes::Disk(disk) = self
            && let Ok(mut along) = disk.along.lock()
        {
            *along = Some(Box::default());
        }
    }

    /// Hashes bytes that were read, if they come next; [`FileBytes::digest`] reads others again.
    fn was_read(&self, bytes: &[u8], start: u64) {
        let FileBytes::Disk(disk) = self else { return };
        let Ok(mut kept) = disk.along.try_lock() else { return };
        let Some(along) = kept.as_mut().filter(|along| (along.count()..=along.count() + BETWEEN).contains(&start))
        else {
            return;
        };
        let mut between = vec![0; (start - along.count()) as usize];
        if self.fill(&mut between, along.count()).is_err() {
            *kept = None;
            return;
        }
        along.update(&between);
        along.update(bytes);
    }

    /// Hash of the file. Cost O(bytes).
    ///
    /// # Errors
    /// Fails if a file on disk cannot be read or was modified since it was opened.
    pub fn digest(&self, path: &Path) -> Result<Hash> {
        if let FileBytes::Memory(bytes) = self {
            return Ok(blake3::hash(bytes));
        }
        let mut hashing = PartialDigest::new(self, path);
        loop {
            if let Some(digest) = hashing.step()? {
                return Ok(digest);
            }
        }
    }

    /// Steps of hashing a file on disk after it is read. With one thread, pages are hashed while they are read.
    pub fn hash_steps(&self, path: &Path) -> Option<HashSteps> {
        let FileBytes::Disk(_) = self else { return None };
        if rayon::current_num_threads() == 1 {
            self.hash_along();
        }
        let (kept, path, mut hashing) = (self.clone(), path.to_owned(), None);
        Some(Box::new(move || hashing.get_or_insert_with(|| PartialDigest::new(&kept, &path)).step()))
    }

    /// A reader that starts at byte `at`.
    fn from(&self, at: u64) -> FilePosition {
        FilePosition { kept: self.clone(), at }
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> Outcome<usize> {
        match self {
            FileBytes::Memory(bytes) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                (&bytes[start..]).read(out)
            }
            FileBytes::Disk(disk) => read_at(&disk.file, out, at),
        }
    }

    fn fill(&self, out: &mut [u8], at: u64) -> Outcome<()> {
        self.from(at).read_exact(out)
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
    Err(ErrorKind::Unsupported.into())
}

/// Partial hash of a file.
#[derive(Debug)]
struct PartialDigest {
    path: PathBuf,
    hash: Box<Hasher>,
    place: FilePosition,
    block: Vec<u8>,
}

impl PartialDigest {
    fn new(kept: &FileBytes, path: &Path) -> Self {
        let along = match kept {
            FileBytes::Disk(disk) => disk.along.lock().ok().and_then(|mut along| along.take()),
            FileBytes::Memory(_) => None,
        };
        let hash = along.unwrap_or_default();
        PartialDigest { path: path.to_owned(), place: kept.from(hash.count()), hash, block: Vec::new() }
    }

    /// Hashes some more bytes; returns the hash after the last.
    ///
    /// # Errors
    /// Fails like [`FileBytes::digest`].
    fn step(&mut self) -> Result<Option<Hash>> {
        self.block.resize(STEP, 0);
        let read = self.place.read(&mut self.block).map_err(|error| system(&self.path, error))?;
        if read > 0 {
            self.hash.update(&self.block[..read]);
            return Ok(None);
        }
        self.place.kept.check_unchanged(&self.path)?;
        Ok(Some(self.hash.finalize()))
    }
}

/// A position in a file.
#[derive(Debug)]
pub(super) struct FilePosition {
    kept: FileBytes,
    at: u64,
}

impl Read for FilePosition {
    fn read(&mut self, out: &mut [u8]) -> Outcome<usize> {
        let read = self.kept.read_at(out, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for FilePosition {
    fn seek(&mut self, to: SeekFrom) -> Outcome<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.kept.len().checked_add_signed(by),
        };
        self.at = at.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Length for FileBytes {
    fn len(&self) -> u64 {
        match self {
            FileBytes::Memory(bytes) => bytes.len() as u64,
            FileBytes::Disk(disk) => disk.before.len(),
        }
    }
}

impl ChunkReader for FileBytes {
    type T = BufReader<FilePosition>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::with_capacity(1 << 10, self.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF("a part lies outside of the file".into()));
        }
        if let FileBytes::Memory(bytes) = self {
            return Ok(bytes.slice(start as usize..start as usize + length));
        }
        let mut bytes = vec![0; length];
        self.fill(&mut bytes, start)?;
        self.was_read(&bytes, start);
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::tests::folder_of;

    #[test]
    fn bytes_are_the_same_in_memory_and_on_the_disk() {
        let path = folder_of("kept").join("some.parquet");
        let bytes: Vec<u8> = b"PAR1".iter().copied().chain((0..700_000u32).map(|i| (i * 31 % 251) as u8)).collect();
        std::fs::write(&path, &bytes).unwrap();
        let disk = FileBytes::on_disk(&path, PARQUET).unwrap().unwrap();
        let memory = FileBytes::Memory(Bytes::from(bytes.clone()));
        assert_eq!(disk.digest(&path).unwrap(), memory.digest(&path).unwrap());
        for kept in [&disk, &memory] {
            assert_eq!(kept.len(), bytes.len() as u64);
            assert_eq!(kept.get_bytes(1000, 300_000).unwrap(), &bytes[1000..301_000]);
            assert!(kept.get_bytes(700_000, 5).is_err() && kept.get_bytes(u64::MAX, 1).is_err());
            let mut end = Vec::new();
            let mut place = kept.get_read(699_990).unwrap();
            place.read_to_end(&mut end).unwrap();
            assert_eq!(end, &bytes[699_990..]);
            assert_eq!(place.seek(SeekFrom::End(-2)).unwrap(), bytes.len() as u64 - 2);
        }
        // Reads in any order; each byte is hashed once.
        let reads = [
            (&[(4, 300_000), (300_050, 10), (100, 20), (300_060, 399_000)][..], 699_060),
            (&[(200_000, 1000), (0, 10), (10, 20), (10, 20), (400_000, 9)], 30),
            (&[], 0),
        ];
        for (reads, hashed) in reads {
            disk.hash_along();
            for &(start, length) in reads {
                disk.get_bytes(start, length).unwrap();
            }
            assert_eq!(PartialDigest::new(&disk, &path).place.at, hashed);
            disk.hash_along();
            for &(start, length) in reads {
                disk.get_bytes(start, length).unwrap();
            }
            (0..2).for_each(|_| assert_eq!(disk.digest(&path).unwrap(), memory.digest(&path).unwrap()));
        }
        std::fs::write(&path, b"a,b\n1,2\n").unwrap();
        assert!(FileBytes::on_disk(&path, PARQUET).unwrap().is_none());
    }

    #[test]
    fn a_file_that_is_written_to_after_it_was_opened_is_noticed() {
        let path = folder_of("kept").join("growing.parquet");
        std::fs::write(&path, b"PAR1 and more").unwrap();
        let disk = FileBytes::on_disk(&path, PARQUET).unwrap().unwrap();
        disk.check_unchanged(&path).unwrap();
        std::fs::write(&path, b"PAR1 and other things").unwrap();
        for error in [disk.check_unchanged(&path).unwrap_err(), disk.digest(&path).unwrap_err()] {
            let message = error.to_string();
            assert!(message.ends_with("it was changed while it was read; try again when nothing writes to it"));
        }
    }
}
