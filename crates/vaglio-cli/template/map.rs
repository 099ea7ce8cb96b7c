//! A map for vaglio.

use vaglio_core::prelude::*;

/// The square root of every number, with its sign.
#[part(Map, "template")]
pub struct Template {}

/// The fitted map; nothing is learned, since every number is mapped by itself.
#[saved(FittedMap, "template")]
pub struct FittedTemplate {}

impl Map for Template {
    fn fit(&self, _: &Table, _weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        Ok(Box::new(FittedTemplate {}))
    }
}

impl FittedMap for FittedTemplate {
    fn transform(&self, mut table: Table) -> Result<Table> {
        let root = |(name, cells): (String, Cells)| match cells.numbers() {
            Some(column) => {
                let roots: Vec<f64> = column.values().iter().map(|v| v.signum() * v.abs().sqrt()).collect();
                (name, Cells::Numbers(Numbers::from(roots)))
            }
            None => (name, cells),
        };
        let columns = table.take_columns().into_iter().map(root).collect();
        table.with_columns(columns)
    }
}
