//! Test helpers that fit maps given as in pipeline files.

use vaglio_core::{FittedMap, Map, Result, Table};

/// Fits the map of these settings.
pub(super) fn fit(json: &str, table: &Table) -> Result<Box<dyn FittedMap>> {
    let map: Box<dyn Map> = serde_json::from_str(json).unwrap();
    map.check()?;
    map.fit(table, None)
}

/// Values of a numeric column.
pub(super) fn values(table: &Table, name: &str) -> Vec<f64> {
    table.get(name).unwrap().numbers().unwrap().values().into_owned()
}
