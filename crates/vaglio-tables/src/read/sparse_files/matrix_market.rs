//! Matrix Market's text: a banner, comments, the shape, and entries by row and column or as an array by column.

use super::{at_line, lines};
use crate::budget::Budget;
use crate::read::triplets::Triplets;
use crate::read::{truncate_message, unreadable};
use std::path::Path;
use vaglio_core::Result;

/// Reads a matrix of real or whole numbers, or a pattern of ones; duplicate entries are added up. Cost O(bytes).
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`] with the line for an invalid banner, entries outside the matrix, a wrong number
/// of entries, and complex numbers.
pub(super) fn read(path: &Path, bytes: &[u8], budget: Budget) -> Result<Triplets> {
    let mut lines = lines(path, bytes);
    let (is_array, is_pattern, mirrored) = match lines.next() {
        Some(line) => banner(path, line?.1)?,
        None => return Err(unreadable(path, "it is empty")),
    };
    let mut content = lines.filter(|line| !matches!(line, Ok((_, text)) if text.is_empty() || text.starts_with('%')));
    let Some(shape) = content.next() else { return Err(unreadable(path, "the line with the shape is missing")) };
    let (at, shape) = shape?;
    let numbers: Option<Vec<usize>> = shape.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    let (shape, count) = match (numbers.as_deref(), is_array) {
        (Some(&[rows, columns, count]), false) => ([rows, columns], count),
        (Some(&[rows, columns]), true) => ([rows, columns], rows.saturating_mul(columns)),
        _ => {
            let expected = if is_array { "rows and columns" } else { "rows, columns and entries" };
            return Err(at_line(
                path,
                at,
                format_args!("`{}` is not the number of {expected}", truncate_message(shape)),
            ));
        }
    };
    if mirrored.is_some() && shape[0] != shape[1] {
        return Err(at_line(path, at, "a symmetric matrix has as many columns as rows"));
    }
    // Every entry takes at least two bytes of the file.
    let likely = count.min(bytes.len() / 2) * if mirrored.is_some() { 2 } else { 1 };
    let mut entries = Triplets { adds: true, ..Triplets::new(path, shape, likely, budget)? };
    // Offset of a column's first entry below the diagonal; `None` if columns are complete.
    let below = mirrored.map(|factor| usize::from(factor < 0.0));
    let mut places = array_places(below, shape);
    let (mut found, expected) = (0usize, if is_array { array_length(below, shape) } else { count });
    for line in content {
        let (at, text) = line?;
        found += 1;
        if found > expected {
            return Err(at_line(
                path,
                at,
                format_args!("there are more than the {expected} entries that the shape says"),
            ));
        }
        let wrong = || {
            let form = match (is_array, is_pattern) {
                (true, _) => "a number",
                (false, true) => "`row column`",
                (false, false) => "`row column value`",
            };
            let [rows, columns] = shape;
            let message =
                format!("`{}` is not {form} of a matrix of {rows} rows and {columns} columns", truncate_message(text));
            at_line(path, at, message)
        };
        let (row, column, value) = match is_array {
            true => {
                let (row, column) = places.next().ok_or_else(wrong)?;
                (row, column, text.parse().map_err(|_| wrong())?)
            }
            false => entry(text, is_pattern, shape).ok_or_else(wrong)?,
        };
        if value == 0.0 {
            continue;
        }
        entries.push(row, column, value);
        if let Some(factor) = mirrored
            && row != column
        {
            entries.push(column, row, factor * value);
        }
    }
    match found == expected {
        true => Ok(entries),
        false => Err(unreadable(path, format!("it ends after {found} of {expected} entries"))),
    }
}

/// Parses the first line. Returns: whether entries are an array; whether they have no value and are 1; the factor of the
/// mirrored entry across the diagonal, if that is not written.
fn banner(path: &Path, line: &str) -> Result<(bool, bool, Option<f64>)> {
    let words: Vec<String> = line.split_ascii_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (form, field, symmetry) = match words[..] {
        ["%%matrixmarket", "matrix", form, field, symmetry] => (form, field, symmetry),
        _ => {
            let message =
                "the first line of Matrix Market is `%%MatrixMarket matrix coordinate real general`, or the like";
            return Err(at_line(path, 1, message));
        }
    };
    let refused = |what: &str| {
        let known = "coordinate or array; real, integer or pattern; general, symmetric or skew-symmetric";
        Err(at_line(path, 1, format_args!("`{}` is not read; what is: {known}", truncate_message(what))))
    };
    let is_array = match form {
        "coordinate" => false,
        "array" => true,
        other => return refused(other),
    };
    let is_pattern = match field {
        "real" | "double" | "integer" => false,
        "pattern" if !is_array => true,
        other => return refused(other),
    };
    let mirrored = match symmetry {
        "general" => None,
        "symmetric" => Some(1.0),
        "skew-symmetric" => Some(-1.0),
        other => return refused(other),
    };
    Ok((is_array, is_pattern, mirrored))
}

/// Parses an entry by row and column, which count from 1 in the file.
fn entry(text: &str, is_pattern: bool, [rows, columns]: [usize; 2]) -> Option<(usize, usize, f64)> {
    let mut words = text.split_ascii_whitespace();
    let mut place = |most: usize| words.next()?.parse::<usize>().ok().filter(|k| (1..=most).contains(k)).map(|k| k - 1);
    let (row, column) = (place(rows)?, place(columns)?);
    let value = if is_pattern { 1.0 } else { words.next()?.parse().ok()? };
    words.next().is_none().then_some((row, column, value))
}

/// Places of the entries of an array, by column: all, or those below the diagonal.
fn array_places(below: Option<usize>, [rows, columns]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    let first = move |column: usize| below.map_or(0, |below| column + below);
    (0..columns).flat_map(move |column| (first(column)..rows).map(move |row| (row, column)))
}

/// Number of [`array_places`].
fn array_length(below: Option<usize>, [rows, columns]: [usize; 2]) -> usize {
    match below {
        None => rows.saturating_mul(columns),
        Some(below) => rows.saturating_mul(rows + 1) / 2 - below * rows,
    }
}
