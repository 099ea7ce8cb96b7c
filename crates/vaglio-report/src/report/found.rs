//! What the parts found: numbers and words in one table, lists of numbers as curves, lists of records as tables.

use super::labels::capital;
use super::number::{aligned, escape};
use super::plot::{Across, Plot, Series};
use super::table::{Column, HtmlTable};
use crate::record::FoundRecord;
use serde::Serialize;
use serde_json::{Map, Value};
use vaglio_core::Figures;

/// Numbers of a list that are still shown in a row, at most.
const FEW: usize = 8;
/// Characters of what is shown as it is written, at most.
const LONGEST: usize = 200;

/// What one part found.
#[derive(Serialize)]
pub struct PartFound {
    title: String,
    /// Single values.
    table: Option<String>,
    blocks: Vec<ShownValue>,
}

/// A value that is shown by itself.
#[derive(Serialize)]
struct ShownValue {
    name: String,
    html: String,
}

impl PartFound {
    /// The parts that found anything.
    pub fn all(found: &FoundRecord) -> Vec<PartFound> {
        let roles = [
            ("The criterion", &found.criterion),
            ("The search", &found.search),
            ("The learner", &found.learner),
            ("The model", &found.model),
        ];
        let roles = roles.into_iter().map(|(title, found)| (title.to_owned(), found));
        let maps = found.preprocess.iter().map(|map| (format!("The map {} ({})", map.place + 1, map.kind), &map.found));
        roles
            .chain(maps)
            .filter(|(_, found)| !found.is_empty())
            .map(|(title, found)| PartFound::of(title, found))
            .collect()
    }

    fn of(title: String, found: &Figures) -> PartFound {
        let mut single: Vec<(String, String)> = Vec::new();
        let mut blocks = Vec::new();
        for (name, value) in found {
            let name = words(name);
            match shown(&name, value) {
                Shown::Single(text) => single.push((name, text)),
                Shown::Alone(html) => blocks.push(ShownValue { name, html }),
            }
        }
        let columns = vec![
            Column::name("Name", |row: &(String, String)| row.0.clone()),
            Column::html("Value", "", |row: &(String, String)| Some(row.1.clone())),
        ];
        let table = HtmlTable::of(&format!("{title}: values"), "“found”", columns, &single, |_| false);
        PartFound { title, table: (!single.is_empty()).then(|| table.html()), blocks }
    }
}

enum Shown {
    Single(String),
    Alone(String),
}

/// `drawn_spectral_radius` in words.
fn words(name: &str) -> String {
    capital(&name.replace('_', " "))
}

/// A value as HTML.
fn single(value: &Value) -> String {
    match value {
        Value::Number(number) => aligned(number.as_f64()),
        Value::String(text) => escape(&clipped(text)),
        Value::Null => "–".into(),
        other => escape(&clipped(&other.to_string())),
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn shown(name: &str, value: &Value) -> Shown {
    let block = match value {
        Value::Array(list) if list.iter().all(Value::is_object) && !list.is_empty() => Some(records(name, list)),
        Value::Array(list) if list.len() > FEW && list.iter().all(|value| value.is_number() || value.is_null()) => {
            curve(name, list)
        }
        Value::Object(map) if map.len() > 1 && map.values().all(|value| !value.is_object() && !value.is_array()) => {
            Some(pairs(name, map))
        }
        _ => None,
    };
    block.map_or_else(|| Shown::Single(single(value)), Shown::Alone)
}

/// A list of records as a table, with all their keys as heads.
fn records(name: &str, list: &[Value]) -> String {
    let mut keys: Vec<&String> = Vec::new();
    for key in list.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let column = |key: &String| {
        let (head, key) = (words(key), key.clone());
        let is_number =
            list.iter().all(|record| record.get(&key).is_none_or(|value| value.is_number() || value.is_null()));
        let cell = move |record: &Value| record.get(&key).map(single);
        Column::html(&head, if is_number { "" } else { "t" }, cell)
    };
    HtmlTable::of(name, "“found”", keys.into_iter().map(column).collect(), list, |_| false).html()
}

fn pairs(name: &str, map: &Map<String, Value>) -> String {
    let rows: Vec<(&String, &Value)> = map.iter().collect();
    let columns = vec![
        Column::name("Name", |row: &(&String, &Value)| row.0.clone()),
        Column::html("Value", "", |row: &(&String, &Value)| Some(single(row.1))),
    ];
    HtmlTable::of(name, "“found”", columns, &rows, |_| false).html()
}

fn curve(name: &str, list: &[Value]) -> Option<String> {
    let values: Vec<Option<f64>> = list.iter().map(|value| value.as_f64().filter(|v| v.is_finite())).collect();
    let plot = Plot {
        label: name.into(),
        vertical: name.to_lowercase(),
        across: Across::Counts("place in the list"),
        at: (1..=values.len()).map(|k| k as f64).collect(),
        tips: values
            .iter()
            .enumerate()
            .map(|(k, v)| format!("{}: {}", k + 1, v.map_or("none".into(), |v| v.to_string())))
            .collect(),
        series: vec![Series { name: name.to_lowercase(), class: "inner", values, band: Vec::new() }],
        ..Plot::default()
    };
    plot.html()
}
