//! Which rows take part: filters by a column, rows without a target or weight, test rows that a column names.

use crate::common::{Folder, case_stride, timeless};
use serde_json::{Value, json};
use vaglio_testkit::SplitMix64;

const HEADER: &str = "year,when,kind,part,w,a,b,c,y";
const REST: &str = "preprocess: [{kind: impute, how: mean}, one_hot, standardize]\n\
                    learner: {kind: rls, lambda: {values: [0.1, 1, 10]}}\nsearch: {kind: greedy, max_features: 4}\n";

/// Rows as lists of cells.
fn rows() -> Vec<Vec<String>> {
    let mut random = SplitMix64::new(11);
    let row = |row: usize| {
        let (a, b, c) = (random.normal(), random.normal(), random.normal());
        let kind = ["low", "mid", "high"][random.below(3)];
        let y = 2.0 * a - b + if kind == "high" { 3.0 } else { 0.0 } + 0.3 * random.normal();
        let year = 1980 + row % 25;
        let unless = |every: usize, text: String| if row % every == every - 1 { String::new() } else { text };
        vec![
            year.to_string(),
            format!("{year}-{:02}-{:02}", 1 + row % 12, 1 + row % 28),
            kind.to_owned(),
            if row % 4 == 1 { "F" } else { "T" }.to_owned(),
            unless(17, format!("{}", 1 + row % 3)),
            format!("{a}"),
            unless(13, format!("{b}")),
            format!("{c}"),
            unless(11, format!("{y}")),
        ]
    };
    (0..150).map(row).collect()
}

fn csv<'a>(rows: impl IntoIterator<Item = &'a Vec<String>>) -> String {
    let lines: Vec<String> = rows.into_iter().map(|row| row.join(",") + "\n").collect();
    format!("{HEADER}\n{}", lines.concat())
}

fn yaml(train: &str, data: &str) -> String {
    format!("version: 1\ndata: {{train: {train}, target: y, {data}}}\n{REST}")
}

/// The result but for what the rows that were left out change: the hash, how many they are, numbers of rows in the file.
fn comparable(selection: Value) -> Value {
    let mut rest = timeless(selection);
    let data = rest["data"].as_object_mut().unwrap();
    data.retain(|key, _| !["digest", "left_out", "test_rows"].contains(&key.as_str()));
    for row in rest["report"]["residuals"]["largest"].as_array_mut().into_iter().flatten() {
        row.as_object_mut().unwrap().remove("row");
    }
    rest
}

fn year(row: &[String]) -> i32 {
    row[0].parse().unwrap()
}

/// Filters are tried with and without test rows in turn, or each with both.
#[test]
fn a_run_on_rows_that_pass_is_that_on_a_file_of_them() {
    let folder = Folder::new("rows");
    let all = rows();
    folder.write("all.csv", csv(&all));
    type Passes = fn(&[String]) -> bool;
    let there = "missing_target: drop, exclude: [when, part, w]";
    let cases: [(&str, &str, Passes); 8] = [
        ("rows: {column: year, from: 1990}", there, |row| year(row) >= 1990),
        ("rows: {column: year, from: 1985, to: 1999}", there, |row| (1985..=1999).contains(&year(row))),
        ("rows: {column: when, from: 1990, to: 1999-06-15}", there, |row| {
            *row[1] >= *"1990" && *row[1] <= *"1999-06-15"
        }),
        ("rows: {column: when, to: 1999}", there, |row| year(row) <= 1999),
        ("rows: {column: kind, is: [low, high]}", there, |row| row[2] != "mid"),
        ("rows: [{column: kind, is: low}, {column: year, to: 2000}]", there, |row| {
            row[2] == "low" && year(row) <= 2000
        }),
        ("rows: {column: part, is: T}", "missing_target: drop, weights: w, exclude: [when, part]", |row| row[3] == "T"),
        ("rows: {column: b, from: -0.5}", there, |row| row[6].parse::<f64>().is_ok_and(|b| b >= -0.5)),
    ];
    let stride = case_stride(2);
    for (place, (filter, data, passes)) in cases.into_iter().enumerate() {
        let has_weights = data.contains("weights");
        let is_there = |row: &Vec<String>| !row[8].is_empty() && (!has_weights || !row[4].is_empty());
        folder.write("some.csv", csv(all.iter().filter(|row| passes(row) && is_there(row))));
        for more in ["", ", test_fraction: 0.25"].iter().skip(place % stride).step_by(stride) {
            let whole = folder.run(&yaml("all.csv", &format!("{data}, {filter}{more}")));
            let left: u64 =
                whole["data"]["left_out"].as_array().unwrap().iter().map(|of| of["rows"].as_u64().unwrap()).sum();
            assert_eq!(
                left as usize,
                all.len() - all.iter().filter(|row| passes(row) && is_there(row)).count(),
                "{filter}"
            );
            let plain = data.replace("missing_target: drop, ", "");
            let some = folder.run(&yaml("some.csv", &format!("{plain}{more}")));
            assert_eq!(some["data"].get("left_out"), None);
            assert_eq!(comparable(whole), comparable(some), "{filter}{more}");
        }
    }
}

