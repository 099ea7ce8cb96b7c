//! Where predictions are written: a file that appears whole, or a device or pipe that is written as they come.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};
use vaglio_tables::disk::temporary;

/// A file that is written.
pub(super) struct Destination {
    /// As it was asked for.
    path: PathBuf,
    file: File,
    /// Where it is written first, and the file that it becomes.
    renamed: Option<(PathBuf, PathBuf)>,
}

/// Links that are followed, at most.
const MOST_LINKS: usize = 40;

impl Destination {
    /// Opens a file through symbolic links. A regular file is written beside it under another name first; a device, a pipe
    /// and what the system gives out as a file stay what they are.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |e: std::io::Error| Error::Unwritable { path: path.to_owned(), message: e.to_string() };
        let target = through_links(path);
        let metadata = std::fs::metadata(path).ok();
        if metadata.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(Error::Unwritable { path: path.to_owned(), message: "it is a folder".into() });
        }
        if is_of_system(&target) || metadata.is_some_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            return Ok(Destination { path: path.to_owned(), file, renamed: None });
        }
        let temporary = temporary(&target);
        let file = File::create(&temporary).map_err(failed)?;
        Ok(Destination { path: path.to_owned(), file, renamed: Some((temporary, target)) })
    }

    /// Writes what comes next; whoever reads from a pipe may have seen enough.
    pub fn put(&mut self, bytes: &[u8]) -> Result<ControlFlow<()>> {
        match self.file.write_all(bytes) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
            Err(e) => Err(Error::Unwritable { path: self.path.clone(), message: e.to_string() }),
        }
    }

    /// Makes the file appear.
    pub fn finish(mut self) -> Result<()> {
        let Some((temporary, target)) = &self.renamed else { return Ok(()) };
        let done = self.file.sync_all().and_then(|()| std::fs::rename(temporary, target));
        done.map_err(|e| Error::Unwritable { path: self.path.clone(), message: e.to_string() })?;
        self.renamed = None;
        Ok(())
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// What was not finished does not appear.
impl Drop for Destination {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.renamed {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// The file that a symbolic link stands for, which need not be there yet; links of the system are not followed.
fn through_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if is_of_system(&path) {
            break;
        }
        let Ok(to) = std::fs::read_link(&path) else { break };
        path = path.parent().map_or(to.clone(), |folder| folder.join(&to));
    }
    path
}

/// Whether a path is one of the system's own, such as `/dev/stdout`, which may stand for a regular file.
fn is_of_system(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}
