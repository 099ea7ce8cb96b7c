//! The files that a setting names: one, several by a pattern, or a folder of parts.

use super::bytes::{FORMATS, extension};
use super::{system, unreadable};
use std::path::{Path, PathBuf};
use vaglio_core::Result;

/// The files of a path: itself, those that a pattern with `*`, `?` or `[` fits, in the order of their names, or those of a
/// folder whose parts lie in folders named `column=value`.
///
/// # Errors
/// No such file; a pattern that fits none; a folder of another kind.
pub(super) fn expanded(path: &Path) -> Result<Vec<PathBuf>> {
    let text = path.to_string_lossy();
    if !path.exists() && text.contains(['*', '?', '[']) {
        let fits = glob::glob(&text).map_err(|error| unreadable(path, format!("the pattern is wrong: {error}")))?;
        let mut files: Vec<PathBuf> = fits.filter_map(std::result::Result::ok).filter(|path| path.is_file()).collect();
        files.sort();
        return if files.is_empty() { Err(unreadable(path, "no file fits the pattern")) } else { Ok(files) };
    }
    let metadata = std::fs::metadata(path).map_err(|error| system(path, &error))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    collect(path, true, &mut files)?;
    files.sort();
    match files.is_empty() {
        true => Err(unreadable(path, "is a folder; name a file, or its files as `folder/*.parquet`")),
        false => Ok(files),
    }
}

/// The data files below a folder, where its own folders are named `column=value`.
fn collect(folder: &Path, is_top: bool, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|error| system(folder, &error))?;
    for entry in entries.filter_map(std::result::Result::ok) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && name.contains('=') {
            collect(&path, false, files)?;
        } else if !is_top && path.is_file() && !name.starts_with(['.', '_']) {
            match extension(&path).as_str() {
                "csv" | "tsv" | "tab" | "txt" | "dat" | "data" | "parquet" | "arrow" | "feather" | "ipc" => {
                    files.push(path)
                }
                _ => return Err(unreadable(&path, FORMATS)),
            }
        }
    }
    Ok(())
}

/// The columns that folders named `column=value` say of a file.
pub(super) fn partitions(path: &Path) -> Vec<(String, String)> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let pair = |name: std::borrow::Cow<'_, str>| {
        let (column, value) = name.split_once('=')?;
        let value = if value == "__HIVE_DEFAULT_PARTITION__" { "" } else { value };
        Some((column.to_owned(), value.to_owned()))
    };
    folders.filter_map(|folder| pair(folder.as_os_str().to_string_lossy())).collect()
}
