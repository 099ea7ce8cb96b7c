//! A criterion, a loss and a learner without a dependency on vaglio, as a user would write them, and every possible
//! fault.
//!
//! The first argument selects the behaviour; the second, `arrow`, selects tables in Arrow format.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a program that is wrong ends")]

use arrow_array::{Array, Float64Array};
use arrow_ipc::reader::StreamReader;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Read, Write, stderr, stdin, stdout};

type Table = HashMap<String, Vec<f64>>;

fn write_line(line: &str) {
    stdout().write_all(format!("{line}\n").as_bytes()).unwrap();
    stdout().flush().unwrap();
}

fn say(value: &Value) {
    write_line(&value.to_string());
}

/// Reads the next message with its table; `None` at the end.
fn next() -> Option<(Value, Table)> {
    let mut line = String::new();
    if stdin().lock().read_line(&mut line).unwrap() == 0 {
        return None;
    }
    let message: Value = serde_json::from_str(&line).unwrap();
    let mut table = Table::new();
    if let Some(bytes) = message["arrow"].as_u64() {
        let mut stream = vec![0; bytes as usize];
        stdin().lock().read_exact(&mut stream).unwrap();
        for batch in StreamReader::try_new(&stream[..], None).unwrap() {
            let batch = batch.unwrap();
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                let column = column.as_any().downcast_ref::<Float64Array>().unwrap();
                assert_eq!(column.null_count(), 0);
                table.insert(field.name().clone(), column.values().to_vec());
            }
        }
    }
    for (name, column) in message["table"].as_object().into_iter().flatten() {
        table.insert(name.clone(), column.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect());
    }
    Some((message, table))
}

fn columns(table: &Table, letter: char) -> Vec<&Vec<f64>> {
    (0..).map_while(|number| table.get(&format!("{letter}{number}"))).collect()
}

fn weights(table: &Table, rows: usize) -> Vec<f64> {
    table.get("weight").cloned().unwrap_or_else(|| vec![1.0; rows])
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let what = arguments[1].as_str();
    let format = arguments.get(2).map_or("json", String::as_str);
    let (hello, _) = next().unwrap();
    assert_eq!(hello["vaglio"], 1);
    match what {
        "chatter" => write_line("Loading the model …"),
        "future" => say(&json!({"vaglio": 2, "data": "json"})),
        "dies" => {
            stderr().write_all(b"no such module\n\n").unwrap();
            std::process::exit(3);
        }
        _ => say(&json!({"vaglio": 1, "data": format})),
    }
    let mut data = Table::new();
    while let Some((message, table)) = next() {
        if message.get("design").is_some() {
            data = table;
            let rows = data["y0"].len();
            let folds: Vec<usize> = (0..rows).map(|row| row % FOLDS).collect();
            say(&json!({"held_out": if what == "held_out" { json!(folds) } else { json!("nothing") }}));
            continue;
        }
        match what {
            "held_out" => say(&held_out(&message, &data)),
            "unpenalized" => say(&json!({"score": unexplained(&message, &data)})),
            "absolute" => say(&json!({"loss": absolute(&table)})),
            "mean" if message.get("fit").is_some() => say(&json!({"model": fit(&table)})),
            "mean" => say(&json!({"predictions": predict(&message, &table)})),
            "stuck" => loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            },
            "quits" => {
                stderr().write_all(b"ZeroDivisionError: division by zero\n").unwrap();
                std::process::exit(1);
            }
            "settings" => say(&json!({"score": hello["settings"]["score"]})),
            "asks" => say(&hello["settings"]["asks"]),
            _ => say(&json!({"score": "low"})),
        }
    }
}

const FOLDS: usize = 3;

