//! Scratch space: a file on a disk in which large vectors lie that do not fit the memory.
//!
//! The allocator of a program makes the space, since whatever is large then lies there: columns, copies of their rows, and what
//! an engine keeps. Nothing that computes knows of it, so results have the same bits as in memory. The file has no name, so it is
//! gone with the process, however that ends.

use std::fmt;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// An allocator that takes large blocks out of a file while scratch space is open.
pub trait FileAllocator: Sync {
    /// Opens the space, in a folder if it is not open.
    ///
    /// # Errors
    /// Errors of the system.
    fn open(&self, folder: &Path) -> Result<()>;

    /// Takes new blocks out of memory again, once for every time that the space was opened.
    fn close(&self);

    /// Bytes that are in use, and bytes that are free; `None` where the space is not open.
    fn bytes(&self) -> Option<[u64; 2]>;
}

static ALLOCATOR: OnceLock<&dyn FileAllocator> = OnceLock::new();

/// Names the allocator of the program. The first one counts.
pub fn allocate_by(allocator: &'static dyn FileAllocator) {
    let _ = ALLOCATOR.set(allocator);
}

/// Bytes in use and free of the open space.
pub(crate) fn bytes() -> Option<[u64; 2]> {
    ALLOCATOR.get()?.bytes()
}

/// The folder of large temporary files: `TMPDIR`, or `/var/tmp`, which is on a disk where `/tmp` may be in memory.
pub fn default_folder() -> PathBuf {
    std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from)
}

/// Scratch space, open until this is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Opens scratch space in a folder.
    ///
    /// # Errors
    /// Errors of the system; [`ErrorKind::Unsupported`] where the allocator of the program has none.
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

/// `a file in /var/tmp, where 20.1 GB are free`
impl fmt::Display for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [_, free] = bytes().unwrap_or_default();
        write!(f, "a file in {}, where {} are free", self.folder.display(), crate::budget::shown(free as f64))
    }
}
