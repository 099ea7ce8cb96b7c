//! Hash of the files of a table, possibly computed in the background.

use super::loaded_file::check_unchanged;
use super::read_error;
use blake3::{Hash, Hasher, hash};
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use vaglio_core::Result;

/// Hashes some more bytes of a file; returns the hash after the last.
pub(super) type HashSteps = Box<dyn FnMut() -> Result<Option<Hash>> + Send>;

/// Bytes hashed at a time.
const STEP: u64 = 1 << 18;

/// Steps of hashing a file that had this metadata when it was opened for reading.
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`], also of each step: the file cannot be read, or was modified.
pub(super) fn hash_steps(path: &Path, before: Metadata) -> Result<HashSteps> {
    let mut file = File::open(path).map_err(read_error(path))?;
    let (path, mut hasher) = (path.to_owned(), Hasher::new());
    Ok(Box::new(move || {
        let (failed, count) = (read_error(&path), hasher.count());
        hasher.update_reader(file.by_ref().take(STEP)).map_err(failed)?;
        if hasher.count() > count {
            return Ok(None);
        }
        check_unchanged(&path, &before, &file.metadata().map_err(failed)?, count)?;
        Ok(Some(hasher.finalize()))
    }))
}

/// Hash of the files of a table: known, or being computed by idle threads.
#[derive(Debug, Clone)]
pub struct Digest(Arc<OnceLock<Result<String>>>);

/// Time that a thread waits before it looks for other work.
const BREAK: Duration = Duration::from_millis(1);
/// Blocks per background job: some milliseconds, so that a thread that takes a job while waiting returns soon.
const BLOCKS: usize = 16;

impl Digest {
    /// Wraps a known hash.
    pub fn known(written: String) -> Self {
        Digest(Arc::new(OnceLock::from(Ok(written))))
    }

    /// Starts hashing in the background, file by file.
    pub(super) fn in_background(files: Vec<HashSteps>) -> Self {
        let digest = Digest(Arc::default());
        digest.clone().hash(files, Vec::new());
        digest
    }

    /// Hashes the files that have no hash yet, in small jobs.
    fn hash(self, mut files: Vec<HashSteps>, mut hashes: Vec<Hash>) {
        rayon::spawn(move || {
            for _ in 0..BLOCKS {
                let found = match files.get_mut(hashes.len()).map(|file| file()) {
                    Some(Ok(hash)) => {
                        hashes.extend(hash);
                        continue;
                    }
                    Some(Err(error)) => Err(error),
                    None => Ok(format_hash(&hashes)),
                };
                let _ = self.0.set(found);
                return;
            }
            self.hash(files, hashes);
        });
    }

    /// Waits for the hash, `blake3:` and hexadecimal digits. A waiting thread of a pool takes part in the pool's work,
    /// since all of its threads may wait.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Unreadable`] if a file cannot be read or was modified since it was opened.
    pub fn wait(&self) -> Result<String> {
        loop {
            if let Some(found) = self.0.get() {
                return found.clone();
            }
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::sleep(BREAK);
            }
        }
    }
}

/// Formats the hash of a file; for several files, the hash of their concatenated hashes.
pub(super) fn format_hash(hashes: &[Hash]) -> String {
    let hash = match hashes {
        [one] => *one,
        several => hash(several.iter().flat_map(Hash::as_bytes).copied().collect::<Vec<u8>>().as_slice()),
    };
    format!("blake3:{hash}")
}
