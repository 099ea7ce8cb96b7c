//! Output of all commands: a regular file appears atomically; a device or pipe is written as it comes.

use super::create_temporary;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};

/// A file being written.
#[derive(Debug)]
pub struct Destination {
    /// Path as requested.
    path: PathBuf,
    file: File,
    /// Temporary file, and the file that it becomes.
    renamed: Option<(PathBuf, PathBuf)>,
}

/// Maximum number of symbolic links followed.
const MOST_LINKS: usize = 40;

impl Destination {
    /// Opens a file through symbolic links. A regular file is first written under another name in its folder, and keeps
    /// its permissions; devices, pipes and the system's own files stay what they are.
    ///
    /// # Errors
    /// [`Error::Unwritable`], also for a folder and for a read-only file.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |e: std::io::Error| Error::unwritable(path, e);
        let target = through_links(path);
        let metadata = std::fs::metadata(path).ok();
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Error::unwritable(path, "it is a folder"));
        }
        if is_of_system(&target) || metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            return Ok(Destination { path: path.to_owned(), file, renamed: None });
        }
        if let Some(metadata) = &metadata {
            if metadata.permissions().readonly() {
                return Err(Error::unwritable(path, "it may be read only; name another file, or allow to write it"));
            }
            // A file that may not be written may not be replaced.
            OpenOptions::new().append(true).open(&target).map_err(failed)?;
        }
        let (temporary, file) = create_temporary(&target, metadata.as_ref()).map_err(failed)?;
        Ok(Destination { path: path.to_owned(), file, renamed: Some((temporary, target)) })
    }

    /// Writes bytes. Breaks if the reader of a pipe has closed it.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn put(&mut self, bytes: &[u8]) -> Result<ControlFlow<()>> {
        match self.file.write_all(bytes) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
            Err(e) => Err(Error::unwritable(&self.path, e)),
        }
    }

    /// Moves the finished file to its place.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn finish(mut self) -> Result<()> {
        let Some((temporary, target)) = &self.renamed else { return Ok(()) };
        let done = self.file.sync_all().and_then(|()| std::fs::rename(temporary, target));
        done.map_err(|e| Error::unwritable(&self.path, e))?;
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

/// Removes the temporary file if it was not finished.
impl Drop for Destination {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.renamed {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// Writes a text or bytes by a [`Destination`]: a regular file appears whole or not at all.
///
/// # Errors
/// Returns the errors of [`Destination::open`] and of writing.
pub fn write_file<T: AsRef<[u8]> + ?Sized>(path: &Path, text: &T) -> Result<()> {
    let mut file = Destination::open(path)?;
    let _goes_on = file.put(text.as_ref())?;
    file.finish()
}

/// Rejects an output that is also an input, under any name. `inputs` gives each file with its role.
///
/// # Errors
/// [`Error::Setting`] at `--out` that names both.
pub fn check_apart<P: AsRef<Path>>(out: &Path, inputs: impl IntoIterator<Item = (&'static str, P)>) -> Result<()> {
    // A missing file cannot be lost, and devices and pipes are not replaced.
    if !std::fs::metadata(out).is_ok_and(|own| own.is_file()) {
        return Ok(());
    }
    for (what, input) in inputs {
        let input = input.as_ref();
        if is_same(out, input).unwrap_or(false) {
            let (out, input) = (out.display(), input.display());
            return Err(Error::setting("--out", format!("{out} is {what} {input}, which is read; name another file")));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_same(a: &Path, b: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let [a, b] = [a.metadata()?, b.metadata()?];
    Ok((a.dev(), a.ino()) == (b.dev(), b.ino()))
}

#[cfg(not(unix))]
fn is_same(a: &Path, b: &Path) -> std::io::Result<bool> {
    Ok(a.canonicalize()? == b.canonicalize()?)
}

/// Target of a symbolic link, which need not exist yet; the system's own links are not followed.
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

/// Whether a path belongs to the system, such as `/dev/stdout`, which may refer to a regular file.
fn is_of_system(path: &Path) -> bool {
    path.starts_with("/proc") || (path.starts_with("/dev") && !path.starts_with("/dev/shm"))
}
