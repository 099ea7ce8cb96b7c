//! Files read whole, and files written atomically.

mod destination;

pub use destination::{Destination, check_apart, write_file};

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use vaglio_core::{Cause, Error, Result, clip};

/// Turns the system's errors about a file into [`Error::Unreadable`] with a full sentence.
pub(crate) fn read_error(path: &Path) -> impl Fn(std::io::Error) -> Error + Copy {
    move |error| {
        let message = match error.kind() {
            ErrorKind::NotFound => match previous(path) {
                Some(previous) => format!("there is no such file; that of an earlier run is `{previous}`"),
                None => "there is no such file".to_owned(),
            },
            ErrorKind::PermissionDenied => "permission to read it is denied".to_owned(),
            _ => error.to_string(),
        };
        Error::unreadable(path, Cause::new(message, error))
    }
}

/// Word in the name of a result that a later run replaced, as in `selection.previous.json`.
pub const PREVIOUS: &str = "previous";

/// File name with the word `age` before the extension: `selection.json` as `selection.previous.json`.
pub fn name_with_age(file: &str, age: &str) -> String {
    if age.is_empty() {
        return file.to_owned();
    }
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    format!("{stem}.{age}.{ending}")
}

/// Name of this file from the previous run, if it exists.
fn previous(path: &Path) -> Option<String> {
    let name = name_with_age(path.file_name()?.to_str()?, PREVIOUS);
    path.with_file_name(&name).is_file().then_some(name)
}

/// Reads a file; returns `None` if it has more than `most` bytes.
pub fn read_at_most(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    read_open_file_at_most(File::open(path).map_err(read_error(path))?, path, most)
}

/// Like [`read_at_most`], for an open file.
pub fn read_open_file_at_most(file: File, path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    if file.metadata().is_ok_and(|known| known.is_file() && known.len() > most) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(read_error(path))?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Turns a missing file into `None`.
pub fn none_if_missing<T>(path: &Path, found: std::io::Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(read_error(path)(error)),
    }
}

/// Truncates a message that may quote a file's content.
pub fn truncate_message(message: &str) -> String {
    const MOST: usize = 301;
    clip(message, MOST).into_owned()
}

/// Reads a regular file; returns `None` if it has more than `most` bytes.
///
/// # Errors
/// Returns the errors of [`check_regular`], and of reading.
pub fn read_regular(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    check_regular(path)?;
    read_at_most(path, most)
}

/// Rejects devices and pipes, which may block or never end.
///
/// # Errors
/// [`Error::Unreadable`] for a device, a pipe or a missing file.
pub fn check_regular(path: &Path) -> Result<()> {
    let known = std::fs::metadata(path).map_err(read_error(path))?;
    match known.is_file() || known.is_dir() {
        true => Ok(()),
        false => Err(Error::unreadable(path, "it is a device or a pipe, and only a regular file is read here")),
    }
}

/// Name of the temporary file that becomes `path`.
pub fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Creates the temporary file of a path, with the permissions of the existing file, if any.
///
/// An existing temporary file, possibly a link, is removed and never written through.
///
/// # Errors
/// Fails if the system cannot create the file.
pub fn create_temporary(path: &Path, like: Option<&Metadata>) -> std::io::Result<(PathBuf, File)> {
    let temporary = temporary_path(path);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let Some(like) = like {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        // Nobody else may read it in the meantime.
        options.mode(like.permissions().mode() & 0o600);
    }
    let file = match options.open(&temporary) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            std::fs::remove_file(&temporary)?;
            options.open(&temporary)?
        }
        opened => opened?,
    };
    if let Some(like) = like
        && let Err(error) = copy_permissions(&file, like)
    {
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    Ok((temporary, file))
}

/// Copies the permissions of another file, and its owner if the system allows.
#[cfg(unix)]
fn copy_permissions(file: &File, like: &Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        let _ = fchown(file, Some(like.uid()), Some(like.gid()));
    }
    file.set_permissions(std::fs::Permissions::from_mode(like.permissions().mode() & 0o777))
}

#[cfg(not(unix))]
fn copy_permissions(file: &File, like: &Metadata) -> std::io::Result<()> {
    file.set_permissions(like.permissions())
}
