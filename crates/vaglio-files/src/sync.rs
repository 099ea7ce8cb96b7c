//! Files are written beside their place, and the disk is told of their names.

use std::path::Path;

/// Has the disk know the names in a folder, where the system can.
pub(super) fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}
