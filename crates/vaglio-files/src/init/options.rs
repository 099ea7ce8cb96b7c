//! Options of a new pipeline, and its draft.

use std::path::PathBuf;
use vaglio_core::Error;

/// Options of a new pipeline.
#[derive(Debug, Clone, Default)]
pub struct InitOptions {
    /// Columns to predict; guessed if empty.
    pub targets: Vec<String>,
    /// Columns that are no features; detected if `None`.
    pub exclude: Option<Vec<String>>,
    /// Test rows; if `None`, a share is split off, or the rows that a column marks.
    pub test: Option<TestOption>,
    /// Whether the targets are classes; detected if `None`.
    pub classes: Option<bool>,
    /// Column of groups; detected if `None`.
    pub groups: Option<String>,
    /// Column of time; detected if `None`.
    pub time: Option<String>,
    /// Name of the pipeline file in messages.
    pub name: Option<String>,
}

/// Source of test rows.
#[derive(Debug, Clone, PartialEq)]
pub enum TestOption {
    /// A share of the rows is split off; none for 0.
    Fraction(f64),
    /// Another table.
    File(PathBuf),
    /// The rows in which a column has a value.
    Column {
        /// Name of the column.
        column: String,
        /// Value in test rows.
        is: String,
        /// Number of test rows.
        rows: usize,
    },
}

impl TestOption {
    /// The column that marks test rows.
    pub(super) fn column(&self) -> Option<&str> {
        if let TestOption::Column { column, .. } = self { Some(column) } else { None }
    }
}

/// A drafted pipeline.
#[derive(Debug)]
pub struct Draft {
    /// The text of the pipeline file.
    pub text: String,
    /// Decisions, one per line.
    pub notes: Vec<String>,
    /// The columns to predict.
    pub targets: Vec<String>,
    /// The columns that are no features.
    pub excluded: Vec<String>,
    /// The error if the pipeline does not run as it is.
    pub fault: Option<Error>,
}
