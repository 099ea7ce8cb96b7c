//! Files are written beside their place, and the disk is told of their names.

use std::path::{Path, PathBuf};

/// The name under which a file is written before it appears.
pub(super) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Has the disk know the names in a folder, where the system can.
pub(super) fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}
