//! Files that are read whole, and written beside their place so that they appear whole.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};

/// What the system says about a file, in a sentence.
pub fn system(path: &Path, error: &std::io::Error) -> Error {
    let message = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission to read it is denied".to_owned(),
        _ => error.to_string(),
    };
    Error::Unreadable { path: path.to_owned(), message }
}

/// The bytes of a file, read once; `None` for one that has more than `most`.
pub fn bounded(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let failed = |error: std::io::Error| system(path, &error);
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().is_ok_and(|known| known.is_file() && known.len() > most) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// The beginning of a message that may quote what the file holds.
pub fn shortened(message: &str) -> String {
    const MOST: usize = 300;
    if message.chars().count() <= MOST {
        return message.to_owned();
    }
    message.chars().take(MOST).chain("…".chars()).collect()
}

/// Writes a file under another name first, so that it appears whole or not at all.
///
/// # Errors
/// [`Error::Unwritable`].
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let failed = |e: std::io::Error| Error::Unwritable { path: path.to_owned(), message: e.to_string() };
    let temporary = temporary(path);
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|e| {
        let _ = std::fs::remove_file(&temporary);
        failed(e)
    })
}

/// The name under which a file is written before it appears.
pub fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}
