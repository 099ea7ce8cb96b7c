//! New rows are read by the notation of the training rows: decimal mark, thousands, percent, currency, truth, levels, zones.

use crate::common::{Folder, Ran};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, TimestampSecondArray};
use parquet::arrow::ArrowWriter;
use std::fmt::Write;
use std::fs::File;
use std::sync::Arc;

const ALL: &str = "learner: {kind: rls, lambda: 1.0}\nsearch: {kind: all, choose: last}\n";

/// A table of one column `a` as `written` writes numbers, with a target of about twice as much; cells have semicolons between.
fn numbers(written: impl Fn(f64) -> String) -> String {
    let mut text = "a;y\n".to_owned();
    for row in 0..20 {
        let a = 1000.0 + f64::from(row * 7 % 20) + 0.125;
        writeln!(text, "{};{}", written(a), 2 * row * 7 % 40).unwrap();
    }
    text
}

fn predicted(folder: &Folder, cell: &str) -> Ran {
    folder.write("new.csv", format!("a;b\n{cell};1\n"));
    folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"])
}

/// A name, how training rows are written, cells that may follow, and cells that are refused with words.
type Notated<'n> = (&'n str, &'n dyn Fn(f64) -> String, &'n [&'n str], &'n [(&'n str, &'n str)]);

#[test]
fn numbers_of_new_rows_are_written_as_in_training_or_refused() {
    let folder = Folder::new("notation");
    let grouped = |a: f64| format!("{},{:03}", (a / 1000.0) as u32, a as u32 % 1000);
    let comma = |a: f64| a.to_string().replace('.', ",");
    let cases: [Notated<'_>; 6] = [
        (
            "points",
            &|a| a.to_string(),
            &["1004.606", "1004", "1e3"],
            &[
                ("4,606", "no thousands apart"),
                ("0,125", "decimal mark"),
                ("4.606%", "no percent sign"),
                ("$4.606", "no currency"),
            ],
        ),
        (
            "commas",
            &comma,
            &["1004,606", "1004"],
            &[("4.606", "no thousands apart"), ("0.125", "decimal mark"), ("4,606%", "no percent sign")],
        ),
        (
            "thousands",
            &grouped,
            &["1,004", "1004", "1,004.5"],
            &[("1,004%", "no percent sign"), ("0,125", "decimal mark")],
        ),
        ("percent", &|a| format!("{a}%"), &["95%", "95.5 %"], &[("95", "a percent sign"), ("0.95", "a percent sign")]),
        ("dollars", &|a| format!("${a}"), &["$5", "5"], &[("€5", "another currency"), ("$5%", "no percent sign")]),
        ("single", &|a| a.to_string(), &["1004.5"], &[("(1,004)", "no thousands apart")]),
    ];
    for (name, written, right, wrong) in cases {
        let data = numbers(written);
        folder.write("train.csv", &data);
        // Between semicolons a comma stands before decimals, unless the settings say otherwise.
        let point = if name == "thousands" { ", read: {decimal: \".\"}" } else { "" };
        let yaml = |more: &str| format!("version: 1\ndata: {{train: train.csv, target: y{point}{more}}}\n{ALL}");
        folder.run(&yaml(""));
        for cell in right {
            let ran = predicted(&folder, cell);
            assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 2), "{name} {cell}: {}", ran.err);
        }
        for (cell, words) in wrong {
            let ran = predicted(&folder, cell);
            let place = format!("row 1, column `a`: `{cell}`");
            assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{name} {cell}");
            assert!(ran.err.contains(&place) && ran.err.contains(words), "{name} {cell}: {}", ran.err);
            folder.write("test.csv", data.clone() + &format!("{cell};3\n"));
            folder.write("p.yaml", yaml(", test: test.csv"));
            let ran = folder.vaglio(&["run", "p.yaml", "--out", "other", "--quiet"]);
            let place = format!("test.csv: row 21, column `a`: `{cell}`");
            assert!(ran.code == Some(3) && ran.err.contains(&place), "{name} {cell}: {}", ran.err);
        }
    }
    // Targets too.
    folder.write("train.csv", numbers(|a| a.to_string()));
    folder.run(&format!("version: 1\ndata: {{train: train.csv, target: a}}\n{ALL}"));
    folder.write("new.csv", "y;a\n1;4,606\n2;5,606\n");
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv", "--evaluate"]);
    assert!(ran.code == Some(3) && ran.err.contains("row 1, column `a`: `4,606`"), "{}", ran.err);
}