#[test]
fn filters_hold_for_test_tables_and_numbers_of_rows_are_those_of_the_file() {
    let folder = Folder::new("rows_test");
    let all = rows();
    let (train, test) = all.split_at(100);
    folder.write("train.csv", csv(train));
    folder.write("test.csv", csv(test));
    let passes = |row: &&Vec<String>| row[2] == "low" && !row[8].is_empty();
    folder.write("train_low.csv", csv(train.iter().filter(passes)));
    folder.write("test_low.csv", csv(test.iter().filter(passes)));
    let columns = "exclude: [when, part, w]";
    let filter = format!("{columns}, rows: {{column: kind, is: low}}, missing_target: drop");
    let whole = folder.run(&yaml("train.csv", &format!("test: test.csv, {filter}")));
    let some = folder.run(&yaml("train_low.csv", &format!("test: test_low.csv, {columns}")));
    let count = |rows: &[Vec<String>], of: fn(&Vec<String>) -> bool| rows.iter().filter(|row| of(row)).count();
    let not_low = |row: &Vec<String>| row[2] != "low";
    let empty = |row: &Vec<String>| row[2] == "low" && row[8].is_empty();
    let expected = json!([
        {"reason": "filter", "column": "kind", "filter": "kind is low", "rows": count(train, not_low), "test_rows": count(test, not_low)},
        {"reason": "missing_target", "column": "y", "rows": count(train, empty), "test_rows": count(test, empty)},
    ]);
    assert_eq!(whole["data"]["left_out"], expected);
    for worst in whole["report"]["residuals"]["largest"].as_array().unwrap() {
        let row = &test[worst["row"].as_u64().unwrap() as usize - 1];
        assert!(passes(&row) && row[8].parse::<f64>().unwrap() == worst["observed"][0].as_f64().unwrap());
    }
    assert_eq!(comparable(whole), comparable(some));
    let set_aside = folder.run(&yaml("train.csv", &format!("test_fraction: 0.3, {filter}")));
    for row in set_aside["data"]["test_rows"].as_array().unwrap() {
        let row = &train[row.as_u64().unwrap() as usize - 1];
        assert!(row[2] == "low" && !row[8].is_empty());
    }
    let report = folder.read("out/report.html");
    assert!(report.contains("Rows left out") && report.contains("without the target <code>y</code>"));
    folder.write("p.yaml", yaml("train.csv", &filter));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out2"]);
    assert!(ran.out.contains("rows not of `kind is low`; "), "{}", ran.out);
    let planned = folder.vaglio(&["plan", "p.yaml"]);
    assert!(planned.out.contains("rows not of `kind is low`; "), "{}", planned.out);
    // A refusal names the row of the file, and predicting asks for no target.
    folder.write("q.yaml", yaml("train.csv", &format!("{columns}, rows: {{column: kind, is: low}}")));
    let refused = folder.vaglio(&["run", "q.yaml"]);
    let row = train.iter().position(|row| row[2] == "low" && row[8].is_empty()).unwrap() + 1;
    let words = format!("train.csv: row {row}, column `y`: an empty cell");
    assert!(refused.code == Some(3) && refused.err.contains(&words), "{}", refused.err);
    let predicted = folder.vaglio(&["predict", "--model", "out2/model.json", "--data", "test.csv"]);
    assert_eq!((predicted.code, predicted.out.lines().count()), (Some(0), 51), "{}", predicted.err);
}

