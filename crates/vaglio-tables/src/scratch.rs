//! Scratch space: a file on disk that holds large vectors that do not fit in memory.
//!
//! The program's allocator opens the space, so every large vector lies there: columns, copies of rows, data of an
//! engine. Computations do not know of it, so results have the same bits as in memory. The file has no name, so it
//! disappears with the process, however that ends.

use std::fmt;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// An allocator that places large blocks in a file while scratch space is open.
pub trait FileAllocator: Sync {
    /// Opens the space in a folder, unless it is already open. Each call needs a [`FileAllocator::close`].
    ///
    /// # Errors
    /// Returns the errors of the system.
    fn open(&self, folder: &Path) -> Result<()>;

    /// Undoes one [`FileAllocator::open`]; after the last, new blocks come from memory again.
    fn close(&self);

    /// Used and free bytes of the space; `None` if it is not open.
    fn bytes(&self) -> Option<[u64; 2]>;
}

static ALLOCATOR: OnceLock<&dyn FileAllocator> = OnceLock::new();

/// Registers the allocator of the program; only the first call has an effect.
pub fn allocate_by(allocator: &'static dyn FileAllocator) {
    let _ = ALLOCATOR.set(allocator);
}

/// Used and free bytes of the scratch space; `None` if it is not open.
pub(crate) fn bytes() -> Option<[u64; 2]> {
    ALLOCATOR.get()?.bytes()
}

/// Folder for large temporary files: `TMPDIR`, else `/var/tmp`, which is on disk even if `/tmp` is in memory.
pub fn default_folder() -> PathBuf {
    std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from)
}

/// Scratch space that is open until dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Opens scratch space in a folder.
    ///
    /// # Errors
    /// Errors of the system; [`ErrorKind::Unsupported`] if the program registered no [`FileAllocator`].
    pub fn open(folder: &Path) -> Result<Self> {
        let unsupported =
            || Error::new(ErrorKind::Unsupported, "this program has no scratch space, as `vaglio` on Linux");
        ALLOCATOR.get().ok_or_else(unsupported)?.open(folder)?;
        Ok(Scratch { folder: folder.to_owned() })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        ALLOCATOR.get().iter().for_each(|allocator| allocator.close());
    }
}

/// Formats the place: `a file in /var/tmp, where 20.1 GB are free`.
impl fmt::Display for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [_, free] = bytes().unwrap_or_default();
        write!(f, "a file in {}, where {} are free", self.folder.display(), crate::budget::shown(free as f64))
    }
}
