//! An evaluator of models exported as JSON, as the book describes them: plain recursion, row by row.

use super::{PredictedColumns, Value};
use std::collections::HashMap;
use vaglio::core::chrono::{Datelike, NaiveDateTime, Timelike};

/// A cell: text, a number, or missing.
#[derive(Debug, Clone, PartialEq)]
enum DataCell {
    Text(String),
    Number(f64),
}

/// The rows of a CSV text, whose cells may be quoted.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut cell, mut quoted) = (vec![Vec::new()], String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => cell.push(letters.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => rows.last_mut().unwrap().push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                rows.last_mut().unwrap().push(std::mem::take(&mut cell));
                rows.push(Vec::new());
            }
            c => cell.push(c),
        }
    }
    rows.retain(|row| !row.is_empty());
    rows
}

/// The predictions of the rows of a CSV text.
pub fn evaluated(model: &Value, text: &str) -> PredictedColumns {
    assert_eq!(model["schema"], "vaglio.formulas/1");
    let mut rows = rows(text);
    let header = rows.remove(0);
    let mut found = PredictedColumns::new();
    for row in &rows {
        let mut cells: HashMap<String, DataCell> = HashMap::new();
        for input in model["inputs"].as_array().unwrap() {
            let name = input["name"].as_str().unwrap();
            let text = &row[header.iter().position(|own| own == name).unwrap()];
            let number = || if text.is_empty() { f64::NAN } else { text.parse().unwrap() };
            let cell = match input["holds"].as_str().unwrap() {
                "number" => DataCell::Number(number()),
                _ => DataCell::Text(text.clone()),
            };
            cells.insert(name.to_owned(), cell);
        }
        for step in model["steps"].as_array().unwrap() {
            let value = DataCell::Number(value(&step["formula"], &cells));
            cells.insert(step["name"].as_str().unwrap().to_owned(), value);
        }
        let mut values = Vec::new();
        for output in model["outputs"].as_array().unwrap() {
            let value = value(&output["formula"], &cells);
            values.push(value);
            let finite = value.is_finite().then(|| value.into());
            found.entry(output["name"].as_str().unwrap().to_owned()).or_default().push(finite);
        }
        if !model["label"].is_null() {
            let label = values.iter().all(|value| value.is_finite()).then(|| label(&model["label"], &values));
            found.entry("label".into()).or_default().push(label);
        }
    }
    found
}

fn label(rule: &Value, values: &[f64]) -> Value {
    if let Some(threshold) = rule.get("threshold") {
        return threshold[if values[0] > threshold["at"].as_f64().unwrap() { "above" } else { "below" }].clone();
    }
    let largest = &rule["largest"];
    let level = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - largest["within"].as_f64().unwrap();
    let labels = largest["labels"].as_array().unwrap();
    let is_largest = |label: &&Value| values[label[0].as_u64().unwrap() as usize] >= level;
    labels.iter().find(is_largest).unwrap()[1].clone()
}

fn value(formula: &Value, cells: &HashMap<String, DataCell>) -> f64 {
    let (kind, own) = formula.as_object().unwrap().iter().next().unwrap();
    let of = |part: &Value| value(part, cells);
    let all = |parts: &Value| parts.as_array().unwrap().iter().map(of).collect::<Vec<f64>>();
    match kind.as_str() {
        "number" => own.as_f64().unwrap_or(f64::NAN),
        "column" => match &cells[own.as_str().unwrap()] {
            DataCell::Number(number) => *number,
            DataCell::Text(_) => panic!("{own} is text"),
        },
        "sum" => all(own).iter().sum(),
        "product" => all(own).iter().product(),
        "quotient" => all(own)[0] / all(own)[1],
        "apply" => applied(own[0].as_str().unwrap(), of(&own[1])),
        "filled" => Some(of(&own[0])).filter(|value| !value.is_nan()).unwrap_or_else(|| of(&own[1])),
        "if" => match holds(&own[0], cells) {
            true => of(&own[1][0]),
            false => of(&own[1][1]),
        },
        "level" => level(own, cells),
        "date_part" => match &own[1]["column"] {
            Value::String(name) => match &cells[name] {
                DataCell::Text(text) if text.is_empty() => f64::NAN,
                DataCell::Text(text) => date_part(own[0].as_str().unwrap(), text),
                DataCell::Number(_) => panic!("{name} is no date"),
            },
            other => panic!("a part of {other}"),
        },
        "between" => between(own[0].as_array().unwrap(), of(&own[1])),
        other => panic!("{other} is not described"),
    }
}

fn applied(function: &str, x: f64) -> f64 {
    match function {
        "ln" => x.ln(),
        "ln1p" => x.ln_1p(),
        "exp" => x.exp(),
        "exp_m1" => x.exp_m1(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tanh" => x.tanh(),
        "floor" => x.floor(),
        other => panic!("{other} is not described"),
    }
}

fn is_missing(formula: &Value, cells: &HashMap<String, DataCell>) -> bool {
    match formula.get("column").map(|name| &cells[name.as_str().unwrap()]) {
        Some(DataCell::Text(text)) => text.is_empty(),
        _ => value(formula, cells).is_nan(),
    }
}

fn holds(condition: &Value, cells: &HashMap<String, DataCell>) -> bool {
    match condition.get("below") {
        Some(pair) => value(&pair[0], cells) < value(&pair[1], cells),
        None => is_missing(&condition["missing"], cells),
    }
}

fn level(levels: &Value, cells: &HashMap<String, DataCell>) -> f64 {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    if is_missing(&levels["of"], cells) {
        return number(&levels["missing"]);
    }
    let text = match levels["of"].get("column").map(|name| &cells[name.as_str().unwrap()]) {
        Some(DataCell::Text(text)) => text.clone(),
        _ => value(&levels["of"], cells).to_string(),
    };
    let known = levels["levels"].as_array().unwrap().iter().find(|pair| pair[0] == *text);
    number(known.map_or(&levels["other"], |pair| &pair[1]))
}

fn date_part(part: &str, text: &str) -> f64 {
    let date: NaiveDateTime = text.parse().unwrap();
    let seconds = date.and_utc().timestamp() as f64;
    match part {
        "seconds" => seconds,
        "days" => seconds / 86_400.0,
        "year" => f64::from(date.year()),
        "month" => f64::from(date.month()),
        "day" => f64::from(date.day()),
        "weekday" => f64::from(date.weekday().number_from_monday()),
        "day_of_year" => f64::from(date.ordinal()),
        "hour" => f64::from(date.hour()),
        "minute" => f64::from(date.minute()),
        other => panic!("{other} is not described"),
    }
}

fn between(points: &[Value], x: f64) -> f64 {
    let point = |k: usize| [0, 1].map(|axis| points[k][axis].as_f64().unwrap());
    let last = points.len() - 1;
    if x.is_nan() {
        return x;
    }
    match (0..=last).find(|&k| point(k)[0] > x) {
        None => point(last)[1],
        Some(0) => point(0)[1],
        Some(after) => {
            let ([a, from], [b, to]) = (point(after - 1), point(after));
            from + (x - a) / (b - a) * (to - from)
        }
    }
}
