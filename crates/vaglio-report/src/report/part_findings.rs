//! Findings of the parts of a run: numbers and words in a table, lists of numbers as curves, lists of records as tables.

use super::chart::{Chart, ChartScale, Mark, ScaleKind};
use super::record_view::capital;
use super::section::{ContentBlock, Section};
use super::table::{ColumnStyle, PageTable, TableBuilder, TableCell};
use crate::record::FoundRecord;
use serde_json::{Map, Value};
use vaglio_core::Figures;

/// Numbers of a list that are still shown in one cell, at most.
const FEW: usize = 8;
/// Characters of a cell, at most.
const LONGEST: usize = 200;

/// A section for each part that found anything.
pub fn found_by_parts(found: &FoundRecord) -> Vec<Section> {
    let parts = [
        ("the criterion", &found.criterion),
        ("the search", &found.search),
        ("the learner", &found.learner),
        ("the model", &found.model),
    ];
    let parts = parts.into_iter().map(|(name, found)| (name.to_owned(), found));
    let maps = found.preprocess.iter().map(|map| (format!("map {} ({})", map.place + 1, map.kind), &map.found));
    let section = |(name, found): (String, &Figures)| {
        let mut values: Vec<(String, TableCell)> = Vec::new();
        let mut blocks = Vec::new();
        for (key, value) in found {
            let key = capital(&key.replace('_', " "));
            match block(&key, value) {
                Some(block) => blocks.push(block),
                None => values.push((key, cell(value))),
            }
        }
        let table = pairs(&format!("Found by {name}"), &values);
        let id = format!("found-{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        let section = Section::new(&id, &format!("What the parts found: {name}")).table(table);
        blocks.into_iter().fold(section, Section::block)
    };
    parts.chain(maps).filter(|(_, found)| !found.is_empty()).map(section).collect()
}

fn pairs(label: &str, rows: &[(String, TableCell)]) -> PageTable {
    let table = TableBuilder::new(label, "“found”", rows).name("Name", |row| row.0.clone());
    table.cells("Value", ColumnStyle::Number, |row| Some(row.1.clone())).build()
}

fn cell(value: &Value) -> TableCell {
    let clipped = |text: &str| match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    match value {
        Value::Number(number) => number.as_f64().map_or_else(TableCell::default, TableCell::aligned),
        Value::String(text) => TableCell::text(clipped(text)),
        Value::Null => TableCell::text("–"),
        other => TableCell::text(clipped(&other.to_string())),
    }
}

/// A table or a chart of a value that does not fit a cell.
fn block(name: &str, value: &Value) -> Option<ContentBlock> {
    let is_number = |value: &Value| value.is_number() || value.is_null();
    match value {
        Value::Array(list) if list.iter().all(Value::is_object) && !list.is_empty() => {
            Some(ContentBlock::Table(records(name, list)))
        }
        Value::Array(list) if list.len() > FEW && list.iter().all(is_number) => {
            let chart = curve(name, list);
            chart.html().is_some().then_some(ContentBlock::Chart(chart))
        }
        Value::Object(map) if map.len() > 1 && map.values().all(|value| !value.is_object() && !value.is_array()) => {
            let rows: Vec<(String, TableCell)> = map.iter().map(|(key, value)| (key.clone(), cell(value))).collect();
            Some(ContentBlock::Table(pairs(name, &rows)))
        }
        _ => None,
    }
}

/// A list of records as a table with a column for each key.
fn records(name: &str, list: &[Value]) -> PageTable {
    let mut keys: Vec<&String> = Vec::new();
    for key in list.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let is_number = |value: &Value| value.is_number() || value.is_null();
    let table = keys.into_iter().fold(TableBuilder::new(name, "“found”", list), |table, key| {
        let is_numeric = list.iter().all(|record| record.get(key).is_none_or(is_number));
        let kind = if is_numeric { ColumnStyle::Number } else { ColumnStyle::Text };
        table.cells(&capital(&key.replace('_', " ")), kind, move |record| record.get(key).map(cell))
    });
    table.build()
}

fn curve(name: &str, list: &[Value]) -> Chart {
    let finite = |value: &Value| value.as_f64().filter(|value| value.is_finite());
    let points = list.iter().enumerate().map(|(k, value)| Some([k as f64 + 1.0, finite(value)?])).collect();
    let y = ChartScale::new(name.to_lowercase(), ScaleKind::Auto);
    Chart::new(name, ChartScale::new("place in the list", ScaleKind::Whole), y)
        .mark(Mark::line(&name.to_lowercase(), "inner", points))
        .caption(format!("{name}."))
}
