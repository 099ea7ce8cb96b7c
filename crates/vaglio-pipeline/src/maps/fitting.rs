//! Maps as pipeline files write them, fitted on tables of tests.

use vaglio_core::{FittedMap, Map, Result, Table};

/// The map of these settings, fitted.
pub(super) fn fit(json: &str, table: &Table) -> Result<Box<dyn FittedMap>> {
    let map: Box<dyn Map> = serde_json::from_str(json).unwrap();
    map.check()?;
    map.fit(table, None)
}

/// The numbers of a column.
pub(super) fn values(table: &Table, name: &str) -> Vec<f64> {
    table.get(name).unwrap().numbers().unwrap().values().into_owned()
}
