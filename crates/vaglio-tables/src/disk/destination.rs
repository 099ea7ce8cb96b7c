//! The one way in which commands write a file: one that appears whole, or a device or pipe that is written as it comes.

use super::fresh;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};

/// A file that is written.
#[derive(Debug)]
pub struct Destination {
    /// As it was asked for.
    path: PathBuf,
    file: File,
    /// Where it is written first, and the file that it becomes.
    renamed: Option<(PathBuf, PathBuf)>,
}

/// Links that are followed, at most.
const MOST_LINKS: usize = 40;

impl Destination {
    /// Opens a file through symbolic links. A regular file is written beside it under another name first, and keeps its
    /// permissions; a device, a pipe and what the system gives out as a file stay what they are.
    ///
    /// # Errors
    /// [`Error::Unwritable`], also for a folder and for a file that may be read only.
    pub fn open(path: &Path) -> Result<Self> {
        let refused = |message: String| Error::Unwritable { path: path.to_owned(), message };
        let failed = |e: std::io::Error| refused(e.to_string());
        let target = through_links(path);
        let metadata = std::fs::metadata(path).ok();
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            return Err(refused("it is a folder".into()));
        }
        if is_of_system(&target) || metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            return Ok(Destination { path: path.to_owned(), file, renamed: None });
        }
        if let Some(metadata) = &metadata {
            if metadata.permissions().readonly() {
                return Err(refused("it may be read only; name another file, or allow to write it".into()));
            }
            // What may not be written may not be replaced.
            OpenOptions::new().append(true).open(&target).map_err(failed)?;
        }
        let (temporary, file) = fresh(&target, metadata.as_ref()).map_err(failed)?;
        Ok(Destination { path: path.to_owned(), file, renamed: Some((temporary, target)) })
    }

    /// Writes what comes next; whoever reads from a pipe may have seen enough.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn put(&mut self, bytes: &[u8]) -> Result<ControlFlow<()>> {
        match self.file.write_all(bytes) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
            Err(e) => Err(Error::Unwritable { path: self.path.clone(), message: e.to_string() }),
        }
    }

    /// Makes the file appear.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
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

/// Refuses to write over a file that is read: one of `inputs`, each with what it is, by any of its names.
///
/// # Errors
/// [`Error::Setting`] at `--out` that names both.
pub fn check_apart<P: AsRef<Path>>(out: &Path, inputs: impl IntoIterator<Item = (&'static str, P)>) -> Result<()> {
    // What does not exist cannot be lost, and devices and pipes are not replaced.
    let Some(own) = std::fs::metadata(out).ok().filter(Metadata::is_file) else { return Ok(()) };
    for (what, input) in inputs {
        let input = input.as_ref();
        if std::fs::metadata(input).is_ok_and(|other| is_same((out, &own), (input, &other))) {
            let (out, input) = (out.display(), input.display());
            return Err(Error::setting("--out", format!("{out} is {what} {input}, which is read; name another file")));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_same((_, a): (&Path, &Metadata), (_, b): (&Path, &Metadata)) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same((a, _): (&Path, &Metadata), (b, _): (&Path, &Metadata)) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
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
    path.starts_with("/proc") || (path.starts_with("/dev") && !path.starts_with("/dev/shm"))
}
