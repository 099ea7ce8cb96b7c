//! Levels of columns.

use super::weights::counts;
use std::borrow::Cow;
use std::collections::BTreeMap;
use vaglio_core::{Cells, setting};

/// Largest number of levels listed in a message.
pub const LISTED: usize = 12;

/// Number of rows of each level, of those with positive weight.
pub fn rows_by_level<'c>(cells: &'c Cells, weights: Option<&[f64]>) -> BTreeMap<Cow<'c, str>, u32> {
    let mut rows = BTreeMap::new();
    for row in (0..cells.len()).filter(|&row| counts(weights, row) && !cells.is_missing(row)) {
        *rows.entry(cells.text(row)).or_default() += 1;
    }
    rows
}

/// Constant of a cell.
#[setting]
#[derive(PartialEq)]
#[serde(untagged, expecting = "expected a number or a text in quotes")]
pub enum CellValue {
    /// A finite number.
    Number(f64),
    /// Text that is not empty.
    Text(String),
}

impl CellValue {
    /// The value as text; numbers in the shortest form that reads back.
    pub(super) fn label(&self) -> String {
        match self {
            CellValue::Number(number) => number.to_string(),
            CellValue::Text(text) => text.clone(),
        }
    }
}

impl From<f64> for CellValue {
    fn from(number: f64) -> Self {
        CellValue::Number(number)
    }
}

impl From<&str> for CellValue {
    fn from(text: &str) -> Self {
        CellValue::Text(text.into())
    }
}
