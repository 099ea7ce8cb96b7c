//! Hash of the files of a table, possibly computed in the background.

use super::loaded_file::check_unchanged;
use super::read_error;
use blake3::{Hash, Hasher, hash};
use std::fs::{File, Metadata};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use vaglio_core::Result;

/// Computes a hash.
pub(super) type Hashing<H> = Box<dyn FnOnce() -> Result<H> + Send>;

/// Opens a file to hash it, which had this metadata when it was opened for reading.
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`], also of the hash: the file cannot be read, or was modified.
pub(super) fn file_hash(path: &Path, before: Metadata) -> Result<Hashing<Hash>> {
    let mut file = File::open(path).map_err(read_error(path))?;
    let (path, mut hasher) = (path.to_owned(), Hasher::new());
    Ok(Box::new(move || {
        let failed = read_error(&path);
        hasher.update_reader(&mut file).map_err(failed)?;
        check_unchanged(&path, &before, &file.metadata().map_err(failed)?, hasher.count())?;
        Ok(hasher.finalize())
    }))
}

/// Hash of the files of a table: known, or being computed by a thread of its own.
#[derive(Debug, Clone)]
pub struct Digest(Arc<LazyLock<Result<String>, Hashing<String>>>);

impl Digest {
    /// Wraps a known hash.
    pub fn known(written: String) -> Self {
        Digest::new(Box::new(move || Ok(written)))
    }

    fn new(hashing: Hashing<String>) -> Self {
        Digest(Arc::new(LazyLock::new(hashing)))
    }

    /// Starts hashing in the background, file by file.
    pub(super) fn in_background(files: Vec<Hashing<Hash>>) -> Self {
        let digest = Digest::new(Box::new(move || {
            let hashes: Result<Vec<Hash>> = files.into_iter().map(|hash| hash()).collect();
            Ok(format_hash(&hashes?))
        }));
        let own = digest.clone();
        // If the system gives no thread, the first that waits hashes.
        let _ = std::thread::Builder::new().spawn(move || own.wait());
        digest
    }

    /// Waits for the hash, `blake3:` and hexadecimal digits.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Unreadable`] if a file cannot be read or was modified since it was opened.
    pub fn wait(&self) -> Result<String> {
        LazyLock::force(&self.0).clone()
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