/// Computes the mean squared error of rows held out by row number, with the pipeline's learner: the lowest over λ.
fn held_out(message: &Value, data: &Table) -> Value {
    let targets = columns(data, 'y');
    let rows = targets[0].len();
    let weights = weights(data, rows);
    let mut best = json!({"score": null});
    for lambda in message["lambdas"].as_array().unwrap() {
        let (mut sum, mut total) = (0.0, 0.0);
        for fold in 0..FOLDS.min(rows) {
            let (held, training): (Vec<usize>, Vec<usize>) = (0..rows).partition(|row| row % FOLDS == fold);
            say(
                &json!({"retrain": {"training": training, "held_out": held, "columns": message["evaluate"], "lambda": lambda}}),
            );
            // Input that ends in the middle is a question that was taken back.
            let Some((said, _)) = next() else { std::process::exit(0) };
            for (output, predictions) in said["predictions"].as_array().unwrap().iter().enumerate() {
                for (row, p) in held.iter().zip(predictions.as_array().unwrap()) {
                    sum += weights[*row] * (targets[output][*row] - p.as_f64().unwrap()).powi(2);
                }
            }
            total += held.iter().map(|row| weights[*row]).sum::<f64>() * targets.len() as f64;
        }
        let score = sum / total;
        if best["score"].as_f64().is_none_or(|lowest| score < lowest) {
            best = json!({"score": score, "lambda": lambda});
        }
    }
    best
}

/// Computes the mean over outputs and rows of the variance unexplained by the best single column, without a learner.
fn unexplained(message: &Value, data: &Table) -> f64 {
    let targets = columns(data, 'y');
    let weights = weights(data, targets[0].len());
    let total: f64 = weights.iter().sum();
    let mean = |column: &[f64]| column.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>() / total;
    let covariance = |a: &[f64], b: &[f64]| {
        let (ma, mb) = (mean(a), mean(b));
        a.iter().zip(b).zip(&weights).map(|((a, b), w)| w * (a - ma) * (b - mb)).sum::<f64>() / total
    };
    let left = |y: &Vec<f64>| {
        let subset = message["evaluate"].as_array().unwrap().iter().map(|x| &data[&format!("x{x}")]);
        let explained = subset.map(|x| {
            let variance = covariance(x, x);
            if variance > 0.0 { covariance(x, y).powi(2) / variance } else { 0.0 }
        });
        covariance(y, y) - explained.fold(0.0, f64::max)
    };
    targets.iter().copied().map(left).sum::<f64>() / targets.len() as f64
}

fn absolute(table: &Table) -> f64 {
    let (targets, predictions) = (columns(table, 'y'), columns(table, 'p'));
    let weights = weights(table, targets[0].len());
    let row = |row: usize| (0..targets.len()).map(|k| (targets[k][row] - predictions[k][row]).abs()).sum::<f64>();
    let sum: f64 = (0..weights.len()).map(|at| weights[at] * row(at)).sum();
    sum / weights.iter().sum::<f64>()
}

/// Fits target means and an averaged slope per single column: no good model, but one that uses its columns.
fn fit(table: &Table) -> Value {
    let (targets, inputs) = (columns(table, 'y'), columns(table, 'x'));
    let weights = weights(table, targets[0].len());
    let total: f64 = weights.iter().sum();
    let mean = |column: &Vec<f64>| column.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>() / total;
    let means: Vec<f64> = inputs.iter().copied().map(mean).collect();
    let slope = |y: &Vec<f64>, (x, mx): (&Vec<f64>, &f64)| {
        let my = mean(y);
        let cross: f64 = (0..weights.len()).map(|row| weights[row] * (x[row] - mx) * (y[row] - my)).sum();
        let square: f64 = (0..weights.len()).map(|row| weights[row] * (x[row] - mx).powi(2)).sum();
        if square > 1e-12 * total * (1.0 + mx * mx) { cross / square / inputs.len() as f64 } else { 0.0 }
    };
    let outputs = targets.iter().copied().map(|y| {
        let slopes: Vec<f64> = inputs.iter().copied().zip(&means).map(|input| slope(y, input)).collect();
        json!({"mean": mean(y), "slopes": slopes})
    });
    json!({"means": means, "outputs": outputs.collect::<Vec<_>>()})
}

fn predict(message: &Value, table: &Table) -> Vec<Vec<f64>> {
    let (about, inputs) = (&message["predict"], columns(table, 'x'));
    let model = &about["model"];
    let rows = about["rows"].as_u64().unwrap() as usize;
    let number = |value: &Value| value.as_f64().unwrap();
    let output = |output: &Value| {
        let one = |row: usize| {
            let terms = inputs.iter().enumerate();
            let terms = terms.map(|(j, x)| number(&output["slopes"][j]) * (x[row] - number(&model["means"][j])));
            number(&output["mean"]) + terms.sum::<f64>()
        };
        (0..rows).map(one).collect()
    };
    model["outputs"].as_array().unwrap().iter().map(output).collect()
}
