//! Hash of the files of a table, possibly computed in the background.

use blake3::{Hash, hash};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use vaglio_core::Result;

/// Hashes some more bytes of a file; returns the hash after the last.
pub(super) type HashSteps = Box<dyn FnMut() -> Result<Option<Hash>> + Send>;

/// Hash of the files of a table: known, or being computed by idle threads.
#[derive(Debug, Clone)]
pub struct Digest(Arc<DigestSlot>);

#[derive(Debug, Default)]
struct DigestSlot {
    /// Hash as written.
    found: Mutex<Option<Result<String>>>,
    is_there: Condvar,
}

impl Digest {
    /// Wraps a known hash.
    pub fn known(written: String) -> Self {
        let digest = Digest(Arc::default());
        digest.put(Ok(written));
        digest
    }

    /// Starts hashing in the background, file by file.
    pub(super) fn in_background(files: Vec<HashSteps>) -> Self {
        let digest = Digest(Arc::default());
        let coming =
            BackgroundDigest { files: files.into_iter(), under_way: None, done: Vec::new(), digest: digest.clone() };
        rayon::spawn(|| coming.step());
        digest
    }

    /// Whether the hash is available without waiting.
    pub(crate) fn is_known(&self) -> bool {
        self.0.found.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Waits for the hash, `blake3:` and hexadecimal digits. A waiting thread of a pool takes part in the pool's work,
    /// since all of its threads may wait.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Unreadable`] if a file cannot be read or was modified since it was opened.
    pub fn written(&self) -> Result<String> {
        loop {
            let found = self.0.found.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = &*found {
                return found.clone();
            }
            // Wakes threads outside of a pool.
            drop(self.0.is_there.wait_timeout(found, BREAK).unwrap_or_else(PoisonError::into_inner));
            while !self.is_known() && rayon::yield_now() == Some(rayon::Yield::Executed) {}
        }
    }

    fn put(&self, found: Result<String>) {
        *self.0.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        self.0.is_there.notify_all();
    }
}

/// Time that a thread waits before it looks for other work.
const BREAK: Duration = Duration::from_millis(1);

/// Formats the hash of a file; for several files, the hash of their concatenated hashes.
pub(super) fn written(hashes: &[Hash]) -> String {
    let hash = match hashes {
        [one] => *one,
        several => hash(several.iter().flat_map(Hash::as_bytes).copied().collect::<Vec<u8>>().as_slice()),
    };
    format!("blake3:{hash}")
}

/// Hash computed in small jobs, so that a thread that takes one while waiting returns soon.
struct BackgroundDigest {
    files: std::vec::IntoIter<HashSteps>,
    under_way: Option<HashSteps>,
    done: Vec<Hash>,
    digest: Digest,
}

/// Blocks per job: some milliseconds.
const BLOCKS: usize = 16;

impl BackgroundDigest {
    fn step(mut self) {
        for _ in 0..BLOCKS {
            if let Some(found) = self.block().transpose() {
                return self.digest.put(found);
            }
        }
        rayon::spawn(|| self.step());
    }

    /// Hashes one block; returns the formatted hash after the last.
    fn block(&mut self) -> Result<Option<String>> {
        if self.under_way.is_none() {
            self.under_way = self.files.next();
        }
        let Some(file) = &mut self.under_way else { return Ok(Some(written(&self.done))) };
        if let Some(hash) = file()? {
            self.done.push(hash);
            self.under_way = None;
        }
        Ok(None)
    }
}
