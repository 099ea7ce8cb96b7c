//! A table as it was read: named columns of numbers or text.

use crate::{Column, Error, Numbers, Result};
use std::sync::Arc;

/// The cells of one column of a [`Table`].
#[derive(Debug, Clone)]
pub enum Cells {
    /// Numbers, all finite.
    Numbers(Numbers),
    /// Text.
    Text(Vec<String>),
}

impl Cells {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Cells::Numbers(numbers) => numbers.view().len(),
            Cells::Text(text) => text.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, or `None` for text.
    pub fn numbers(&self) -> Option<Column<'_>> {
        match self {
            Cells::Numbers(numbers) => Some(numbers.view()),
            Cells::Text(_) => None,
        }
    }

    /// The cell of `row` as text; numbers in the shortest form that reads back.
    pub fn label(&self, row: usize) -> String {
        match self {
            Cells::Numbers(numbers) => numbers.view().get(row).to_string(),
            Cells::Text(text) => text[row].clone(),
        }
    }
}

/// Named columns of equal length, with the series that each row belongs to.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<(String, Cells)>,
    rows: usize,
    series: Option<Arc<[u32]>>,
    /// Where each row stood at first; absent while all rows are there, in their order.
    origins: Option<Arc<[usize]>>,
}

impl Table {
    /// A table of these columns.
    ///
    /// # Errors
    /// [`Error::Shape`] when lengths differ or a name is listed twice.
    pub fn new(columns: Vec<(String, Cells)>) -> Result<Self> {
        let rows = columns.first().map_or(0, |(_, cells)| cells.len());
        if let Some((name, cells)) = columns.iter().find(|(_, cells)| cells.len() != rows) {
            return Err(Error::Shape(format!("column `{name}` has {} rows and the first has {rows}", cells.len())));
        }
        let mut names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
            return Err(Error::Shape(format!("two columns are named `{}`", twice[0])));
        }
        Ok(Table { columns, rows, series: None, origins: None })
    }

    /// The same rows with the series that each of them belongs to; rows of one stand together, in the order of time.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong length.
    pub fn with_series(self, series: Vec<u32>) -> Result<Self> {
        if series.len() != self.rows {
            return Err(Error::Shape(format!("{} series for {} rows", series.len(), self.rows)));
        }
        Ok(Table { series: Some(series.into()), ..self })
    }

    /// Other columns for the same rows: what a map makes that keeps every row.
    ///
    /// # Errors
    /// Those of [`Table::new`]; [`Error::Shape`] for another number of rows.
    pub fn with_columns(self, columns: Vec<(String, Cells)>) -> Result<Self> {
        let other = Table::new(columns)?;
        if !other.columns.is_empty() && other.rows != self.rows {
            return Err(Error::Shape(format!("{} rows for a table of {}", other.rows, self.rows)));
        }
        Ok(Table { columns: other.columns, ..self })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The series of each row, if the table has them; otherwise all rows are one series.
    pub fn series(&self) -> Option<&[u32]> {
        self.series.as_deref()
    }

    /// Where each row stood before any were dropped or put in another order; `None` when none were.
    pub fn origins(&self) -> Option<&[usize]> {
        self.origins.as_deref()
    }

    /// Where row `row` stood before any were dropped or put in another order.
    pub fn origin(&self, row: usize) -> usize {
        self.origins.as_ref().and_then(|origins| origins.get(row)).copied().unwrap_or(row)
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[(String, Cells)] {
        &self.columns
    }

    /// The columns, in order, given away.
    pub fn into_columns(self) -> Vec<(String, Cells)> {
        self.columns
    }

    /// Takes all columns out; the rows stay, for [`Table::with_columns`].
    pub fn take_columns(&mut self) -> Vec<(String, Cells)> {
        std::mem::take(&mut self.columns)
    }

    /// The column of that name.
    pub fn get(&self, name: &str) -> Option<&Cells> {
        self.columns.iter().find(|(n, _)| n == name).map(|(_, cells)| cells)
    }

    /// The rows `rows`, in that order, of every column.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let take = |cells: &Cells| match cells {
            Cells::Numbers(numbers) => Cells::Numbers(numbers.select_rows(rows)),
            Cells::Text(text) => Cells::Text(rows.iter().map(|&r| text[r].clone()).collect()),
        };
        let columns = self.columns.iter().map(|(name, cells)| (name.clone(), take(cells))).collect();
        Table {
            columns,
            rows: rows.len(),
            series: self.series.as_ref().map(|series| rows.iter().map(|&row| series[row]).collect()),
            origins: Some(rows.iter().map(|&row| self.origins.as_ref().map_or(row, |origins| origins[row])).collect()),
        }
    }

    /// Takes the column of that name out.
    pub fn take(&mut self, name: &str) -> Option<Cells> {
        let at = self.columns.iter().position(|(n, _)| n == name)?;
        Some(self.columns.remove(at).1)
    }
}
