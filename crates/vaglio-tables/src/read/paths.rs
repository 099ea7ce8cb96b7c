//! Files that a setting names: one, several by a pattern, or a folder of parts.

use super::bytes::kind;
use super::{read_error, unreadable};
use std::collections::{HashSet, VecDeque};
use std::path::{Component, Path, PathBuf};
use vaglio_core::{Cause, Error, Result};

/// Files of a path: itself, the matches of a pattern with `*`, `?` or `[`, sorted by name, or those of a folder whose
/// parts are in folders named `column=value`. A file reached by several symbolic links is listed once.
///
/// # Errors
/// Fails if there is no such file, a pattern has no match, or a folder has another structure.
pub fn expand_path(path: &Path) -> Result<Vec<PathBuf>> {
    let text = path.to_string_lossy();
    let is_wild = |text: &str| text.contains(['*', '?', '[']);
    if !path.exists() && is_wild(&text) {
        let wrong = |error: glob::PatternError| unreadable(path, Cause::after("the pattern is wrong", error));
        let files: Vec<PathBuf> = match path.components().any(|part| part.as_os_str() == "**") {
            true => {
                let pattern = glob::Pattern::new(&text).map_err(wrong)?;
                let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::default() };
                let is_plain = |part: &Component<'_>| !is_wild(&part.as_os_str().to_string_lossy());
                let folder: PathBuf = path.components().take_while(is_plain).collect();
                let files = below(&folder, |_| true).into_iter().flatten();
                files.filter(|file| pattern.matches_path_with(file, options)).collect()
            }
            false => glob::glob(&text).map_err(wrong)?.flatten().collect(),
        };
        let files = sort_unique(files.into_iter().filter(|path| path.is_file()).collect());
        return if files.is_empty() { Err(unreadable(path, "no file fits the pattern")) } else { Ok(files) };
    }
    let metadata = std::fs::metadata(path).map_err(read_error(path))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = below(path, |name| name.contains('=')).into_iter().collect::<Result<Vec<PathBuf>>>()?;
    let is_hidden = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().starts_with(['.', '_']);
    files.retain(|file| file.parent() != Some(path) && file.is_file() && !is_hidden(file));
    let files = sort_unique(files);
    files.iter().try_for_each(|file| kind(file, &[]).map(drop))?;
    match files.is_empty() {
        true => Err(unreadable(path, "is a folder; name a file, or its files as `folder/*.parquet`")),
        false => Ok(files),
    }
}

/// Files of several paths, each with whether its folders name columns.
///
/// # Errors
/// Returns the errors of [`expand_path`]; [`Error::Setting`] for a file that is named twice.
pub(super) fn all_files(paths: &[PathBuf]) -> Result<Vec<(PathBuf, bool)>> {
    let (mut files, mut seen) = (Vec::new(), HashSet::new());
    for path in paths {
        let is_folder = path.is_dir();
        for file in expand_path(path)? {
            if !seen.insert(real(&file)) {
                let message = format!("{} is named twice; its rows would count twice", file.display());
                return Err(Error::setting("data.train", message));
            }
            files.push((file, is_folder));
        }
    }
    Ok(files)
}

/// Canonical path, without links.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Sorts files by name and removes duplicates.
fn sort_unique(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.sort();
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(real(file)));
    files
}

/// Files below a folder, with an error for a folder that cannot be read. Enters folders with names that `enters`
/// accepts, the nearest first, none of them twice, so that cyclic links end.
fn below(folder: &Path, enters: impl Fn(&str) -> bool) -> Vec<Result<PathBuf>> {
    let (mut visited, mut files, mut left) = (HashSet::new(), Vec::new(), VecDeque::from([folder.to_owned()]));
    while let Some(folder) = left.pop_front() {
        let place = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        if !visited.insert(real(place)) {
            continue;
        }
        let entries = match std::fs::read_dir(place) {
            Ok(entries) => entries,
            Err(error) => {
                files.push(Err(read_error(place)(error)));
                continue;
            }
        };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let path = folder.join(&name);
            if !path.is_dir() {
                files.push(Ok(path));
            } else if enters(&name.to_string_lossy()) {
                left.push_back(path);
            }
        }
    }
    files
}

/// Columns given by folders named `column=value`, with `%20` and the like decoded; `None` for a missing value.
pub(super) fn partitions(path: &Path) -> Vec<(String, Option<String>)> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let pair = |name: std::borrow::Cow<'_, str>| {
        let (column, value) = name.split_once('=')?;
        let is_there = value != "__HIVE_DEFAULT_PARTITION__";
        Some((decode_percent(column), is_there.then(|| decode_percent(value))))
    };
    folders.filter_map(|folder| pair(folder.as_os_str().to_string_lossy())).collect()
}

/// Decodes percent escapes; leaves the text as it is if the bytes are not text.
fn decode_percent(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let byte = after.get(..2).filter(|_| first == b'%').and_then(|digits| {
            let digit = |digit: u8| char::from(digit).to_digit(16);
            Some((16 * digit(digits[0])? + digit(digits[1])?) as u8)
        });
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
