//! A map for vaglio.

use vaglio_core::{Map, Result, prelude::*};

/// The square of every number.
#[part(Map, "template")]
pub struct Template {}

impl Map for Template {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let columns = rows.table.columns().iter().filter(|(_, cells)| cells.numbers().is_some());
        let square = |(name, _): &(String, Cells)| Expression::column(name).times(Expression::column(name)).named(name);
        Ok(columns.map(square).collect())
    }
}
