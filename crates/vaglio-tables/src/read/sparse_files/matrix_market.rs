//! Matrix Market's text: a banner, comments, the shape, and entries by row and column.

use super::{at_line, lines};
use crate::budget::Budget;
use crate::read::triplets::Triplets;
use crate::read::{shortened, unreadable};
use std::path::Path;
use vaglio_core::Result;

/// Reads a general matrix of real or whole numbers, or a pattern of ones; duplicate entries are added up. Cost O(bytes).
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`] with the line for an invalid banner, entries outside the matrix, and a wrong
/// number of entries.
pub(super) fn read(path: &Path, bytes: &[u8], budget: Budget) -> Result<Triplets> {
    let mut lines = lines(path, bytes);
    let Some(banner) = lines.next() else { return Err(unreadable(path, "it is empty")) };
    let is_pattern = is_pattern(path, banner?.1)?;
    let mut content = lines.filter(|line| !matches!(line, Ok((_, text)) if text.is_empty() || text.starts_with('%')));
    let Some(shape) = content.next() else { return Err(unreadable(path, "the line with the shape is missing")) };
    let (at, shape) = shape?;
    let numbers: Option<Vec<usize>> = shape.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    let Some(&[rows, columns, count]) = numbers.as_deref() else {
        let message = format_args!("`{}` is not the number of rows, columns and entries", shortened(shape));
        return Err(at_line(path, at, message));
    };
    // Every entry takes at least two bytes of the file.
    let likely = count.min(bytes.len() / 2);
    let mut entries = Triplets { adds: true, ..Triplets::new(path, [rows, columns], likely, budget)? };
    let mut found = 0;
    for line in content {
        let (at, text) = line?;
        found += 1;
        if found > count {
            return Err(at_line(path, at, format_args!("there are more than the {count} entries that the shape says")));
        }
        let (row, column, value) = entry(text, is_pattern, [rows, columns]).ok_or_else(|| {
            let form = if is_pattern { "`row column`" } else { "`row column value`" };
            let text = shortened(text);
            at_line(path, at, format_args!("`{text}` is not {form} of a matrix of {rows} rows and {columns} columns"))
        })?;
        if value != 0.0 {
            entries.push(row, column, value);
        }
    }
    match found == count {
        true => Ok(entries),
        false => Err(unreadable(path, format!("it ends after {found} of {count} entries"))),
    }
}

/// Parses the first line: whether entries have no value and are 1.
fn is_pattern(path: &Path, line: &str) -> Result<bool> {
    let words: Vec<String> = line.split_ascii_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["%%matrixmarket", "matrix", "coordinate", "real" | "double" | "integer", "general"] => Ok(false),
        ["%%matrixmarket", "matrix", "coordinate", "pattern", "general"] => Ok(true),
        _ => {
            let known = "%%MatrixMarket matrix coordinate real general";
            let message = format_args!("the first line is not `{known}`, or `integer` or `pattern` in place of `real`");
            Err(at_line(path, 1, message))
        }
    }
}

/// Parses an entry by row and column, which count from 1 in the file.
fn entry(text: &str, is_pattern: bool, [rows, columns]: [usize; 2]) -> Option<(usize, usize, f64)> {
    let mut words = text.split_ascii_whitespace();
    let mut place = |most: usize| words.next()?.parse::<usize>().ok().filter(|k| (1..=most).contains(k)).map(|k| k - 1);
    let (row, column) = (place(rows)?, place(columns)?);
    let value = if is_pattern { 1.0 } else { words.next()?.parse().ok()? };
    words.next().is_none().then_some((row, column, value))
}
