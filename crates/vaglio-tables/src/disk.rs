//! Files that are read whole, and written beside their place so that they appear whole.

mod destination;

pub use destination::{Destination, check_apart};

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};

/// What the system says about a file, in a sentence.
pub fn system(path: &Path, error: &std::io::Error) -> Error {
    let message = match error.kind() {
        std::io::ErrorKind::NotFound => match previous(path) {
            Some(previous) => format!("there is no such file; that of an earlier run is `{previous}`"),
            None => "there is no such file".to_owned(),
        },
        std::io::ErrorKind::PermissionDenied => "permission to read it is denied".to_owned(),
        _ => error.to_string(),
    };
    Error::Unreadable { path: path.to_owned(), message }
}

/// Of a result that another took the place of.
pub const PREVIOUS: &str = "previous";

/// The name of a file of a result of that age: `selection.json` as `selection.previous.json`.
pub fn named(file: &str, age: &str) -> String {
    if age.is_empty() {
        return file.to_owned();
    }
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    format!("{stem}.{age}.{ending}")
}

/// The name that a file of this path has once another run has set it aside, where it is there.
fn previous(path: &Path) -> Option<String> {
    let name = named(path.file_name()?.to_str()?, PREVIOUS);
    path.with_file_name(&name).is_file().then_some(name)
}

/// The bytes of a file, read once; `None` for one that has more than `most`.
pub fn bounded(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    bounded_of(std::fs::File::open(path).map_err(|error| system(path, &error))?, path, most)
}

/// The same of an open file.
pub fn bounded_of(file: std::fs::File, path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    if file.metadata().is_ok_and(|known| known.is_file() && known.len() > most) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| system(path, &error))?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// What the system has of a file; `None` where there is none.
pub fn if_there<T>(path: &Path, found: std::io::Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(system(path, &error)),
    }
}

/// The beginning of a message that may quote what the file holds.
pub fn shortened(message: &str) -> String {
    const MOST: usize = 300;
    if message.chars().count() <= MOST {
        return message.to_owned();
    }
    message.chars().take(MOST).chain("…".chars()).collect()
}

/// The bytes of a regular file; `None` for one that has more than `most`.
///
/// # Errors
/// Those of [`check_regular`].
pub fn regular(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    check_regular(path)?;
    bounded(path, most)
}

/// Refuses what waits for a writer, or never ends.
///
/// # Errors
/// [`Error::Unreadable`] of a device or a pipe, and of a file that is not there.
pub fn check_regular(path: &Path) -> Result<()> {
    let known = std::fs::metadata(path).map_err(|error| system(path, &error))?;
    match known.is_file() || known.is_dir() {
        true => Ok(()),
        false => {
            let message = "it is a device or a pipe, and only a regular file is read here".into();
            Err(Error::Unreadable { path: path.to_owned(), message })
        }
    }
}

/// Writes a text by a [`Destination`]: a regular file appears whole or not at all.
///
/// # Errors
/// Those of [`Destination::open`] and of writing.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let mut file = Destination::open(path)?;
    let _goes_on = file.put(text.as_bytes())?;
    file.finish()
}

/// The name under which a file is written before it appears.
pub fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// A new file under the temporary name of another, with the permissions of the one that stood there, if any.
///
/// What lies in the way, which may be a link to somewhere else, is removed and never written through.
///
/// # Errors
/// Those of the system.
pub fn fresh(path: &Path, like: Option<&Metadata>) -> std::io::Result<(PathBuf, File)> {
    let temporary = temporary(path);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let Some(like) = like {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        // Nobody else may read it in the meantime.
        options.mode(like.permissions().mode() & 0o600);
    }
    let file = match options.open(&temporary) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(&temporary)?;
            options.open(&temporary)?
        }
        opened => opened?,
    };
    if let Some(like) = like
        && let Err(error) = keep(&file, like)
    {
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    Ok((temporary, file))
}

/// Gives a file the owner, as far as the system lets us, and the permissions of another.
#[cfg(unix)]
fn keep(file: &File, like: &Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        let _ = fchown(file, Some(like.uid()), Some(like.gid()));
    }
    file.set_permissions(std::fs::Permissions::from_mode(like.permissions().mode() & 0o777))
}

#[cfg(not(unix))]
fn keep(file: &File, like: &Metadata) -> std::io::Result<()> {
    file.set_permissions(like.permissions())
}
