//! Columns in single precision give what a table of rounded entries gives.

use crate::common::{Folder, Ran, names, timeless};
use crate::journal::run;
use serde_json::Value;
use std::fmt::Write as _;
use vaglio_testkit::SplitMix64;

const ROWS: usize = 160;
const COLUMNS: usize = 9;
const LEARNER: &str = "learner: {kind: rls, lambda: 0.001}\n";

/// Columns of several sizes, two far from 0, one of bytes; the target is made of four.
fn rows() -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut random = SplitMix64::new(391);
    let cell = |random: &mut SplitMix64, column: usize| match column {
        3 => 1000.0 + random.normal(),
        4 => 1e-6 * random.normal() - 0.02,
        7 => (random.uniform() * 200.0).floor(),
        8 => 1e12 * random.normal(),
        _ => random.normal(),
    };
    let rows: Vec<Vec<f64>> = (0..ROWS).map(|_| (0..COLUMNS).map(|c| cell(&mut random, c)).collect()).collect();
    let y = rows.iter().map(|x| x[1] - 2.0 * (x[3] - 1000.0) + 0.01 * x[7] + 5e5 * x[4] + 0.3 * random.normal());
    let y = y.collect();
    (rows, y)
}

fn written(folder: &Folder) {
    let (rows, y) = rows();
    let header: Vec<String> = (0..COLUMNS).map(|k| format!("x{k}")).collect();
    for (name, is_rounded) in [("doubles.csv", false), ("rounded.csv", true)] {
        let mut csv = header.join(",") + ",y,w\n";
        for (row, (x, y)) in rows.iter().zip(&y).enumerate() {
            let cells = x.iter().map(|x| if is_rounded { f64::from(*x as f32) } else { *x }.to_string());
            writeln!(csv, "{},{y},{}", cells.collect::<Vec<_>>().join(","), 0.1 + (row % 3) as f64).unwrap();
        }
        folder.write(name, csv);
    }
}

fn ran(folder: &Folder, data: &str, lines: &str, precision: &str) -> Value {
    // A column of 1e12 would make the grid of λ that of the data.
    let learner = if lines.contains("learner") { "" } else { LEARNER };
    folder.write(
        "p.yaml",
        format!(
            "version: 1\ndata: {{train: {data}, target: y, weights: w}}\n{lines}\n{learner}engine: {{precision: {precision}}}\n"
        ),
    );
    let Ran { code, out, err } = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet", "--json"]);
    assert_eq!(code, Some(0), "{lines}: {err}");
    timeless(serde_json::from_str(&out).unwrap())
}

#[test]
fn results_are_those_of_rounded_entries_to_the_bit() {
    let folder = Folder::new("single");
    written(&folder);
    let greedy = "search: {kind: greedy, max_features: 4, choose: last}";
    for lines in [
        format!("{greedy}\ncriterion: loo"),
        format!("{greedy}\ncriterion: {{kind: loo, loss: absolute}}"),
        format!("{greedy}\ncriterion: {{kind: kfold, folds: 5}}"),
        format!("{greedy}\ncriterion: {{kind: information}}\nlearner: {{kind: rls, lambda: 1.0e-9}}"),
        "search: {kind: greedy, max_features: 4, choose: {folds: 4}}\ncriterion: loo".into(),
        "search: {kind: backward, choose: best}\ncriterion: {kind: kfold, folds: 4, shuffle: true}".into(),
        "search: {kind: lars, max_features: 4, choose: last}\ncriterion: loo".into(),
        "search: {kind: exhaustive, max_features: 3, choose: best}\ncriterion: loo".into(),
        "search: {kind: rank, max_features: 4, choose: last}\ncriterion: loo".into(),
        format!(
            "{greedy}\ncriterion: {{kind: loo}}\nlearner: {{kind: elm, units: 20, direct: false, input_scaling: 1.0e-12}}"
        ),
    ] {
        let mut single = ran(&folder, "doubles.csv", &lines, "single");
        let mut rounded = ran(&folder, "rounded.csv", &lines, "double");
        let doubles = ran(&folder, "doubles.csv", &lines, "double");
        let single_of = |value: &mut Value| value["numerics"].as_object_mut().and_then(|n| n.remove("single"));
        let of_single = single_of(&mut single).unwrap();
        assert!(single_of(&mut rounded).is_none());
        let is_mapped = lines.contains("elm");
        let rounding = of_single["rounding"].as_f64().unwrap();
        assert!(rounding > 1e-9 && rounding < 1e-2, "{lines}: {rounding}");
        for value in [&mut single, &mut rounded] {
            value["data"]["digest"] = Value::Null;
            if value["numerics"]
                == serde_json::json!({"conditioning": 1.0, "remade": 0, "rebuilt": 0, "rows_kept_out": 0})
            {
                value["numerics"] = Value::Null;
            }
        }
        assert_eq!(single, rounded, "{lines}");
        // What rounding does to the score is about what the entries moved within it say.
        let score = |value: &Value| value["score"].as_f64().unwrap();
        let change = (score(&single) / score(&doubles) - 1.0).abs();
        assert_eq!(of_single["score_change"].is_null(), is_mapped, "{lines}: {of_single}");
        let Some(found) = of_single["score_change"].as_f64() else { continue };
        assert_eq!(names(&single), names(&doubles), "{lines}");
        assert!(change > 0.0 && change < 30.0 * found && found < 1e-2, "{lines}: {change} {found}");
    }
}

