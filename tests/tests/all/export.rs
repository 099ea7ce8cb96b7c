//! Models in other languages: each is run there and compared with `vaglio predict`.

mod data;
mod evaluator;
mod refusals;
mod report;
mod runners;

use crate::common::Folder;
use data::{Kinds, table};
use runners::{FORMATS, Runner};
use serde_json::Value;
use std::collections::BTreeMap;

/// Columns of predictions; a row without one has `None`.
type PredictedColumns = BTreeMap<String, Vec<Option<Value>>>;

/// Predictions of `vaglio predict` for the rows of a file.
fn predicted(folder: &Folder, data: &str) -> PredictedColumns {
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", data, "--raw"]).succeeded();
    let mut lines = ran.out.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut found: PredictedColumns = names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
    for line in lines {
        for (name, cell) in names.iter().zip(line.split(',')) {
            let value = if *name == "label" { cell.into() } else { cell.parse::<f64>().unwrap().into() };
            found.get_mut(*name).unwrap().push(Some(value));
        }
    }
    found
}

/// Runs a pipeline on a table of all kinds of columns; with what it predicts of new rows.
fn fitted(name: &str, yaml: &str) -> (Folder, PredictedColumns) {
    let folder = Folder::new(name);
    folder.write("train.csv", table(120, 1, &Kinds::ALL));
    folder.write("new.csv", table(40, 2, &Kinds::ALL));
    folder.run(yaml);
    let expected = predicted(&folder, "new.csv");
    (folder, expected)
}

/// Runs a pipeline, exports its model in every language, and compares predictions of new rows to 1e-12 of their size.
fn same_everywhere(name: &str, yaml: &str) {
    let (folder, expected) = fitted(name, yaml);
    export(&folder, &FORMATS);
    for format in FORMATS {
        let Some(runner) = Runner::new(format) else { continue };
        compare(&format!("{name} as {format}"), &runner.run(&folder, "new.csv"), &expected);
    }
}

fn export(folder: &Folder, formats: &[&str]) {
    for format in formats {
        let ran = folder.vaglio(&["export", "out", "--to", format, "--out", &format!("model.{format}")]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{format}");
    }
}

fn compare(what: &str, found: &PredictedColumns, expected: &PredictedColumns) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what}");
    let mut worst = 0.0f64;
    for (name, wanted) in expected {
        let scale = wanted.iter().flatten().filter_map(Value::as_f64).fold(1.0, |a: f64, b| a.max(b.abs()));
        assert_eq!(found[name].len(), wanted.len(), "{what}, {name}");
        for (row, (a, b)) in found[name].iter().zip(wanted).enumerate() {
            match (a.as_ref().and_then(Value::as_f64), b.as_ref().and_then(Value::as_f64)) {
                (Some(a), Some(b)) => worst = worst.max((a - b).abs() / scale),
                _ => assert_eq!(a, b, "{what}, {name}, row {row}"),
            }
        }
    }
    assert!(worst <= 1e-12, "{what}: off by {worst:e}");
}

/// A pipeline of all columns but the targets that are not named.
fn pipeline(target: &str, lines: &str) -> String {
    let others: Vec<&str> = data::TARGETS.into_iter().filter(|name| !target.contains(name)).collect();
    format!(
        "version: 1\ndata: {{train: train.csv, target: {target}, exclude: [{}], types: {{kind: text}}}}\nsearch: all\n{lines}\n",
        others.join(", ")
    )
}

/// Maps after which no cell is missing and no text is left.
const USUAL: &str = "{kind: impute, how: mean}, {kind: impute, how: most_frequent}, {kind: one_hot}, date_parts";

#[test]
fn numbers_text_and_dates() {
    let maps = "preprocess: [{kind: impute, how: mean, indicator: true}, {kind: impute, how: most_frequent}, {kind: log1p, columns: \
                [all]}, {kind: one_hot, rare: 12}, {kind: date_parts, cyclic: true}, standardize]";
    same_everywhere("maps", &pipeline("y", maps));
    let all = "[seconds, days, year, month, day, weekday, day_of_year, hour, minute]";
    let maps = format!(
        "preprocess: [{{kind: clip, quantiles: [0.1, 0.9], columns: [x0, all]}}, {{kind: impute, how: median}}, {{kind: impute, \
         how: most_frequent}}, {{kind: power, columns: [x0, x1]}}, {{kind: power, method: box_cox, columns: [all]}}, {{kind: date_parts, parts: {all}}}, \
         {{kind: target_encode}}, {{kind: interactions, columns: [x0, x1, all]}}, {{kind: polynomial, columns: [x1], \
         degree: 3}}, {{kind: standardize, target: true}}]"
    );
    same_everywhere("more-maps", &pipeline("y", &maps));
    let maps = "preprocess: [{kind: impute, how: {constant: -1.5}}, {kind: impute, how: {constant: none}}, {kind: ordinal, order: \
                {kind: [\"it's\", none, plain, 'say \"hi\"', grün, '=1+1']}}, {kind: one_hot, columns: [count], drop: if_binary}, \
                date_parts, standardize, constant]\nlearner: {kind: rls, intercept: false}";
    same_everywhere("other-maps", &pipeline("y", maps));
}

