//! The hash of the files of a table, which may still be on its way.

#[cfg(feature = "parquet")]
use super::arrow_files::Hashing;
use crate::DigestKind;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use vaglio_core::{Error, Result};

/// The hash of the files of a table: known, or made by threads that have nothing else to do.
#[derive(Debug, Clone)]
pub struct Digest(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot {
    found: Mutex<Option<Found>>,
    is_there: Condvar,
}

/// The hash as it is written, or what went wrong with which file.
type Found = std::result::Result<String, (PathBuf, String)>;

impl Digest {
    /// One that was made.
    pub fn known(written: String) -> Self {
        let digest = Digest(Arc::default());
        digest.put(Ok(written));
        digest
    }

    /// That of files, read in blocks. Cost O(bytes), memory O(1).
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn of_files<'p>(paths: impl IntoIterator<Item = &'p Path>, kind: DigestKind) -> Result<Self> {
        let hash = |path: &Path| {
            let failed = |error: std::io::Error| super::system(path, &error);
            let mut file = File::open(path).map_err(failed)?;
            let (mut hasher, mut block) = (Hasher::new(kind), vec![0; BLOCK]);
            loop {
                match file.read(&mut block).map_err(failed)? {
                    0 => return Ok(hasher.finish()),
                    read => hasher.update(&block[..read]),
                }
            }
        };
        let hashes: Vec<[u8; 32]> = paths.into_iter().map(hash).collect::<Result<_>>()?;
        Ok(Digest::known(written(kind, &hashes)))
    }

    /// One that is made from here on, file by file.
    #[cfg(feature = "parquet")]
    pub(super) fn behind(files: Vec<Hashing>, kind: DigestKind) -> Self {
        let digest = Digest(Arc::default());
        let coming =
            Coming { files: files.into_iter(), under_way: None, done: Vec::new(), kind, digest: digest.clone() };
        rayon::spawn(|| coming.step());
        digest
    }

    /// Whether nothing has to be waited for.
    pub fn is_known(&self) -> bool {
        self.0.found.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// `blake3:` or `sha256:`, and hexadecimal digits. A thread of a pool that waits for them takes part in the work of the pool: all of its threads may wait.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that cannot be read, or was written to since it was opened.
    pub fn written(&self) -> Result<String> {
        loop {
            let found = self.0.found.lock().unwrap_or_else(PoisonError::into_inner);
            match &*found {
                Some(Ok(written)) => return Ok(written.clone()),
                Some(Err((path, message))) => {
                    return Err(Error::Unreadable { path: path.clone(), message: message.clone() });
                }
                None => {}
            }
            // Threads outside of a pool are woken.
            drop(self.0.is_there.wait_timeout(found, BREAK).unwrap_or_else(PoisonError::into_inner));
            while !self.is_known() && rayon::yield_now() == Some(rayon::Yield::Executed) {}
        }
    }

    fn put(&self, found: Found) {
        *self.0.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        self.0.is_there.notify_all();
    }
}

/// Bytes of a file that are hashed at a time.
const BLOCK: usize = 1 << 20;

/// How long a thread waits before it looks for other work.
const BREAK: Duration = Duration::from_millis(1);

/// A hash that takes in bytes.
#[derive(Debug)]
pub(super) enum Hasher {
    Blake3(Box<blake3::Hasher>),
    Sha256(Sha256),
}

impl Hasher {
    pub fn new(kind: DigestKind) -> Self {
        match kind {
            DigestKind::Blake3 => Hasher::Blake3(Box::default()),
            DigestKind::Sha256 => Hasher::Sha256(Sha256::new()),
        }
    }

    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Blake3(hash) => drop(hash.update(bytes)),
            Hasher::Sha256(hash) => hash.update(bytes),
        }
    }

    pub fn finish(&self) -> [u8; 32] {
        match self {
            Hasher::Blake3(hash) => hash.finalize().into(),
            Hasher::Sha256(hash) => hash.clone().finalize().into(),
        }
    }
}

/// The hash of bytes in memory.
pub(super) fn hashed(kind: DigestKind, bytes: &[u8]) -> [u8; 32] {
    let mut hasher = Hasher::new(kind);
    hasher.update(bytes);
    hasher.finish()
}

/// How the hash of a file is written, or that of those of several, one after the other.
pub(super) fn written(kind: DigestKind, hashes: &[[u8; 32]]) -> String {
    let hash = match hashes {
        [one] => *one,
        several => hashed(kind, &several.concat()),
    };
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}:{digits}", kind.word())
}

/// A hash on its way, in steps: a thread that waits for others takes some of them and goes back to what it waits for.
#[cfg(feature = "parquet")]
struct Coming {
    files: std::vec::IntoIter<Hashing>,
    under_way: Option<Hashing>,
    done: Vec<[u8; 32]>,
    kind: DigestKind,
    digest: Digest,
}

/// Blocks that a step takes in: some milliseconds.
#[cfg(feature = "parquet")]
const BLOCKS: usize = 16;

#[cfg(feature = "parquet")]
impl Coming {
    fn step(mut self) {
        for _ in 0..BLOCKS {
            match self.block() {
                Ok(None) => {}
                Ok(Some(written)) => return self.digest.put(Ok(written)),
                Err(Error::Unreadable { path, message }) => return self.digest.put(Err((path, message))),
                Err(other) => return self.digest.put(Err((PathBuf::new(), other.to_string()))),
            }
        }
        rayon::spawn(|| self.step());
    }

    /// Takes in a block; the hash as it is written, after the last.
    fn block(&mut self) -> Result<Option<String>> {
        if self.under_way.is_none() {
            self.under_way = self.files.next();
        }
        let Some(file) = &mut self.under_way else { return Ok(Some(written(self.kind, &self.done))) };
        if let Some(hash) = file.step()? {
            self.done.push(hash);
            self.under_way = None;
        }
        Ok(None)
    }
}