fn parquet(folder: &Folder, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(folder.path(name)).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn truth_values_are_one_in_every_format() {
    let folder = Folder::new("truth");
    let truth = |row: usize| row * 5 % 7 < 3;
    let a = |row: usize| f64::from(u8::from(truth(row))) + (row * 3 % 5) as f64 / 9.0;
    let csv = |words: [&str; 2]| {
        let mut text = "a,t\n".to_owned();
        (0..30).for_each(|row| writeln!(text, "{},{}", a(row), words[usize::from(truth(row))]).unwrap());
        text
    };
    let files = ["d.csv", "upper.csv", "d.parquet"];
    folder.write("d.csv", csv(["false", "true"]));
    folder.write("upper.csv", csv(["FALSE", "TRUE"]));
    let columns = || -> Vec<(&str, ArrayRef)> {
        let numbers: Float64Array = (0..30).map(a).collect();
        vec![("a", Arc::new(numbers)), ("t", Arc::new((0..30).map(|row| Some(truth(row))).collect::<BooleanArray>()))]
    };
    parquet(&folder, "d.parquet", columns());
    let yaml = |train: &str, more: &str| format!("version: 1\ndata: {{train: {train}{more}}}\n{ALL}");
    let mut scores = Vec::new();
    for train in files {
        for (positive, classes) in
            [("", ["false", "true"]), (", positive: true", ["false", "true"]), (", positive: false", ["true", "false"])]
        {
            let found = folder.run(&yaml(train, &format!(", target: t{positive}")));
            assert_eq!(found["data"]["classes"], serde_json::json!(classes), "{train} {positive}");
            for other in files {
                let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", other, "--evaluate"]);
                assert_eq!(ran.code, Some(0), "{train} {other}: {}", ran.err);
            }
        }
        for other in files {
            let tested = folder.run(&yaml(train, &format!(", target: t, positive: false, test: {other}")));
            assert_eq!(tested["test"]["rows"], 30, "{train} {other}");
        }
        for lines in ["", ", types: {t: class}", ", types: {t: number}"] {
            let own = yaml(train, &format!(", target: a{lines}")).replace("learner", "preprocess: [one_hot]\nlearner");
            let found = folder.run(&own);
            scores.push((lines, found["score"].as_f64().unwrap(), found["candidates"].to_string().to_lowercase()));
            for other in files {
                let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", other]);
                assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{train} {other} {lines}");
            }
        }
    }
    for at in 3..9 {
        assert_eq!(scores[at], scores[at % 3]);
    }
}

#[test]
fn levels_that_training_rows_lack_are_counted_and_named() {
    let folder = Folder::new("levels");
    let table = |levels: [&str; 3], rows: usize| {
        let mut text = "c,x,y\n".to_owned();
        for row in 0..rows {
            writeln!(text, "{},{},{}", levels[row * 7 % 3], row * 5 % 11, 10 * (row * 7 % 3) + row % 2).unwrap();
        }
        text
    };
    folder.write("train.csv", table(["red", "green", "blue"], 30));
    folder.write("test.csv", table(["RED", "green", "n/b"], 9));
    let run = |map: &str, more: &str| {
        folder.run(&format!(
            "version: 1\ndata: {{train: train.csv, target: y, test: test.csv{more}}}\npreprocess: [{map}]\n{ALL}"
        ))
    };
    let said = "6 of `c` (`RED` in 3, `n/b` in 3)";
    let predict = || folder.vaglio(&["predict", "--model", "out/model.json", "--data", "test.csv"]);
    for map in ["one_hot", "target_encode", "{kind: ordinal, unknown: missing}, impute"] {
        let found = run(map, "");
        let warnings: Vec<&str> = found["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|warning| warning["kind"] == "unseen_levels")
            .filter_map(|warning| warning["message"].as_str())
            .collect();
        assert!(warnings.len() == 1 && warnings[0].contains(said), "{map}: {warnings:?}");
        let ran = predict();
        assert!(ran.code == Some(0) && ran.err.contains(said), "{map}: {}", ran.err);
    }
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!((ran.out.clone() + &ran.err).contains("`RED` in 3"), "{}{}", ran.out, ran.err);
    // Equal numbers are one level, however they are written; other text is not.
    folder.write("train.csv", table(["1", "2", "30"], 30));
    for levels in [["1", "2", "30"], ["1.0", "2.0", "30.0"], ["01", "2", "3e1"]] {
        folder.write("test.csv", table(levels, 9));
        for map in ["one_hot", "target_encode", "{kind: ordinal, order: {c: [1, 2, 30]}}"] {
            let found = run(map, ", types: {c: class}");
            // Means of levels are drawn towards that of all rows.
            let most = if map == "target_encode" { 5.0 } else { 2.0 };
            assert!(found["test"]["mse"].as_f64().unwrap() < most, "{map} {levels:?}: {}", found["test"]);
            assert!(!found["warnings"].to_string().contains("unseen"), "{map} {levels:?}");
            let ran = predict();
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{map} {levels:?}");
        }
    }
    folder.write("test.csv", table(["1", "2", "31"], 9));
    assert!(run("one_hot", ", types: {c: class}")["warnings"].to_string().contains("3 of `c` (`31` in 3)"));
}

#[test]
fn times_of_day_with_and_without_a_zone_are_not_mixed() {
    let folder = Folder::new("zones");
    let table = |written: &dyn Fn(usize) -> String| {
        let mut text = "d,y\n".to_owned();
        (0..24).for_each(|row| writeln!(text, "{},{}", written(row), row % 24).unwrap());
        text
    };
    let plain = |row: usize| format!("2024-01-{:02} {:02}:30", row + 1, row * 5 % 24);
    let zoned = |row: usize| format!("2024-01-{:02}T{:02}:30:00+05:00", row + 1, row * 5 % 24);
    let days = |row: usize| format!("2024-01-{:02}", row + 1);
    folder.write("plain.csv", table(&plain));
    folder.write("zoned.csv", table(&zoned));
    folder.write("days.csv", table(&days));
    folder.write("mixed.csv", table(&|row| if row == 7 { plain(row) } else { zoned(row) }));
    for (name, zone) in [("plain.parquet", None), ("zoned.parquet", Some("+05:00"))] {
        let moments = TimestampSecondArray::from_iter_values((0..24).map(|row| 1_704_067_200 + row * 90_000));
        let moments = match zone {
            Some(zone) => moments.with_timezone(zone),
            None => moments,
        };
        let y = Float64Array::from_iter_values((0..24).map(f64::from));
        parquet(&folder, name, vec![("d", Arc::new(moments)), ("y", Arc::new(y))]);
    }
    let yaml = |train: &str, more: &str| {
        format!("version: 1\ndata: {{train: {train}, target: y{more}}}\npreprocess: [date_parts]\n{ALL}")
    };
    for (train, own, others) in [
        (
            "plain.csv",
            &["plain.csv", "plain.parquet", "days.csv"][..],
            &["zoned.csv", "zoned.parquet", "mixed.csv"][..],
        ),
        ("zoned.csv", &["zoned.csv", "zoned.parquet", "days.csv"], &["plain.csv", "plain.parquet", "mixed.csv"]),
        ("zoned.parquet", &["zoned.csv", "zoned.parquet"], &["plain.csv", "plain.parquet"]),
        ("plain.parquet", &["plain.csv", "plain.parquet"], &["zoned.csv", "zoned.parquet"]),
        ("days.csv", &["days.csv", "plain.csv"], &["zoned.csv"]),
    ] {
        folder.run(&yaml(train, ""));
        let predict = |data: &str| folder.vaglio(&["predict", "--model", "out/model.json", "--data", data]);
        let test = |data: &str| {
            folder.write("p.yaml", yaml(train, &format!(", test: {data}")));
            folder.vaglio(&["run", "p.yaml", "--out", "other", "--quiet"])
        };
        for data in own {
            assert_eq!(
                (predict(data).code, test(data).code),
                (Some(0), Some(0)),
                "{train} {data}: {}",
                predict(data).err
            );
        }
        for data in others {
            for ran in [predict(data), test(data)] {
                let is_named =
                    ran.err.contains("column `d`") && ran.err.contains("time zone") && ran.err.contains("row ");
                assert!(ran.code == Some(3) && is_named, "{train} {data}: {}", ran.err);
            }
        }
    }
    folder.write("p.yaml", yaml("mixed.csv", ""));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]);
    assert!(ran.code == Some(3) && ran.err.contains("row 8, column `d`: `2024-01-08 11:30`"), "{}", ran.err);
}

