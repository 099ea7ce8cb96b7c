//! Tables of a record as CSV: every list of objects in `selection.json`.

use crate::predictions_csv::{csv_text, unless_formula};
use serde_json::Value;
use vaglio_core::Result;
use vaglio_pipeline::document::key_path;
use vaglio_report::record::Record;

/// File names and texts, named by the path of each list: `path.csv`, `nested.per_fold.csv`.
pub(super) fn tables(record: &Record) -> Result<Vec<(String, String)>> {
    let value: Value = serde_json::from_str(&record.to_text()?)?;
    let mut found = Vec::new();
    collect("", &value, &mut found);
    found.into_iter().map(|(name, rows)| Ok((format!("{name}.csv"), csv(rows)?))).collect()
}

/// Collects the lists of objects below a path, except settings.
fn collect<'v>(place: &str, value: &'v Value, found: &mut Vec<(String, &'v [Value])>) {
    match value {
        Value::Array(rows) if rows.first().is_some_and(Value::is_object) => found.push((place.to_owned(), rows)),
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| *key != "settings" && *key != "found") {
                collect(&key_path(place, key), value, found);
            }
        }
        _ => {}
    }
}

/// Rows as CSV; fields of nested objects are named `outer.inner`.
fn csv(rows: &[Value]) -> Result<String> {
    let mut header: Vec<String> = Vec::new();
    let mut flat: Vec<Vec<(String, String)>> = Vec::new();
    for row in rows {
        let mut cells = Vec::new();
        flatten("", row, &mut cells);
        for (name, _) in &cells {
            if !header.contains(name) {
                header.push(name.clone());
            }
        }
        flat.push(cells);
    }
    let records = flat.iter().map(|cells| {
        let cell = |name: &String| cells.iter().find(|(own, _)| own == name).map(|(_, cell)| cell.clone());
        header.iter().map(|name| cell(name).unwrap_or_default()).collect()
    });
    csv_text([header.clone()].into_iter().chain(records))
}

fn flatten(name: &str, value: &Value, cells: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&key_path(name, key), value, cells);
            }
        }
        Value::Null => cells.push((name.to_owned(), String::new())),
        Value::String(text) => cells.push((name.to_owned(), unless_formula(text.clone()))),
        // Lists stay JSON.
        other => cells.push((name.to_owned(), other.to_string())),
    }
}
