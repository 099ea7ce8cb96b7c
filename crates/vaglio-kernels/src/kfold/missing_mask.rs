//! Missing cells of columns, which every fold fills by the means of its training rows.

use crate::Column;

/// Columns with missing cells, in order, each with a column that is 1 in these cells and 0 in the others.
#[derive(Debug, Default)]
pub(crate) struct MissingMask<'d>(pub Vec<(usize, Column<'d>)>);

impl<'d> MissingMask<'d> {
    /// Whether no cell is missing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The missing cells of a column, if it has some.
    pub fn of(&self, column: usize) -> Option<Column<'d>> {
        self.0.binary_search_by_key(&column, |(column, _)| *column).ok().map(|at| self.0[at].1)
    }
}
