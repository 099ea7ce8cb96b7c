//! Row weights: only their ratios matter, a row of weight 0 is absent, and whole ones repeat rows.

use crate::common::{Folder, column, names, table, timeless};
use serde_json::Value;
use vaglio_testkit::Tolerance;

/// Rows with weights between 0.5 and 2, times `unit`; every fourth row of `absent` more weighs 0.
fn weighted(unit: f64, absent: usize) -> String {
    let weight = |row: usize, _: f64| match row {
        row if row >= 40 => "0".to_owned(),
        row => (unit * (0.5 + f64::from(row as u32 * 7 % 16) / 10.0)).to_string(),
    };
    table(40 + absent, 8, &[("w", &weight), ("level", &|row, _| ["a", "b", "a", "c", "a"][row % 5].to_owned())])
}

/// The sum of the weights.
fn total() -> f64 {
    (0..40).map(|row| 0.5 + f64::from(row * 7 % 16) / 10.0).sum()
}

fn near(expected: &Value, found: &Value, what: &str) {
    match (expected.as_f64(), found.as_f64()) {
        (Some(expected), Some(found)) => Tolerance { tolerance: 1e-9, least: 1e-9 }.assert(expected, found, what),
        _ => assert_eq!(expected, found, "{what}"),
    }
}

#[test]
fn only_ratios_of_weights_matter() {
    let folder = Folder::new("weight-units");
    let units = [1.0, 1000.0, 1.0 / total()];
    units.iter().enumerate().for_each(|(k, unit)| folder.write(&format!("{k}.csv"), weighted(*unit, 0)));
    let measures = ["training", "gcv", "cp", "aic", "aicc", "bic"];
    let criteria = measures.map(|measure| format!("criterion: {{kind: information, measure: {measure}}}"));
    let others = [
        "criterion: hiton_pc\nsearch: {kind: rank, choose: best}",
        "criterion: {kind: hiton_pc, test: g_squared}\nsearch: {kind: rank, choose: best}",
        "criterion: {kind: hsic, estimator: unbiased}\nsearch: {kind: greedy, max_features: 2, choose: last}",
        "criterion: loo",
        "criterion: {kind: kfold, folds: 5}\nevaluate: {nested: {folds: 3}}",
        "preprocess: [{kind: one_hot, rare: 9}]\ncriterion: loo",
        "preprocess: [{kind: target_encode, columns: [level]}]\ncriterion: loo",
    ];
    let all = criteria.iter().map(|of| format!("{of}\nsearch: {{kind: greedy, choose: best}}"));
    for lines in all.chain(others.map(str::to_owned)) {
        for lambda in ["0.5", "auto"] {
            // The ends of a fitted grid are powers of ten.
            let units = if lambda == "auto" { &units[..2] } else { &units[..] };
            let run = |(k, unit): (usize, &f64)| {
                let lambda = match lambda {
                    "auto" => "{grid: auto}".to_owned(),
                    _ => (0.5 * unit).to_string(),
                };
                let exclude =
                    if lines.contains("level]") || lines.contains("one_hot") { "" } else { ", exclude: [level]" };
                let learner = format!("learner: {{kind: rls, lambda: {lambda}}}");
                folder.run(&format!(
                    "version: 1\ndata: {{train: {k}.csv, target: y, weights: w{exclude}}}\n{learner}\n{lines}\n"
                ))
            };
            let found: Vec<Value> = units.iter().enumerate().map(run).collect();
            for (other, unit) in found[1..].iter().zip(&units[1..]) {
                let what = format!("{lines}\nlambda {lambda}, weights times {unit}");
                assert_eq!(names(&found[0]), names(other), "{what}");
                near(&found[0]["score"], &other["score"], &what);
                near(&found[0]["chosen"]["cross_validated"], &other["chosen"]["cross_validated"], &what);
                let (own, path) = (found[0]["path"].as_array().unwrap(), other["path"].as_array().unwrap());
                for (own, entry) in own.iter().zip(path) {
                    ["size", "score", "mse", "freedom", "aicc", "bic", "cp"].iter().for_each(|key| {
                        near(&own[key], &entry[key], &format!("{key} of {what}"));
                    });
                }
            }
        }
    }
}

