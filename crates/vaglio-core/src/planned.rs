//! Designs that are samples of larger ones.

use crate::Design;

impl Design {
    /// The same as a sample of a design of so many rows: estimates are of these, everything else is of the rows that are
    /// there.
    #[must_use]
    pub fn sampled_from(self, rows: usize) -> Self {
        let mut design = self;
        design.planned = Some(rows);
        design
    }

    /// The rows that estimates are of: those of the design that this is a sample of, or its own.
    pub fn planned_rows(&self) -> usize {
        self.planned.unwrap_or_else(|| self.rows())
    }
}
