//! Syncs folders to disk, after renames of files.

use std::path::Path;

/// Syncs the names in a folder to disk, if the system can.
pub(super) fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}
