//! Tables of every format, the memory that they may take, and untrusted files.
#![cfg(feature = "text")]
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[cfg(feature = "parquet")]
mod binary;
mod budget;
mod cells;
mod changes;
mod text;

use std::path::PathBuf;

/// Creates a temporary folder for one test.
fn create_folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("vaglio-read-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a file into a temporary folder.
fn write_file(folder: &str, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = create_folder(folder).join(name);
    std::fs::write(&path, content).unwrap();
    path
}
