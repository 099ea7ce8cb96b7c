//! Faults of cells.

use super::{truncate_message, unreadable};
use crate::TableProfile;
use std::path::PathBuf;
use vaglio_core::{Error, pluralize};

/// Remedy for a cell that is not like the training rows.
pub(super) const CORRECT: &str = "correct it, or leave it empty if it is missing";

/// An invalid cell of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidCell {
    /// Row, from 0.
    pub row: usize,
    /// Text of the cell.
    pub value: String,
    /// Number of such cells.
    pub count: usize,
    /// Description of the fault; `None` for an infinity.
    pub wrong: Option<String>,
    /// Advice on how to fix the data or the settings.
    pub remedy: String,
    /// Whether nearly all other cells are numbers.
    pub among_numbers: bool,
}

impl InvalidCell {
    /// An infinite cell.
    pub fn infinite(row: usize, value: &str, count: usize) -> Self {
        let (value, remedy) = (value.to_owned(), String::new());
        InvalidCell { row, value, count, wrong: None, remedy, among_numbers: false }
    }

    /// The first of `count` cells with the fault `wrong`.
    pub fn new(row: usize, value: &str, count: usize, wrong: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (wrong, remedy) = (Some(wrong.into()), remedy.into());
        InvalidCell { wrong, remedy, ..InvalidCell::infinite(row, value, count) }
    }
}

/// Error of an invalid cell.
pub(super) fn fault_error(name: &str, fault: InvalidCell, profile: &TableProfile) -> Error {
    let (file, row) = profile.place(fault.row);
    let file = file.map_or_else(PathBuf::new, PathBuf::clone);
    let InvalidCell { value, count, wrong, remedy, .. } = fault;
    let value = truncate_message(&value);
    let Some(wrong) = wrong else {
        let (column, file) = (name.to_owned(), Some(file));
        return Error::NonFinite { row: row + 1, column, value, count, file, remedy: None };
    };
    let cells = pluralize(count, "such cell");
    unreadable(&file, format!("row {}, column `{name}`: `{value}` {wrong} ({cells}); {remedy}", row + 1))
}
