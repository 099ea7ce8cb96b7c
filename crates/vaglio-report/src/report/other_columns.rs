//! Columns as read, with the columns and rows that were left out.

use crate::names::{clause, join_up_to};
use crate::page::{Section, TableBuilder};
use crate::record::{ColumnRun, Record, left_out_rows};

/// Largest number of constant columns that are named.
const MOST_NAMES: usize = 25;

/// The type of each column as read, and the columns and rows that were left out.
pub fn columns_as_read(record: &Record) -> Option<Section> {
    let data = &record.data;
    let left_out = clause("Left out: {}.", left_out_rows(&data.left_out));
    let table = TableBuilder::new("“data.columns”", &data.columns)
        .name("Columns", ColumnRun::names)
        .text("Taken for", ColumnRun::words);
    let excluded = record.excluded.iter().map(|column| format!("{} ({})", column.name, column.reason));
    let excluded =
        (!record.excluded.is_empty()).then(|| format!("Could not be chosen: {}.", join_up_to(excluded, MOST_NAMES)));
    Some(Section::new("Columns as read").text(left_out).text(excluded).table(table))
}