#[test]
fn a_column_names_the_test_rows() {
    let folder = Folder::new("rows_named");
    let all: Vec<Vec<String>> = rows().into_iter().filter(|row| !row[8].is_empty()).collect();
    folder.write("all.csv", csv(&all));
    let is_test = |row: &&Vec<String>| row[3] == "F";
    folder.write("train.csv", csv(all.iter().filter(|row| !is_test(row))));
    folder.write("test.csv", csv(all.iter().filter(is_test)));
    let named = folder.run(&yaml("all.csv", "exclude: [when, w], test_rows: {column: part, is: F}"));
    let files = folder.run(&yaml("train.csv", "exclude: [when, w, part], test: test.csv"));
    let rows: Vec<usize> = (1..=all.len()).filter(|row| all[row - 1][3] == "F").collect();
    assert_eq!(named["data"]["test_rows"], json!(rows));
    for key in ["candidates", "selected", "score", "steps", "path", "test", "chosen", "nested"] {
        assert_eq!(named[key], files[key], "{key}");
    }
    let role = named["data"]["columns"].as_array().unwrap().iter().find(|column| column["name"] == "part").unwrap();
    assert_eq!(role["role"], "test_rows");
}

#[test]
fn rows_without_a_target_are_refused_with_what_to_set() {
    let folder = Folder::new("rows_missing");
    folder.write("all.csv", csv(&rows()));
    let refused = |data: &str, words: &[&str], code: i32| {
        folder.write("p.yaml", yaml("all.csv", data));
        let ran = folder.vaglio(&["run", "p.yaml"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{}", ran.err);
        for words in words {
            assert!(ran.err.contains(words), "{} lacks {words}", ran.err);
        }
    };
    let columns = "exclude: [when, part]";
    let remedy = "data.missing_target: drop";
    refused(&format!("{columns}, missing_target: refuse"), &["row 11, column `y`", "13 such cells", remedy], 3);
    let whole = "exclude: [when, part], rows: {column: y, from: -100}";
    refused(&format!("{whole}, weights: w"), &["row 17, column `w`", remedy], 3);
    refused("missing_target: dorp", &["`data.missing_target`", "did you mean `drop`?"], 2);
    let rows = |filter: &str| format!("{columns}, missing_target: drop, rows: {filter}");
    refused(&rows("{column: yaer, from: 1}"), &["`data.rows.column`", "did you mean `year`?"], 2);
    refused(&rows("[{column: year, from: 1}, {column: k}]"), &["`data.rows[1]`", "give `from`, `to` or `is`"], 2);
    refused(&rows("{column: year, from: 1, is: 2}"), &["`is` cannot be combined with `from` and `to`"], 2);
    refused(&rows("{column: kind, from: a}"), &["`data.rows.from`", "holds text", "give `is`"], 2);
    refused(&rows("{column: when, from: May}"), &["`data.rows.from`", "2024-01-31"], 2);
    refused(&rows("{column: kind, is: lov}"), &["`data.rows.is`", "did you mean `low`?"], 2);
    refused(&rows("{column: year, from: 3000}"), &["`data.rows`: no row is left where `year from 3000`"], 2);
    refused(&rows("{column: year, form: 3000}"), &["did you mean `from`?"], 2);
    refused(&rows("{column: year, is: []}"), &["at least one value"], 2);
    let test = |more: &str| format!("exclude: [when], missing_target: drop, {more}");
    refused(
        &test("test_rows: {column: part, is: F}, test_last: 0.2"),
        &["`data.test_rows`", "combined with `test_last`"],
        2,
    );
    refused(&test("test_rows: {column: part, is: X}"), &["`data.test_rows.is`", "there is no label `X`"], 2);
    refused(&test("test_rows: {column: part, is: [F, T]}"), &["`data.test_rows`", "none is left to train on"], 2);
    refused(&test("test_rows: {column: y, is: 1}"), &["`data.test_rows`: `y` is the target"], 2);
}