/// BIC of a weighted least-squares fit, as R's `lm` has it but for terms that no column changes: N counts rows.
#[test]
fn rows_are_counted_once_whatever_they_weigh() {
    let folder = Folder::new("weights-counted");
    folder.write("0.csv", weighted(1000.0, 0));
    let found = folder.run(
        "version: 1\ndata: {train: 0.csv, target: y, weights: w, exclude: [level]}\nlearner: {kind: rls, lambda: 1.0e-6}\n\
         search: {kind: greedy, max_features: 1, choose: last}\ncriterion: {kind: information, measure: bic}\n",
    );
    let entry = &found["path"][0];
    let mse = entry["mse"].as_f64().unwrap();
    let expected = 40.0 * mse.ln() + 3.0 * 40f64.ln();
    Tolerance { tolerance: 1e-8, least: 1.0 }.assert(expected, found["score"].as_f64().unwrap(), "score");
    Tolerance { tolerance: 1e-8, least: 1.0 }.assert(expected, entry["bic"].as_f64().unwrap(), "path[].bic");
}

#[test]
fn rows_of_weight_0_are_absent_from_test_shares_and_counts() {
    let folder = Folder::new("weight-0");
    folder.write("without.csv", weighted(1.0, 0));
    folder.write("with.csv", weighted(1.0, 12));
    for aside in ["test_last: 0.2", "test_fraction: 0.2", "test_rows: {column: level, is: c}"] {
        let run = |train: &str| {
            let exclude = if aside.contains("test_rows") { "" } else { ", exclude: [level]" };
            let found = folder.run(&format!(
                "version: 1\ndata: {{train: {train}.csv, target: y, weights: w, {aside}{exclude}}}\nlearner: {{kind: rls, lambda: 1.0}}\n"
            ));
            let mut found = timeless(found);
            drop(found["data"].as_object_mut().unwrap().remove("digest"));
            found
        };
        let (without, with) = (run("without"), run("with"));
        assert_eq!(without, with, "{aside}");
        let rows = with["data"]["rows"].as_u64().unwrap() + with["test"]["rows"].as_u64().unwrap();
        assert_eq!(rows, 40, "{aside}");
    }
}

/// Prediction intervals of whole weights, and figures, are those of rows that are repeated in one fold.
#[test]
fn intervals_of_whole_weights_are_those_of_repeated_rows() {
    let folder = Folder::new("weights-intervals");
    let weight = |row: usize, _: f64| (1 + row % 3).to_string();
    let text = table(36, 4, &[("w", &weight), ("f", &|row, _| format!("f{}", row % 4))]);
    let (header, rows) = text.split_once('\n').unwrap();
    let repeated = rows.lines().enumerate().map(|(row, line)| format!("{line}\n").repeat(1 + row % 3));
    folder.write("weighted.csv", &text);
    folder.write("repeated.csv", format!("{header}\n{}", repeated.collect::<String>()));
    let run = |train: &str, roles: &str| {
        let record = folder.run(&format!(
            "version: 1\ndata: {{train: {train}, target: y, groups: f, {roles}}}\nlearner: {{kind: rls, lambda: 1.0}}\n\
             criterion: {{kind: kfold, by: groups}}\nsearch: {{kind: greedy, max_features: 2, choose: last}}\n\
             evaluate: {{intervals: 0.8, nested: {{folds: 4}}}}\n"
        ));
        let predict = |data: &str, out: &str| {
            let command = ["predict", "--model", "out/model.json", "--data", data, "--interval", "--evaluate"];
            folder.vaglio(&[&command[..], &["--out", out]].concat()).succeeded().err
        };
        let figures = predict(train, "own.csv");
        predict("weighted.csv", "p.csv");
        let figures = figures.lines().filter(|line| !line.starts_with("rows")).map(str::to_owned);
        let predicted = folder.read("p.csv");
        let ends = ["lower", "upper"].map(|name| column(&predicted, name)).concat();
        let ends = ends.iter().map(|end| end.parse().unwrap()).collect::<Vec<f64>>();
        (record, figures.collect::<Vec<String>>(), ends)
    };
    let (weighted, repeated) = (run("weighted.csv", "weights: w"), run("repeated.csv", "exclude: [w]"));
    near(&repeated.0["nested"]["loss"], &weighted.0["nested"]["loss"], "nested loss");
    assert_eq!(weighted.1, repeated.1);
    assert!(weighted.1.iter().any(|line| line.contains("hold") && line.contains("median width")), "{:?}", weighted.1);
    assert_eq!(weighted.2.len(), 72);
    weighted.2.iter().zip(&repeated.2).for_each(|(end, other)| crate::common::near(*end, *other));
}

