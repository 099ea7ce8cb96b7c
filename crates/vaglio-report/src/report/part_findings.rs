//! Findings of the parts of a run: numbers and words in a table, lists of numbers as curves, lists of records as tables.

use crate::names::capital;
use crate::page::{Chart, Mark, ScaleKind, Section, TableBuilder, TableCell, element, finite};
use serde_json::{Map, Value};
use vaglio_core::clip;

/// Numbers of a list that are still shown in one cell, at most.
const FEW: usize = 8;
/// Characters of a cell, at most.
const LONGEST: usize = 200;

/// A section for each part that found anything.
pub fn found_by_parts(found: &Map<String, Value>) -> Vec<Section> {
    let parts = found.iter().filter_map(|(part, found)| Some((format!("the {part}"), found.as_object()?)));
    let maps = found.get("preprocess").and_then(Value::as_array).into_iter().flatten();
    let maps = maps.filter_map(|map| {
        let (place, kind) = (map["place"].as_u64()?, map["kind"].as_str()?);
        Some((format!("map {} ({kind})", place + 1), map["found"].as_object()?))
    });
    let section = |(name, found): (String, &Map<String, Value>)| {
        let mut values: Vec<(String, TableCell)> = Vec::new();
        let mut blocks = String::new();
        for (key, value) in found {
            let key = capital(&key.replace('_', " "));
            match &*block(&key, value) {
                "" => values.push((key, cell(value))),
                block => blocks += &(element("p", &key) + block),
            }
        }
        Section::new(format!("What the parts found: {name}")).table(pairs(&values)).with(&blocks)
    };
    parts.chain(maps).map(section).collect()
}

fn pairs(rows: &[(String, TableCell)]) -> TableBuilder<'_, (String, TableCell)> {
    let table = TableBuilder::new("“found”", rows).name("Name", |row| &row.0);
    table.cells("Value", "number", |row| row.1.clone())
}

fn cell(value: &Value) -> TableCell {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(TableCell::default, TableCell::number),
        Value::String(text) => TableCell::text(clip(text, LONGEST)),
        Value::Null => TableCell::text("–"),
        other => TableCell::text(clip(&other.to_string(), LONGEST)),
    }
}

/// A table or a chart of a value that does not fit a cell, as HTML; empty for others.
fn block(name: &str, value: &Value) -> String {
    match value {
        Value::Array(list) if list.iter().all(Value::is_object) => records(list).html(name),
        Value::Array(list) if list.len() > FEW && list.iter().all(is_number) => {
            curve(name, list).html().unwrap_or_default()
        }
        Value::Object(map) if map.len() > 1 && map.values().all(|value| !value.is_object() && !value.is_array()) => {
            let rows: Vec<(String, TableCell)> = map.iter().map(|(key, value)| (key.clone(), cell(value))).collect();
            pairs(&rows).html(name)
        }
        _ => String::new(),
    }
}

fn is_number(value: &Value) -> bool {
    value.is_number() || value.is_null()
}

/// A list of records as a table with a column for each key.
fn records(list: &[Value]) -> TableBuilder<'_, Value> {
    let mut keys: Vec<&String> = Vec::new();
    for key in list.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter().fold(TableBuilder::new("“found”", list), |table, key| {
        let is_numeric = list.iter().all(|record| record.get(key).is_none_or(is_number));
        let kind = if is_numeric { "number" } else { "text" };
        table.cells(&capital(&key.replace('_', " ")), kind, move |record| record.get(key).map(cell))
    })
}

fn curve(name: &str, list: &[Value]) -> Chart {
    let points =
        list.iter().enumerate().map(|(k, value)| Some([k as f64 + 1.0, value.as_f64().and_then(finite)?])).collect();
    Chart::new(name, "place in the list", name.to_lowercase()).x(ScaleKind::Whole).mark(Mark::line(
        &name.to_lowercase(),
        "inner",
        points,
    ))
}