#[test]
fn svmlight_counts_from_one_index_in_all_files() {
    let folder = Folder::new("index-base");
    let svm = |first: usize, rows: usize, skip: usize| {
        let mut text = String::new();
        for row in 0..rows {
            let x = [row * 7 % 11, row * 3 % 5, row * 5 % 13].map(|x| x + 1);
            write!(text, "{}", 5 * x[0] + 2 * x[2]).unwrap();
            (skip..3).for_each(|k| write!(text, " {}:{}", k + first, x[k]).unwrap());
            text.push('\n');
        }
        text
    };
    folder.write("one.svm", svm(1, 40, 0));
    folder.write("zero.svm", svm(0, 40, 0));
    folder.write("gap.svm", svm(0, 10, 1));
    let yaml = |train: &str, more: &str| format!("version: 1\ndata: {{train: {train}, target: target{more}}}\n{ALL}");
    let predict = |data: &str| folder.vaglio(&["predict", "--model", "out/model.json", "--data", data, "--evaluate"]);
    let test = |train: &str, data: &str| {
        folder.write("p.yaml", yaml(train, &format!(", test: {data}")));
        folder.vaglio(&["run", "p.yaml", "--out", "other"])
    };
    folder.run(&yaml("one.svm", ""));
    for ran in [predict("zero.svm"), test("one.svm", "zero.svm")] {
        assert!(ran.code == Some(3) && ran.err.contains("zero.svm") && ran.err.contains("the index 0"), "{}", ran.err);
    }
    assert_eq!((predict("one.svm").code, test("one.svm", "one.svm").code), (Some(0), Some(0)));
    folder.run(&yaml("zero.svm", ""));
    for (data, is_warned) in [("one.svm", true), ("zero.svm", false), ("gap.svm", true)] {
        for ran in [predict(data), test("zero.svm", data)] {
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            let said = ran.err + &ran.out;
            assert_eq!(said.contains("no row has the index 0"), is_warned, "{data}: {said}");
        }
    }
    // By the setting, files whose rows have no index 0 count from it, and others are refused.
    let found = folder.run(&yaml("gap.svm", ", read: {first_index: 0}"));
    assert_eq!(found["candidates"][0], "x0");
    folder.write("p.yaml", yaml("zero.svm", ", read: {first_index: 1}"));
    assert_eq!(folder.vaglio(&["run", "p.yaml", "--out", "other"]).code, Some(3));
    folder.write("p.yaml", yaml("zero.svm", ", read: {first_index: 2}"));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "other"]);
    assert!(ran.code == Some(2) && ran.err.contains("data.read.first_index"), "{}", ran.err);
}

