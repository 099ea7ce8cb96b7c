//! Missing cells of columns, imputed in every fold by the means of its training rows.

use crate::Column;

/// Columns with missing cells, in order, each with an indicator column of these cells.
#[derive(Debug, Default)]
pub(crate) struct MissingIndicators<'d>(pub Vec<(usize, Column<'d>)>);

impl<'d> MissingIndicators<'d> {
    /// Whether no cell is missing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Indicator of the missing cells of a column, if it has any.
    pub fn column(&self, column: usize) -> Option<Column<'d>> {
        self.0.binary_search_by_key(&column, |(column, _)| *column).ok().map(|at| self.0[at].1)
    }
}
