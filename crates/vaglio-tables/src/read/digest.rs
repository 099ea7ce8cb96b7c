//! The hash of the files of a table, which may still be on its way.

#[cfg(feature = "parquet")]
use super::arrow_files::Hashing;
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use vaglio_core::{Error, Result};

/// SHA-256 of the files of a table, in hexadecimal digits: known, or made by threads that have nothing else to do.
#[derive(Debug, Clone)]
pub struct Digest(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot {
    found: Mutex<Option<Found>>,
    is_there: Condvar,
}

/// The digits, or what went wrong with which file.
type Found = std::result::Result<String, (PathBuf, String)>;

impl Digest {
    /// One that was made.
    pub fn known(digits: String) -> Self {
        let digest = Digest(Arc::default());
        digest.put(Ok(digits));
        digest
    }

    /// One that is made from here on, file by file.
    #[cfg(feature = "parquet")]
    pub(super) fn behind(files: Vec<Hashing>) -> Self {
        let digest = Digest(Arc::default());
        let coming = Coming { files: files.into_iter(), under_way: None, done: Vec::new(), digest: digest.clone() };
        rayon::spawn(|| coming.step());
        digest
    }

    /// Whether nothing has to be waited for.
    pub fn is_known(&self) -> bool {
        self.0.found.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The digits. A thread of a pool that waits for them takes part in the work of the pool: all of its threads may wait.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that cannot be read, or was written to since it was opened.
    pub fn digits(&self) -> Result<String> {
        loop {
            let found = self.0.found.lock().unwrap_or_else(PoisonError::into_inner);
            match &*found {
                Some(Ok(digits)) => return Ok(digits.clone()),
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

/// How long a thread waits before it looks for other work.
const BREAK: Duration = Duration::from_millis(1);

/// The digits of the hash of a file, or of those of several, one after the other.
pub(super) fn digits(hashes: &[[u8; 32]]) -> String {
    let hash = match hashes {
        [one] => *one,
        several => Sha256::digest(several.concat()).into(),
    };
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A hash on its way, in steps: a thread that waits for others takes some of them and goes back to what it waits for.
#[cfg(feature = "parquet")]
struct Coming {
    files: std::vec::IntoIter<Hashing>,
    under_way: Option<Hashing>,
    done: Vec<[u8; 32]>,
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
                Ok(Some(digits)) => return self.digest.put(Ok(digits)),
                Err(Error::Unreadable { path, message }) => return self.digest.put(Err((path, message))),
                Err(other) => return self.digest.put(Err((PathBuf::new(), other.to_string()))),
            }
        }
        rayon::spawn(|| self.step());
    }

    /// Takes in a block; the digits, after the last.
    fn block(&mut self) -> Result<Option<String>> {
        if self.under_way.is_none() {
            self.under_way = self.files.next();
        }
        let Some(file) = &mut self.under_way else { return Ok(Some(digits(&self.done))) };
        if let Some(hash) = file.step()? {
            self.done.push(hash);
            self.under_way = None;
        }
        Ok(None)
    }
}
