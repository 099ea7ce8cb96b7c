//! What is wrong with a cell.

use super::{shortened, unreadable};
use crate::Survey;
use std::path::PathBuf;
use vaglio_core::Error;

/// A cell that a column cannot have.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Its row, from 0.
    pub row: usize,
    /// What stands there.
    pub value: String,
    /// How many such cells there are.
    pub count: usize,
    /// What is wrong with it.
    pub what: FaultKind,
}

/// What is wrong with a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultKind {
    /// An infinity.
    NotFinite,
    /// Text where numbers are read.
    Text {
        /// What is wrong.
        wrong: String,
        /// What would mend it.
        remedy: String,
        /// Whether nearly all other cells are numbers.
        among_numbers: bool,
    },
}

/// The error of a cell that its column cannot have.
pub(super) fn of_fault(name: &str, fault: Fault, survey: &Survey) -> Error {
    let (file, row) = survey.place(fault.row);
    let file = file.map_or_else(PathBuf::new, PathBuf::clone);
    let Fault { value, count, what, .. } = fault;
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
