//! Maps of tables, each against its definition.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod clip;
mod date_parts;
mod folds;
mod impute;
mod log1p;
mod one_hot;
mod ordinal;
mod power;
mod products;
mod standardize;
mod target_encode;
mod window;
mod within;

use vaglio_core::{Cells, Map, MapFormulas, Numbers, Result, Table, TrainingRows};

/// Fits the map of these settings, given as in pipeline files.
fn fit(json: &str, table: &Table) -> Result<MapFormulas> {
    fit_weighted(json, table, None)
}

/// Like [`fit`], with weights.
fn fit_weighted(json: &str, table: &Table, weights: Option<&[f64]>) -> Result<MapFormulas> {
    let map: Box<dyn Map> = serde_json::from_str(json).unwrap();
    map.check_settings()?;
    fit_map(&*map, table, weights)
}

/// Fits a map.
fn fit_map(map: &dyn Map, table: &Table, weights: Option<&[f64]>) -> Result<MapFormulas> {
    let targets = ndarray::aview2::<f64, 0>(&[]);
    let rows = TrainingRows { table, targets, outputs: &[], lagged: &[], weights, groups: None, seed: 0 };
    let fitted = map.fit(&rows)?;
    fitted.check(table)?;
    Ok(fitted)
}

/// A column of numbers.
fn numbers(values: &[f64]) -> Cells {
    Cells::Numbers(Numbers::from(values.to_vec()))
}

/// A column of text.
fn text(cells: &[&str]) -> Cells {
    Cells::Text(cells.iter().map(|&cell| cell.to_owned()).collect())
}

/// A table of named columns.
fn table<'n>(columns: impl IntoIterator<Item = (&'n str, Cells)>) -> Table {
    Table::new(columns.into_iter().map(|(name, cells)| (name.to_owned(), cells)).collect()).unwrap()
}

/// A table with the numeric column `x` alone.
fn single_column(values: &[f64]) -> Table {
    table([("x", numbers(values))])
}

/// Text of each cell of a column.
fn labels(table: &Table, name: &str) -> Vec<String> {
    let cells = table.get(name).unwrap();
    (0..cells.len()).map(|row| cells.label(row)).collect()
}

/// Values of a numeric column.
fn values(table: &Table, name: &str) -> Vec<f64> {
    table.get(name).unwrap().numbers().unwrap().values().into_owned()
}

#[test]
fn formulas_that_are_retained_compute_equal_bits() {
    let table = vaglio_testkit::data::gappy_table(20, 5, 44);
    for json in [
        r#"{"kind": "clip"}"#,
        r#"{"kind": "constant"}"#,
        r#"{"kind": "date_parts", "cyclic": true}"#,
        r#"{"kind": "impute", "how": "most_frequent", "indicator": true}"#,
        r#"{"kind": "one_hot", "rare": 6}"#,
        r#"{"kind": "one_hot", "unknown": "error"}"#,
        r#"{"kind": "ordinal"}"#,
        r#"{"kind": "polynomial", "columns": ["n0", "n1"]}"#,
        r#"{"kind": "power"}"#,
        r#"{"kind": "standardize"}"#,
    ] {
        let whole = fit(json, &table).unwrap().transform(table.clone()).unwrap();
        for name in whole.names() {
            let mut own = fit(json, &table).unwrap();
            let sources = own.sources(name);
            own.retain(&sources.iter().cloned().chain([name.to_owned()]).collect());
            let own: MapFormulas = serde_json::from_str(&serde_json::to_string(&own).unwrap()).unwrap();
            let kept = table.columns().iter().filter(|(other, _)| sources.contains(other)).cloned().collect();
            let out = own.transform(table.clone().with_columns(kept).unwrap()).unwrap();
            assert_eq!(labels(&out, name), labels(&whole, name), "{json}: {name}");
        }
    }
}
