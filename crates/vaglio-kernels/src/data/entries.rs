//! Access to the entries of columns, with views of chosen rows.

use crate::Column;
use std::borrow::Cow;
use vaglio_columns::Columns;

/// Columns of some rows, either copied or as a view of longer columns.
///
/// A view reads all rows with weight 0 for those that were not chosen, so folds copy no rows.
#[derive(Debug)]
pub struct ColumnEntries<'d> {
    /// Columns as stored, all rows included.
    pub(crate) stored: Vec<Column<'d>>,
    /// If only some stored rows are chosen: these rows, and the columns of these rows alone, copied when read.
    pub(crate) view: Option<(&'d [usize], &'d Columns)>,
    /// Whether each column takes part.
    pub(crate) active: Vec<bool>,
}

/// Minimum share of chosen rows for a view; below it they are copied.
const MANY: f64 = 0.6;

impl<'d> FromIterator<Column<'d>> for ColumnEntries<'d> {
    fn from_iter<I: IntoIterator<Item = Column<'d>>>(columns: I) -> Self {
        let stored: Vec<Column<'d>> = columns.into_iter().collect();
        ColumnEntries { active: vec![true; stored.len()], stored, view: None }
    }
}

impl<'d> From<&'d Columns> for ColumnEntries<'d> {
    fn from(columns: &'d Columns) -> Self {
        match columns.shared_selection() {
            Some((stored, rows))
                if rows.is_sorted_by(|a, b| a < b) && rows.len() as f64 >= MANY * stored[0].len() as f64 =>
            {
                ColumnEntries { active: vec![true; stored.len()], stored, view: Some((rows, columns)) }
            }
            _ => columns.copied().iter().collect(),
        }
    }
}

impl<'d> ColumnEntries<'d> {
    /// Leaves out columns that are not `active`: kernels do not read them.
    #[must_use]
    pub fn with_active(self, active: Vec<bool>) -> Self {
        ColumnEntries { active, ..self }
    }

    /// The chosen rows of a column.
    pub(crate) fn column(&self, index: usize) -> Column<'d> {
        self.view.map_or_else(|| self.stored[index], |(_, columns)| columns.column(index))
    }

    /// Indices of the `count` chosen rows among the stored rows.
    pub(crate) fn rows(&self, count: usize) -> Cow<'_, [usize]> {
        self.view.map_or_else(|| (0..count).collect::<Vec<_>>().into(), |(rows, _)| rows.into())
    }

    /// Whether both refer to the same columns in memory.
    pub fn are_stored_with(&self, other: &ColumnEntries<'_>) -> bool {
        let is_same = |(a, b): (&Column<'_>, &Column<'_>)| match (*a, *b) {
            (Column::Double(a), Column::Double(b)) => std::ptr::eq(a, b),
            (Column::Single(a), Column::Single(b)) => std::ptr::eq(a, b),
            (Column::Byte(a), Column::Byte(b)) => std::ptr::eq(a, b),
            (Column::Sparse(a), Column::Sparse(b)) => a.is_stored_with(&b),
            (Column::Product(a), Column::Product(b)) => {
                std::ptr::eq(a.numbers(), b.numbers()) && (a.start(), a.len()) == (b.start(), b.len())
            }
            _ => false,
        };
        self.stored.len() == other.stored.len() && self.stored.iter().zip(&other.stored).all(is_same)
    }

    /// Expands values of the chosen rows to all stored rows, with 0 for the others.
    pub(crate) fn spread<'v>(&self, values: &'v [f64]) -> Cow<'v, [f64]> {
        let Some((rows, _)) = self.view else { return values.into() };
        let mut all = vec![0.0; self.stored[0].len()];
        rows.iter().zip(values).for_each(|(&row, value)| all[row] = *value);
        all.into()
    }
}
