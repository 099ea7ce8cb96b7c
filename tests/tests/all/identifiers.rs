//! Whole numbers that no double holds: exact as identifiers and classes, refused as numbers.

use crate::common::{Folder, Ran};
use arrow_array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, UInt64Array};
use parquet::arrow::ArrowWriter;
use std::fmt::Write;
use std::fs::File;
use std::sync::Arc;

/// Identifiers of eight patients, less than a double's spacing of 256 apart.
const FIRST: i64 = 1_500_000_000_000_000_000;
const ROWS: usize = 16;
const PARTS: &str = "parts/*.csv";

fn id(row: usize, first: i64) -> i64 {
    first + 60 * (row as i64 / 2)
}

fn x(row: usize) -> f64 {
    (row * 7 % 11) as f64 / 4.0
}

fn y(row: usize) -> f64 {
    3.0 * x(row) + (row / 2 * 5 % 8) as f64
}

fn csv(first: i64, rows: std::ops::Range<usize>) -> String {
    let mut text = "id,x,y\n".to_owned();
    rows.for_each(|row| writeln!(text, "{},{},{}", id(row, first), x(row), y(row)).unwrap());
    text
}

/// Writes the rows as Parquet, with the identifiers `ids`.
fn parquet(folder: &Folder, name: &str, ids: ArrayRef) {
    let column = |of: &dyn Fn(usize) -> f64| Arc::new((0..ROWS).map(of).collect::<Float64Array>()) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("id", ids), ("x", column(&x)), ("y", column(&y))]).unwrap();
    let file = File::create(folder.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A folder with the identifiers in CSV, in two files of large and of small ones that begin with zeros, and in Parquet.
fn folder() -> (Folder, [&'static str; 6]) {
    let folder = Folder::new("identifiers");
    folder.write("small.csv", csv(0, 0..ROWS));
    folder.write("d.csv", csv(FIRST, 0..ROWS));
    folder.write("parts/a.csv", csv(FIRST, 0..ROWS / 2));
    folder.write("parts/b.csv", csv(FIRST, ROWS / 2..ROWS).replace("150000000000", ""));
    let wide = || (0..ROWS).map(|row| id(row, FIRST));
    parquet(&folder, "i.parquet", Arc::new(Int64Array::from_iter_values(wide())));
    parquet(&folder, "u.parquet", Arc::new(UInt64Array::from_iter_values(wide().map(|id| id as u64))));
    let decimals = |scale: i8, by: i128| {
        let all = Decimal128Array::from_iter_values(wide().map(|id| i128::from(id) * by));
        Arc::new(all.with_precision_and_scale(38, scale).unwrap())
    };
    parquet(&folder, "d.parquet", decimals(0, 1));
    parquet(&folder, "s.parquet", decimals(2, 100));
    (folder, ["d.csv", PARTS, "i.parquet", "u.parquet", "d.parquet", "s.parquet"])
}

fn yaml(train: &str, data: &str, lines: &str) -> String {
    format!("version: 1\ndata: {{train: {train}, target: y{data}}}\nlearner: {{kind: rls, lambda: 1.0}}\n{lines}\n")
}

const FOLDS: &str = "criterion: {kind: kfold, folds: 8, by: groups}\nsearch: {kind: all, choose: last}";
const ALL: &str = "search: {kind: all, choose: last}";

#[test]
fn groups_series_and_filters_are_exact() {
    let (folder, files) = folder();
    let score = |train: &str| folder.run(&yaml(train, ", groups: id", FOLDS))["score"].as_f64().unwrap();
    let expected = score("small.csv");
    for file in files {
        assert_eq!(score(file), expected, "{file}");
        let rows = |lines: &str| folder.run(&yaml(file, &format!(", groups: id{lines}"), ALL))["data"]["rows"].clone();
        let third = FIRST + 120;
        if file != PARTS {
            assert_eq!(rows(&format!(", rows: {{column: id, is: {third}}}")), 2, "{file}");
            assert_eq!(rows(&format!(", rows: {{column: id, from: {FIRST}, to: {third}}}")), 6, "{file}");
            assert_eq!(rows(&format!(", test_rows: {{column: id, is: {third}}}")), 14, "{file}");
        }
    }
    // In one series of several patients a time would stand twice.
    let mut series = "id,t,x,y\n".to_owned();
    (0..ROWS).for_each(|row| writeln!(series, "{},{},{},{}", id(row, FIRST), row % 2, x(row), y(row)).unwrap());
    folder.write("series.csv", series);
    assert_eq!(folder.run(&yaml("series.csv", ", series: id, time: t", ALL))["data"]["rows"], ROWS);
    // As times they have an order: the last are those with the largest.
    let mut times = "t,x,y\n".to_owned();
    let time = |row: usize| FIRST + 3 * (row as i64 * 5 % 16);
    (0..ROWS).for_each(|row| writeln!(times, "{},{},{}", time(row), x(row), y(row)).unwrap());
    folder.write("times.csv", times);
    folder.run(&yaml("times.csv", ", time: t, test_last: 0.25", ALL));
    let last = |row: &usize| (row * 5 % 16) >= 12;
    let last: Vec<usize> = (0..ROWS).filter(last).map(|row| row + 1).collect();
    assert_eq!(folder.json("out/selection.json")["data"]["test_rows"], serde_json::json!(last));
}

#[test]
fn features_and_targets_that_no_double_holds_are_refused_and_mended() {
    let (folder, files) = folder();
    for file in files.into_iter().filter(|file| *file != PARTS) {
        folder.write("p.yaml", yaml(file, "", ALL));
        let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert_eq!(code, Some(3), "{err}");
        for words in
            ["row 3, column `id`: a double cannot hold 1500000000000000060 exactly", "data.exclude", "data.types"]
        {
            assert!(err.contains(words), "{file}: {err}");
        }
        for (types, columns) in [("drop", 1), ("class", 9), ("number", 2)] {
            let maps = format!("preprocess: [one_hot]\n{ALL}");
            let found = folder.run(&yaml(file, &format!(", types: {{id: {types}}}"), &maps));
            assert_eq!(found["data"]["features"], columns, "{file} {types}");
        }
        let encoded = format!("preprocess: [target_encode]\n{ALL}");
        assert_eq!(folder.run(&yaml(file, ", types: {id: text}", &encoded))["data"]["features"], 2, "{file}");
        // As a target: two are classes, more are refused, and classes where the settings say so.
        let target = |data: &str| yaml(file, data, ALL).replace("target: y", "target: id");
        let two = format!(", exclude: [y], rows: {{column: id, is: [{FIRST}, {}]}}", FIRST + 60);
        let found = folder.run(&target(&two));
        assert_eq!(
            found["data"]["classes"],
            serde_json::json!([FIRST.to_string(), (FIRST + 60).to_string()]),
            "{file}"
        );
        folder.write("p.yaml", target(", exclude: [y]"));
        let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert!(code == Some(3) && err.contains("row 3, column `id`: a double cannot hold"), "{file}: {err}");
        let found = folder.run(&target(", exclude: [y], task: multiclass"));
        assert_eq!(found["data"]["classes"].as_array().unwrap().len(), 8, "{file}");
    }
}

#[test]
fn predictions_keep_all_digits_and_know_their_labels() {
    let (folder, files) = folder();
    for file in files.into_iter().filter(|file| *file != PARTS) {
        folder.run(&yaml(file, ", exclude: [id]", ALL));
        let keep = ["predict", "--model", "out/model.json", "--data", file, "--keep", "id"];
        let out = folder.vaglio(&keep).out;
        let kept = out.lines().nth(3).unwrap();
        assert!(kept.starts_with("1500000000000000060"), "{file}: {out}");
        folder.vaglio(&[&keep[..], &["--out", "p.parquet"]].concat());
        folder.run(&yaml(file, ", exclude: [y], task: multiclass", ALL).replace("target: y", "target: id"));
        for other in ["d.csv", "i.parquet"] {
            let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", other, "--evaluate"]);
            assert_eq!(ran.code, Some(0), "{file} {other}: {}", ran.err);
            assert!(ran.out.contains("1500000000000000"), "{}", ran.out);
        }
    }
}

#[test]
fn init_does_not_take_identifiers_for_a_constant() {
    let folder = Folder::new("init-ids");
    let mut text = "account,x,y\n".to_owned();
    for row in 0..60 {
        writeln!(text, "{},{},{}", FIRST + 7 * (row % 20), (row * 7 % 13) as f64, (row * 5 % 17) as f64).unwrap();
    }
    folder.write("d.csv", text);
    let ran = folder.vaglio(&["init", "d.csv", "--target", "y", "--out", "p.yaml"]).succeeded();
    let written = folder.read("p.yaml");
    assert!(!(ran.out + &ran.err + &written).contains("constant"), "{written}");
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{written}\n{}", ran.err);
}

#[test]
fn whole_numbers_with_their_thousands_apart_are_exact_or_refused() {
    let folder = Folder::new("grouped-identifiers");
    let table = |id: &dyn Fn(usize) -> String| {
        let mut text = "id,x,y\n".to_owned();
        (0..ROWS).for_each(|row| writeln!(text, "\"{}\",{},{}", id(row), x(row), y(row)).unwrap());
        text
    };
    // Neighbours of 2^53 + 1 are one double.
    folder.write("all.csv", table(&|row| format!("9,007,199,254,740,{:03}", 991 + row / 2)));
    let found = folder.run(&yaml("all.csv", ", groups: id", FOLDS));
    folder.write("small.csv", table(&|row| (row / 2).to_string()));
    assert_eq!(found["score"], folder.run(&yaml("small.csv", ", groups: id", FOLDS))["score"]);
    folder.write(
        "one.csv",
        table(&|row| if row == 3 { "9,007,199,254,740,993".into() } else { format!("1,00{}", row % 10) }),
    );
    folder.write("p.yaml", yaml("one.csv", "", ALL));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.code == Some(3) && ran.err.contains("row 4, column `id`: `9,007,199,254,740,993`"), "{}", ran.err);
    assert!(ran.err.contains("is a whole number that no double holds"), "{}", ran.err);
}
