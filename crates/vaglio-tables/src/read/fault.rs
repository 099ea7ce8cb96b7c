//! Faults of cells.

use super::{shortened, unreadable};
use crate::TableProfile;
use std::path::PathBuf;
use vaglio_core::Error;

/// An invalid cell of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidCell {
    /// Row, from 0.
    pub row: usize,
    /// Text of the cell.
    pub value: String,
    /// Number of such cells.
    pub count: usize,
    /// Kind of the fault.
    pub what: FaultKind,
}

/// Kind of a cell's fault.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultKind {
    /// An infinity.
    NotFinite,
    /// Text where numbers are read.
    Text {
        /// Description of the fault.
        wrong: String,
        /// Remedy.
        remedy: String,
        /// Whether nearly all other cells are numbers.
        among_numbers: bool,
    },
}

/// Error of an invalid cell.
pub(super) fn fault_error(name: &str, fault: InvalidCell, profile: &TableProfile) -> Error {
    let (file, row) = profile.place(fault.row);
    let file = file.map_or_else(PathBuf::new, PathBuf::clone);
    let InvalidCell { value, count, what, .. } = fault;
    let value = shortened(&value);
    match what {
        FaultKind::NotFinite => {
            Error::NonFinite { row: row + 1, column: name.to_owned(), value, count, file: Some(file), remedy: None }
        }
        FaultKind::Text { wrong, remedy, .. } => {
            let cells = if count == 1 { "1 such cell".to_owned() } else { format!("{count} such cells") };
            unreadable(&file, format!("row {}, column `{name}`: `{value}` {wrong} ({cells}); {remedy}", row + 1))
        }
    }
}
