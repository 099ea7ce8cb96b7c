//! svmlight's text: `label index:value index:value … # comment`.

use super::{IS_QUERY, LABEL, QUERY, SparseTable, at_line, column_name, lines};
use crate::ReadSpec;
use crate::budget::Budget;
use crate::read::column_builder::RawColumn;
use crate::read::reader::FileHeader;
use crate::read::triplets::{COLUMN, Triplets};
use crate::read::{SMALLER, truncate_message, unreadable};
use std::path::Path;
use vaglio_core::Result;

const MIXED: &str = "some rows have a `qid:` and others have none";

/// Reads the rows of a text, with their labels and, if present, queries.
///
/// Columns are named by their index, starting with x0 or x1. The first index is that of `spec`, or else 0 if some row
/// has that index. Absent columns are all zeros. Cost O(bytes).
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`] with the line for an invalid pair of index and number, indices that do not
/// increase, several labels, or a query in only some rows.
pub(super) fn read(path: &Path, bytes: &[u8], spec: &ReadSpec, budget: Budget) -> Result<SparseTable> {
    let known = spec.first_index;
    let pairs = memchr::memchr_iter(b':', bytes).count();
    let mut entries = Triplets::new(path, [1, 1], pairs, budget)?;
    let (mut labels, mut queries, mut rows, mut most) = (RawColumn::default(), RawColumn::default(), 0usize, None);
    let mut has_zero = false;
    for line in lines(path, bytes) {
        let (number, line) = line?;
        let row = line.split('#').next().unwrap_or_default();
        let mut words = row.split_ascii_whitespace();
        let Some(label) = words.next() else { continue };
        if label.contains(':') {
            return Err(at_line(
                path,
                number,
                format_args!("a row begins with its label, not with `{}`", truncate_message(label)),
            ));
        }
        if label.contains(',') {
            let message = format_args!("`{}` are several labels, and a row has one", truncate_message(label));
            return Err(at_line(path, number, message));
        }
        labels.push(label);
        let mut last = None;
        for word in words {
            if let Some(query) = word.strip_prefix("qid:") {
                if queries.rows() < rows {
                    return Err(at_line(path, number, MIXED));
                }
                if last.is_some() || queries.rows() > rows {
                    return Err(at_line(path, number, "`qid:` stands once in a row, before the entries"));
                }
                queries.push(query);
                continue;
            }
            let (index, value) = pair(word).ok_or_else(|| {
                let what = "is no pair of an index from 0 to 4294967294 and a number, such as `3:0.5`";
                at_line(path, number, format_args!("`{}` {what}", truncate_message(word)))
            })?;
            if last.is_some_and(|last| last >= index) {
                let message = format_args!("the index {index} does not follow the one before it; indices increase");
                return Err(at_line(path, number, message));
            }
            if index == 0 && known == Some(1) {
                let message = "the index 0 stands before the first one: indices count from 1 by data.read.first_index, or by the training \
                               rows; write all files alike";
                return Err(at_line(path, number, message));
            }
            last = Some(index);
            has_zero |= index == 0;
            entries.push(rows, index as usize, value);
        }
        most = most.max(last);
        rows += 1;
        let expected = if queries.rows() == 0 { 0 } else { rows };
        if queries.rows() != expected {
            return Err(at_line(path, number, MIXED));
        }
    }
    let Some(most) = most else { return Err(unreadable(path, "no row has an entry `index:value`")) };
    budget.need(COLUMN as f64 * f64::from(most), path.display(), SMALLER)?;
    // Index 0 is a column if some row has it.
    let first = known.map_or(usize::from(!has_zero), |known| known as usize);
    tracing::info!("{}: indices begin at {first}", path.display());
    if first == 0 && !has_zero {
        super::warn_of_base(path);
    }
    entries.columns.iter_mut().for_each(|column| *column -= first as u32);
    entries.shape = [rows, (most as usize + 1).saturating_sub(first)];
    let mut names: Vec<String> = (first..=most as usize).map(column_name).collect();
    let columns = entries.columns(path, &names)?;
    let (mut written, mut aside) = (vec![labels], Vec::new());
    names.push(LABEL.into());
    if queries.rows() > 0 {
        written.push(queries);
        names.push(QUERY.into());
        aside.push((QUERY.into(), IS_QUERY));
    }
    let detected = Some(ReadSpec { first_index: Some(first as u32), ..spec.clone() });
    let header = FileHeader { names, aside, detected, ..FileHeader::default() };
    Ok(SparseTable { path: path.to_owned(), header, columns, written, rows })
}

/// Parses an index and its number.
fn pair(word: &str) -> Option<(u32, f64)> {
    let (index, value) = word.split_once(':')?;
    let index = index.parse().ok().filter(|index| *index < u32::MAX)?;
    Some((index, value.parse().ok()?))
}
