//! Rows that take no part in a run.

use serde::{Deserialize, Serialize};
use vaglio_core::{counted, joined};

/// Number of rows left out for one reason. A row counts once, under the first reason that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutRows {
    /// Reason.
    pub reason: LeftOutReason,
    /// Column with the decisive cells.
    pub column: String,
    /// Condition of the filter, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Number of rows of the training file.
    pub rows: usize,
    /// Number of rows of the files of test rows.
    #[serde(default)]
    pub test_rows: usize,
}

/// Reason for leaving rows out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// A filter of `data.rows`.
    Filter,
    /// A target is missing.
    MissingTarget,
    /// The weight is missing.
    MissingWeight,
}

impl LeftOutRows {
    /// Number and reason in words.
    pub fn words(&self) -> String {
        let test = match self.test_rows {
            0 => String::new(),
            test => format!(" and {}", counted(test, "test row")),
        };
        let column = &self.column;
        let why = match (self.reason, &self.filter) {
            (LeftOutReason::Filter, filter) => format!("not of `{}`", filter.as_ref().unwrap_or(column)),
            (LeftOutReason::MissingTarget, _) => format!("without the target `{column}`"),
            (LeftOutReason::MissingWeight, _) => format!("without the weight `{column}`"),
        };
        format!("{}{test} {why}", counted(self.rows, "row"))
    }
}

/// Numbers and reasons of all rows left out, in words.
pub fn left_out_rows(rows: &[LeftOutRows]) -> String {
    joined(rows.iter().map(LeftOutRows::words), "; ")
}
