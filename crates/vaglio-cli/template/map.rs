//! A map for vaglio.

use vaglio_core::{Map, Result, prelude::*};

/// The square of every number.
#[part(Map, "template")]
pub struct Template {}

/// The fitted map: the columns that were numbers in the training rows.
#[saved(FittedMap, "template")]
pub struct FittedTemplate {
    columns: Vec<String>,
}

impl Map for Template {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFit> {
        let columns = rows.table.columns().iter().filter(|(_, cells)| cells.numbers().is_some());
        Ok(FittedTemplate { columns: columns.map(|(name, _)| name.clone()).collect() }.into())
    }
}

impl FittedMap for FittedTemplate {
    fn formulas(&self) -> MapFormulas {
        let square = |name: &String| Expression::column(name).times(Expression::column(name)).named(name);
        self.columns.iter().map(square).collect()
    }
}
