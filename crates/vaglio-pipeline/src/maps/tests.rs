//! Test helpers that fit maps to tables without targets.

use vaglio_core::{Map, MapFormulas, Result, Table, TrainingRows};

/// Fits the map of these settings, given as in pipeline files.
pub(super) fn fit(json: &str, table: &Table) -> Result<MapFormulas> {
    fit_weighted(json, table, None)
}

/// Like [`fit`], with weights.
pub(super) fn fit_weighted(json: &str, table: &Table, weights: Option<&[f64]>) -> Result<MapFormulas> {
    let map: Box<dyn Map> = serde_json::from_str(json).unwrap();
    map.check_settings()?;
    fit_map(&*map, table, weights)
}

/// Fits a map.
pub(super) fn fit_map(map: &dyn Map, table: &Table, weights: Option<&[f64]>) -> Result<MapFormulas> {
    let targets = ndarray::aview2::<f64, 0>(&[]);
    let rows = TrainingRows { table, targets, outputs: &[], lagged: &[], weights, groups: None, seed: 0 };
    let fitted = map.fit(&rows)?;
    fitted.check(table)?;
    Ok(fitted)
}

/// Values of a numeric column.
pub(super) fn values(table: &Table, name: &str) -> Vec<f64> {
    table.get(name).unwrap().numbers().unwrap().values().into_owned()
}
