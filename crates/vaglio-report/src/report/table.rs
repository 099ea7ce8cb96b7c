//! Tables as data.

use super::number::{self, count};
use serde::{Deserialize, Serialize};

/// Rows of a table, at most; a few more are no reason to cut it.
const MOST_ROWS: usize = 200;

/// A table of a page.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PageTable {
    /// Description for readers who cannot see it.
    pub label: String,
    /// The head of each column.
    pub heads: Vec<TableHead>,
    /// The rows.
    pub rows: Vec<TableRow>,
    /// Note on where to find the rows that were cut; may be empty.
    pub more: String,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableHead {
    /// Words.
    pub text: String,
    /// Alignment and style of the cells.
    pub style: ColumnStyle,
}

/// Alignment and style of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnStyle {
    /// To the right.
    Number,
    /// To the left, wrapped where long.
    Text,
    /// A name, to the left.
    Name,
    /// A bar with words.
    Share,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TableRow {
    /// Whether the row is highlighted.
    pub marked: bool,
    /// One cell for each column.
    pub cells: Vec<TableCell>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TableCell {
    /// Words.
    pub text: String,
    /// The tooltip: a number in all digits; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub full: String,
    /// A second line in small type.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Length of the bar before the words, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Heights of a histogram in place of words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<usize>,
    /// Whether the cell is a warning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warns: bool,
}

impl TableCell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        TableCell { text: text.into(), ..TableCell::default() }
    }

    /// A number in few digits, with all of them in the tooltip.
    pub fn number(value: f64) -> Self {
        TableCell { full: number::full(value), ..TableCell::text(number::short(value)) }
    }

    /// A number with trailing zeros, so that numbers in a column align.
    pub fn aligned(value: f64) -> Self {
        TableCell { full: number::full(value), ..TableCell::text(number::aligned(value)) }
    }

    /// A share in percent with its bar.
    pub fn percent(share: f64) -> Self {
        TableCell::text(format!("{:.0} %", 100.0 * share)).bar(share)
    }

    /// Adds a bar.
    #[must_use]
    pub fn bar(self, share: f64) -> Self {
        TableCell { share: Some((100.0 * share.clamp(0.0, 1.0)).round() / 100.0), ..self }
    }

    /// Adds a second line.
    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Self {
        TableCell { note: note.into(), ..self }
    }
}

/// The cell that a column shows for a row, if any.
type CellOf<'a, T> = Box<dyn Fn(&T) -> Option<TableCell> + 'a>;

/// Builds a table from rows and the columns that show them. Columns that are empty in all rows are left out.
pub struct TableBuilder<'a, T> {
    label: String,
    key: String,
    rows: &'a [T],
    columns: Vec<(TableHead, CellOf<'a, T>)>,
    is_marked: Box<dyn Fn(&T) -> bool + 'a>,
}

impl<'a, T> TableBuilder<'a, T> {
    /// Creates a table without columns; `key` is the path of the rows in `selection.json`.
    pub fn new(label: impl Into<String>, key: &str, rows: &'a [T]) -> Self {
        let (label, key) = (label.into(), key.into());
        TableBuilder { label, key, rows, columns: Vec::new(), is_marked: Box::new(|_| false) }
    }

    /// Adds a column of cells.
    #[must_use]
    pub fn cells(mut self, head: &str, style: ColumnStyle, cell: impl Fn(&T) -> Option<TableCell> + 'a) -> Self {
        self.columns.push((TableHead { text: head.into(), style }, Box::new(cell)));
        self
    }

    /// Adds a column of numbers with trailing zeros.
    #[must_use]
    pub fn number(self, head: &str, value: impl Fn(&T) -> Option<f64> + 'a) -> Self {
        let cell = move |row: &T| value(row).filter(|v| v.is_finite()).map(TableCell::aligned);
        self.cells(head, ColumnStyle::Number, cell)
    }

    /// Adds a column of numbers without trailing zeros.
    #[must_use]
    pub fn short(self, head: &str, value: impl Fn(&T) -> Option<f64> + 'a) -> Self {
        let cell = move |row: &T| value(row).filter(|v| v.is_finite()).map(TableCell::number);
        self.cells(head, ColumnStyle::Number, cell)
    }

    /// Adds whole numbers.
    #[must_use]
    pub fn count(self, head: &str, value: impl Fn(&T) -> usize + 'a) -> Self {
        self.cells(head, ColumnStyle::Number, move |row| Some(TableCell::text(count(value(row) as u64))))
    }

    /// Adds words.
    #[must_use]
    pub fn text(self, head: &str, value: impl Fn(&T) -> String + 'a) -> Self {
        let cell = move |row: &T| Some(TableCell::text(value(row))).filter(|cell| !cell.text.is_empty());
        self.cells(head, ColumnStyle::Text, cell)
    }

    /// Adds names.
    #[must_use]
    pub fn name(self, head: &str, value: impl Fn(&T) -> String + 'a) -> Self {
        self.cells(head, ColumnStyle::Name, move |row| Some(TableCell::text(value(row))))
    }

    /// Adds shares in percent.
    #[must_use]
    pub fn share(self, head: &str, value: impl Fn(&T) -> Option<f64> + 'a) -> Self {
        self.cells(head, ColumnStyle::Share, move |row| value(row).map(TableCell::percent))
    }

    /// Highlights rows, which are then never cut.
    #[must_use]
    pub fn marked(self, is_marked: impl Fn(&T) -> bool + 'a) -> Self {
        TableBuilder { is_marked: Box::new(is_marked), ..self }
    }

    /// Builds the table.
    pub fn build(self) -> PageTable {
        let TableBuilder { label, key, rows, columns, is_marked } = self;
        let is_short = rows.len() <= MOST_ROWS + 20;
        let rows_kept = rows.iter().enumerate().filter(|(k, row)| is_short || *k < MOST_ROWS || is_marked(row));
        let kept: Vec<&T> = rows_kept.map(|(_, row)| row).collect();
        let filled: Vec<_> =
            columns.into_iter().filter(|(_, cell)| kept.iter().any(|row| cell(row).is_some())).collect();
        let cells =
            |row: &T| filled.iter().map(|(_, cell)| cell(row).unwrap_or_else(|| TableCell::text("–"))).collect();
        PageTable {
            label,
            rows: kept.iter().map(|row| TableRow { marked: is_marked(row), cells: cells(row) }).collect(),
            more: match rows.len() - kept.len() {
                0 => String::new(),
                cut => format!("… and {} more, see {key} in selection.json", count(cut as u64)),
            },
            heads: filled.into_iter().map(|(head, _)| head).collect(),
        }
    }
}