#[test]
fn a_number_that_is_the_name_of_another_column_is_refused() {
    let folder = Folder::new("number-or-name");
    let mut text = "0,1,2,3,y\n".to_owned();
    (0..20).for_each(|row| {
        writeln!(text, "{},{},{},{},{}", row * 3 % 7, row * 5 % 11, row * 7 % 13, row * 2 % 5, row * 7 % 13 + row % 2)
            .unwrap()
    });
    folder.write("train.csv", text);
    let run = |exclude: &str, search: &str| {
        let search = format!("search: {{kind: greedy, choose: last, max_features: 2, {search}}}");
        folder.write("p.yaml", format!("version: 1\ndata: {{train: train.csv, target: y{exclude}}}\n{search}\n"));
        folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet", "--json"])
    };
    let without = ", exclude: [\"0\"]";
    for (search, name) in [("forced: [2]", "2"), ("excluded: [2]", "2"), ("blocks: {pair: [1, 2]}", "1")] {
        let ran = run(without, search);
        let key = search.split(':').next().unwrap();
        let is_said =
            ran.err.contains(&format!("`search.{key}")) && ran.err.contains(&format!("\"{name}\", in quotes"));
        assert!(ran.code == Some(2) && is_said, "{search}: {}", ran.err);
        let quoted = run(without, &search.replace('2', "\"2\"").replace("1,", "\"1\","));
        assert_eq!(quoted.code, Some(0), "{search}: {}", quoted.err);
        // Where the column of that name has that place there is no question.
        assert_eq!(run("", search).code, Some(0), "{search}");
    }
    let found: serde_json::Value = serde_json::from_str(&run(without, "forced: [\"2\"]").out).unwrap();
    assert!(found["selected"].as_array().unwrap().iter().any(|chosen| chosen["name"] == "2"));
    let ran = run(without, "forced: [3]");
    assert!(ran.err.contains("there is no column 3") && ran.err.contains("\"3\", in quotes"), "{}", ran.err);
}