#[test]
fn maps_compute_in_doubles_and_what_they_make_is_rounded() {
    let folder = Folder::new("single-maps");
    written(&folder);
    for (map, criterion) in [
        ("{kind: standardize}", "{kind: kfold, folds: 5}"),
        ("{kind: standardize, scope: fold}", "{kind: kfold, folds: 5}"),
        ("{kind: standardize}, {kind: interactions, columns: [x1, x2, x7]}", "loo"),
        ("{kind: power, scope: fold}", "{kind: kfold, folds: 5}"),
    ] {
        let lines = format!(
            "search: {{kind: greedy, max_features: 4, choose: last}}\ncriterion: {criterion}\npreprocess: [{map}]"
        );
        let [single, doubles] = ["single", "double"].map(|precision| ran(&folder, "doubles.csv", &lines, precision));
        assert_eq!(names(&single), names(&doubles), "{map}");
        let of_single = &single["numerics"]["single"];
        let (rounding, change) = (of_single["rounding"].as_f64().unwrap(), of_single["score_change"].as_f64());
        assert!(rounding > 1e-9 && rounding < 1e-2, "{map}: {rounding}");
        assert_eq!(change.is_none(), map.contains("power"), "{map}");
        let [a, b] = [&single, &doubles].map(|value| value["score"].as_f64().unwrap());
        assert!(a != b && (a / b - 1.0).abs() < 1e-4, "{map}: {a} {b}");
    }
}

#[test]
fn columns_that_single_precision_cannot_hold_are_refused_by_name() {
    let folder = Folder::new("single-refused");
    let lines = "search: {kind: greedy, max_features: 2, choose: last}\ncriterion: loo";
    for (cell, words) in [
        ("1e39", "`engine.precision`: column `b`: single precision holds 0 and numbers from 1.2e-38 to 3.4e38"),
        ("1e-42", "`engine.precision`: column `b`: single precision holds 0 and numbers from 1.2e-38 to 3.4e38"),
        ("", "column `b`"),
    ] {
        let mut csv = String::from("a,b,y\n");
        (0..20).for_each(|k| writeln!(csv, "{},{},{}", k * k, f64::from(k) + 0.5, (k * 7) % 11).unwrap());
        writeln!(csv, "3,{cell},5").unwrap();
        folder.write("train.csv", csv);
        folder.write(
            "p.yaml",
            format!("version: 1\ndata: {{train: train.csv, target: y}}\n{lines}\nengine: {{precision: single}}\n"),
        );
        for command in ["run", "plan"] {
            let Ran { code, err, .. } = folder.vaglio(&[command, "p.yaml"]);
            assert!(matches!(code, Some(2..=4)) && err.contains(words), "{cell}: {code:?} {err}");
        }
    }
    let mut csv = String::from("a,time,y\n");
    (0..20).for_each(|k| writeln!(csv, "{},{},{}", k * k, 1_700_000_000 + k, (k * 7) % 11).unwrap());
    folder.write("train.csv", csv);
    let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml"]);
    assert!(code == Some(2) && err.contains("column `time`: its entries differ, and are one number"), "{code:?} {err}");
}

#[test]
fn tables_in_scratch_space_are_rounded_too() {
    let folder = Folder::on_disk("single-scratch");
    written(&folder);
    let lines = "search: {kind: greedy, max_features: 4, choose: last}\ncriterion: {kind: kfold, folds: 5}";
    let runs = ["single", "double"].map(|precision| {
        folder.write("p.yaml", format!("version: 1\ndata: {{train: doubles.csv, target: y, weights: w, scratch: .}}\n{lines}\n{LEARNER}engine: {{precision: {precision}}}\n"));
        let Ran { code, out, err } = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet", "--json"]);
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str::<Value>(&out).unwrap()
    });
    let [single, double] = &runs;
    assert_eq!(names(single), names(double));
    let [a, b] = [single, double].map(|value| value["score"].as_f64().unwrap());
    let change = single["numerics"]["single"]["score_change"].as_f64().unwrap();
    assert!(a != b && (a / b - 1.0).abs() < 30.0 * change && change < 1e-2, "{a} {b} {change}");
}

#[test]
fn a_journal_of_doubles_is_not_one_of_singles() {
    let folder = Folder::new("single-resumed");
    written(&folder);
    let lines = "search: {kind: greedy, max_features: 3, choose: last}\ncriterion: loo";
    let pipeline = |precision: &str| {
        format!(
            "version: 1\ndata: {{train: doubles.csv, target: y, weights: w}}\n{lines}\nengine: {{precision: {precision}}}\n"
        )
    };
    for (first, second, is_alike) in [("double", "single", false), ("single", "single", true)] {
        folder.write("p.yaml", pipeline(first));
        run(&folder, first, &[]).succeeded();
        folder.write("p.yaml", pipeline(second));
        let Ran { code, err, .. } = run(&folder, first, &["--resume"]);
        assert_eq!(code == Some(0), is_alike, "{first} {second}: {code:?} {err}");
        assert!(is_alike || err.contains("to begin anew, leave `--resume` out"), "{err}");
    }
}
