//! Last training rows of each series, needed by models of lagged targets.

use vaglio_core::{Cells, Result, Table, saved};

/// Last training rows of each series, as many as the longest lag of the maps.
#[saved]
pub struct History {
    /// Columns of the data, including series and time.
    pub columns: Vec<(String, Cells)>,
}

impl History {
    /// Copies the rows to a table.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] for columns of different lengths.
    pub fn table(&self) -> Result<Table> {
        Table::new(self.columns.clone())
    }
}
