//! Logarithms of columns.

use super::columns;
use vaglio_core::{Function, Map, Result, prelude::*};

/// Replaces numeric columns by ln(1 + x), for counts, prices and other values that span orders of magnitude.
///
/// Missing cells stay missing. Cost O(rows · columns).
///
/// # Errors
/// A value at or below −1, with row and column.
#[part(
    Map,
    "log1p",
    summary = "the logarithm of one plus each value",
    example = "preprocess: [{kind: log1p, columns: [price]}]"
)]
#[derive(PartialEq, Eq)]
pub struct Log1p {
    /// Columns to transform; by default all numeric columns.
    pub columns: Option<Vec<String>>,
}

impl Map for Log1p {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let columns = columns::numbers(rows.table, self.columns.as_deref())?;
        Ok(formulas(columns.map(|(name, _)| name)))
    }

    fn check_settings(&self) -> Result<()> {
        columns::check(self.columns.as_deref())
    }
}

pub fn formulas<'c>(columns: impl Iterator<Item = &'c str>) -> MapFormulas {
    let formula = |name: &str| Expression::column(name).apply(Function::Ln1p).named(name);
    columns.map(formula).collect::<MapFormulas>().with_domain(
        "log1p takes numbers above -1, and this is {}; name the other columns in its `columns`, or take {kind: power}",
    )
}