#[test]
fn mapped_targets_come_back() {
    for (name, map) in [
        ("log", "{kind: log}"),
        ("log1p", "{kind: log1p, smear: false}"),
        ("yeo-johnson", "{kind: power}"),
        ("box-cox", "{kind: power, method: box_cox, lambda: -0.5, smear: false}"),
        ("rank", "{kind: rank, smear: false}"),
    ] {
        let lines = format!("target_map: {map}\npreprocess: [{USUAL}, standardize]");
        let yaml = pipeline("positive", &lines);
        match name {
            // One formula would have more points than a spreadsheet takes.
            "rank" => refusals::rank(&yaml),
            _ => same_everywhere(name, &yaml),
        }
    }
}

#[test]
fn classes_and_several_targets() {
    let maps = format!("preprocess: [{USUAL}, standardize]");
    same_everywhere("two", &pipeline("two", &maps));
    same_everywhere("three", &pipeline("three", &maps));
    same_everywhere("targets", &pipeline("[y, positive]", &maps));
}

#[test]
fn hidden_layers() {
    for activation in ["tanh", "sigmoid", "relu", "rbf"] {
        let lines =
            format!("preprocess: [{USUAL}, standardize]\nlearner: {{kind: elm, units: 5, activation: {activation}}}");
        same_everywhere(activation, &pipeline("y", &lines));
    }
}

#[test]
fn cells_of_another_type_are_not_imputed() {
    let folder = Folder::new("refused-cells");
    let row = |row: usize| format!("{},{},2024-{:02}-{:02}\n", row * 7 % 11, row * 5 % 7, 1 + row % 12, 1 + row % 28);
    folder.write("train.csv", format!("y,x,when\n{}1,,\n", (0..48).map(row).collect::<String>()));
    folder.write("new.csv", "x,when\n3,2024-03-04\n,\n");
    let refused = ["abc,2024-03-04", "3,soon", "3,now", "3,2024", "3,2024-02-31"];
    folder.write("all.csv", format!("{}{}\n", folder.read("new.csv"), refused.join("\n")));
    folder.run(
        "version: 1\ndata: {train: train.csv, target: y}\nsearch: all\npreprocess: [date_parts, {kind: impute, how: mean}]\n",
    );
    for row in refused {
        folder.write("one.csv", format!("x,when\n3,2024-03-04\n{row}\n"));
        let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "one.csv"]);
        assert_eq!(ran.code, Some(3), "{row}");
    }
    let mut expected = predicted(&folder, "new.csv");
    expected.get_mut("prediction").unwrap().extend(refused.map(|_| None));
    export(&folder, &["json", "python", "sql", "r"]);
    for format in ["python", "sql", "r"] {
        let Some(runner) = Runner::new(format) else { continue };
        compare(format, &runner.run(&folder, "all.csv"), &expected);
    }
}

/// Moments with offsets, also without a colon or minutes, which SQLite does not read.
#[test]
fn offsets_of_moments_are_taken_to_greenwich() {
    let folder = Folder::new("offsets");
    let row = |row: usize, end: &str| {
        let (hour, minute) = (row * 7 % 24, row * 13 % 60);
        format!("{},2024-02-{:02}T{hour:02}:{minute:02}:07{end}\n", hour * hour + minute, 1 + row % 28)
    };
    let file = |ends: &[&str]| -> String {
        let rows: String = (0..48).map(|at| row(at, ends[at % ends.len()])).collect();
        format!("y,when\n{rows}")
    };
    let colons = ["Z", "+05:00", "-11:30", ".25Z", "+00:00"];
    folder.write("train.csv", file(&["Z"]));
    folder.write("colons.csv", file(&colons));
    folder.write("short.csv", file(&["+0530", "-07", "Z", ".5+02:00"]));
    folder.run(
        "version: 1\ndata: {train: train.csv, target: y}\nsearch: all\npreprocess: [{kind: date_parts, parts: [days, hour, minute]}]\n",
    );
    export(&folder, &["json", "python", "sql", "r"]);
    for (data, formats) in [("colons.csv", &["python", "sql", "r"][..]), ("short.csv", &["python", "r"])] {
        let expected = predicted(&folder, data);
        for format in formats {
            let Some(runner) = Runner::new(format) else { continue };
            compare(&format!("{data} as {format}"), &runner.run(&folder, data), &expected);
        }
    }
    // Python's own moments, with a zone.
    let aware = "import datetime as d, model_python as m; zone = d.timezone(d.timedelta(hours=5)); \
                 print(m.predict({'when': d.datetime(2024, 2, 3, 2, tzinfo=zone)}) == m.predict({'when': '2024-02-02T21:00Z'}))";
    std::fs::copy(folder.path("model.python"), folder.path("model_python.py")).unwrap();
    let output =
        std::process::Command::new(crate::common::python()).current_dir(&folder.0).args(["-c", aware]).output();
    assert_eq!(String::from_utf8_lossy(&output.unwrap().stdout).trim(), "True");
}