#[test]
fn figures_of_a_file_check_its_weights_as_a_run_does() {
    let folder = Folder::new("weights-evaluated");
    folder.write("train.csv", weighted(1.0, 0));
    let data = "data: {train: train.csv, target: y, weights: w, exclude: [level]}";
    folder.run(&format!(
        "version: 1\n{data}\nlearner: {{kind: rls, lambda: 1.0}}\nsearch: {{kind: all, choose: last}}\n"
    ));
    let evaluated = |table: String| {
        folder.write("new.csv", table);
        folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv", "--out", "p.csv", "--evaluate"])
    };
    let good = evaluated(weighted(1.0, 0)).succeeded();
    assert!(good.err.contains("rows                40\n"), "{}", good.err);
    // Rows of weight 0 are absent, and are predicted none the less.
    assert_eq!(evaluated(weighted(1.0, 12)).err, good.err);
    assert_eq!(folder.read("p.csv").lines().count(), 53);
    let row = |cell: &str| weighted(1.0, 0).replacen(",0.5,", &format!(",{cell},"), 1);
    for (cell, expected) in [
        ("-38.5", "row 1, column `w`: the weight -38.5 is negative"),
        ("", "row 1, column `w`: an empty cell"),
        ("heavy", "column `w`"),
    ] {
        let ran = evaluated(row(cell));
        assert!(ran.code.is_some_and(|code| code > 0) && ran.err.contains(expected), "{cell}: {ran:?}");
    }
    let unknown = evaluated(
        weighted(1.0, 0)
            .lines()
            .enumerate()
            .map(|(at, line)| match at {
                3 => {
                    line.split(',')
                        .enumerate()
                        .map(|(k, cell)| if k == 8 { "" } else { cell })
                        .collect::<Vec<_>>()
                        .join(",")
                        + "\n"
                }
                _ => format!("{line}\n"),
            })
            .collect(),
    );
    assert!(unknown.code == Some(3) && unknown.err.contains("row 3, column `y`"), "{unknown:?}");
    assert!(unknown.err.contains("leave such rows out of the file"), "{unknown:?}");
}

#[test]
fn nothing_bounds_a_loss_that_one_row_makes() {
    let folder = Folder::new("weight-alone");
    let weight = |row: usize, _: f64| if row == 3 { "1.0e15" } else { "1" }.to_owned();
    folder.write("train.csv", table(24, 3, &[("w", &weight)]));
    let data = "data: {train: train.csv, target: y, weights: w, test_last: 0.3}";
    let lines = "learner: {kind: rls, lambda: 1.0}\nsearch: {kind: greedy, max_features: 2}";
    let found = folder.run(&format!("version: 1\n{data}\n{lines}\n"));
    assert!(found["chosen"]["interval"].is_null(), "{}", found["chosen"]);
    folder.write("same.csv", "x,y\n".to_owned() + &"1,1\n2,-1\n3,1\n4,-1\n5,1\n6,-1\n".repeat(4));
    folder.write("p.yaml", "version: 1\ndata: {train: same.csv, target: y, test_last: 0.25}\nlearner: {kind: rls, lambda: 1.0e12}\nsearch: {kind: all, choose: last}\n");
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.code == Some(0) && ran.out.contains("no interval (rows are too few or err alike"), "{ran:?}");
}
