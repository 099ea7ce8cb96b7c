//! Pipelines with a map of the target: the path is that of a mapped file, figures are in the target's units.

use crate::common::Folder;
use serde_json::Value;
use vaglio_testkit::SplitMix64;

const REST: &str = "learner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0]}}
search: {kind: greedy, max_features: 4}
evaluate: {nested: {folds: 4}, permutations: 5, intervals: 0.8}
";

/// A table whose target is that of `map`.
fn table(rows: usize, map: impl Fn(f64) -> f64) -> String {
    let mut random = SplitMix64::new(21);
    let mut text = String::from("a,b,c,d,e,price\n");
    for _ in 0..rows {
        let x: Vec<f64> = (0..5).map(|_| random.normal()).collect();
        let y = (2.0 + x[0] + 0.6 * x[1] + 0.5 * random.normal()).exp();
        x.iter().for_each(|x| text += &format!("{x},"));
        text += &format!("{}\n", map(y));
    }
    text
}

fn numbers(record: &Value, key: &str) -> Vec<f64> {
    record["path"].as_array().unwrap().iter().map(|entry| entry[key].as_f64().unwrap()).collect()
}

#[test]
fn the_path_is_that_of_a_file_whose_target_was_mapped() {
    let folder = Folder::new("target_map");
    folder.write("train.csv", table(60, |y| y));
    folder.write("mapped.csv", table(60, f64::ln_1p));
    let data =
        |file: &str| format!("version: 1\nseed: 2\ndata: {{train: {file}, target: price, test_fraction: 0.2}}\n");
    let mapped = folder.run(&format!("{}{REST}", data("mapped.csv")));
    let own = folder.run(&format!("{}target_map: log1p\n{REST}", data("train.csv")));
    // Each walk is made at one λ, and the one that is taken may differ, since it is judged in other units.
    let at =
        |file: &str, map: &str| format!("{}{map}{}", data(file), REST.replace("{values: [0.1, 1.0, 10.0]}", "1.0"));
    let (a, b) = (folder.run(&at("mapped.csv", "")), folder.run(&at("train.csv", "target_map: log1p\n")));
    for (a, b) in numbers(&a, "score").iter().zip(numbers(&b, "score")) {
        assert!((a - b).abs() <= 1e-12 * a.abs(), "{a} {b}");
    }
    assert_eq!(a["steps"][0]["name"], b["steps"][0]["name"]);
    // A squared error of prices of about 12 is no squared error of logarithms.
    for (key, figure) in [("nested", &own["nested"]), ("test", &own["test"])] {
        assert!(figure["loss"].as_f64().unwrap() > 20.0 * mapped[key]["loss"].as_f64().unwrap(), "{key}: {figure}");
    }
    assert!(own["chosen"]["cross_validated"].as_f64().unwrap() > 20.0 * own["score"].as_f64().unwrap());
    assert_eq!((&own["pipeline"]["target_map"], &mapped["pipeline"]["target_map"]), (&"log1p".into(), &Value::Null));
    let shown = folder.vaglio(&["run", "p.yaml", "--out", "again"]);
    assert!(
        shown.out.contains(" on the scale of log1p, lambda") || shown.err.contains(" on the scale of log1p, lambda"),
        "{shown:?}"
    );
    assert!(folder.read("again/report.html").contains("on the scale of log1p"));
    assert!(folder.read("again/resolved.yaml").contains("target_map:"));
}

#[test]
fn predictions_and_intervals_are_in_the_units_of_the_target() {
    let folder = Folder::new("target_map_predict");
    folder.write("train.csv", table(80, |y| y));
    let record = folder.run(&format!(
        "version: 1\nseed: 2\ndata: {{train: train.csv, target: price, test_fraction: 0.25}}\ntarget_map: {{kind: power}}\n{REST}"
    ));
    folder
        .vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv", "--interval", "--out", "p.csv"])
        .succeeded();
    let predictions: Vec<Vec<f64>> = folder
        .read("p.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let targets: Vec<f64> = folder
        .read("train.csv")
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    // The test rows' loss is that of their predictions.
    let rows: Vec<usize> =
        record["data"]["test_rows"].as_array().unwrap().iter().map(|r| r.as_u64().unwrap() as usize - 1).collect();
    let loss = rows.iter().map(|&r| (targets[r] - predictions[r][0]).powi(2)).sum::<f64>() / rows.len() as f64;
    assert!((loss - record["test"]["loss"].as_f64().unwrap()).abs() < 1e-9 * loss);
    let held = targets.iter().zip(&predictions).filter(|(y, p)| (p[1]..=p[2]).contains(y)).count();
    assert!(held >= 60, "{held}");
}

#[test]
fn what_cannot_be_mapped_is_refused_with_its_place() {
    let folder = Folder::new("target_map_refused");
    folder.write(
        "train.csv",
        table(20, |y| if (y - 2.0).abs() < 40.0 { y } else { 1.0 }).replace("price\n", "price\n0,0,0,0,0,-3\n"),
    );
    folder.write("classes.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n");
    for (train, target, map, words) in [
        ("train.csv", "price", "log", "row 1, column `price`: target_map log takes positive numbers, and this is -3"),
        ("train.csv", "price", "log1p", "row 1, column `price`: target_map log1p takes numbers above -1"),
        (
            "train.csv",
            "price",
            "{kind: power, method: box_cox}",
            "row 1, column `price`: target_map power takes positive",
        ),
        ("classes.csv", "y", "log1p", "`target_map`: it is of numbers, and the task is binary"),
        ("train.csv", "price", "{kind: power, lambda: 9}", "`target_map.lambda`: 9 is not between -5 and 5"),
        ("train.csv", "price", "sqrt", "log1p"),
    ] {
        folder.write("p.yaml", format!("version: 1\ndata: {{train: {train}, target: {target}}}\ntarget_map: {map}\n"));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert!(ran.code == Some(2) || ran.code == Some(3), "{map}: {ran:?}");
        assert!(ran.err.contains(words), "{map}: {}", ran.err);
    }
}

/// A price whose few large values drown what a column says of its logarithm.
fn heavy(rows: usize) -> String {
    let mut random = SplitMix64::new(5);
    let mut text = String::from("a,b,price\n");
    for _ in 0..rows {
        let (a, b, noise) = (random.normal(), random.normal(), random.normal());
        text += &format!("{a},{b},{}\n", (a + 4.0 * noise).exp());
    }
    text
}

#[test]
fn sizes_are_chosen_on_the_scale_that_is_asked_for_and_it_is_said_where_the_scales_part() {
    let folder = Folder::new("judge");
    folder.write("train.csv", heavy(2500));
    let chosen = |judge: &str| {
        let data = "version: 1\ndata: {train: train.csv, target: price}\ntarget_map: log\n";
        folder.write(
            "p.yaml",
            format!("{data}search: {{kind: greedy, max_features: 1, choose: {{folds: 5, judge: {judge}}}}}\n"),
        );
        let told = folder.vaglio(&["run", "p.yaml", "--out", "out"]).out;
        (folder.json("out/selection.json"), told)
    };
    let (original, told) = chosen("original");
    assert!(original["selected"].as_array().unwrap().is_empty(), "{told}");
    assert!(
        told.contains("of the mapped target choose 1 column; `choose: {judge: mapped}` takes the latter"),
        "{told}"
    );
    let (mapped, told) = chosen("mapped");
    assert_eq!(mapped["selected"][0]["name"], "a", "{told}");
    assert!(told.contains("choose no column; `choose: {judge: original}` takes the latter"), "{told}");
    assert!(told.lines().any(|line| line.contains("-fold error") && line.contains(" on the scale of log")), "{told}");
    // The loss of none is about the variance of the logarithms.
    let text = folder.read("train.csv");
    let logs: Vec<f64> =
        text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap().ln()).collect();
    let mean = logs.iter().sum::<f64>() / 2500.0;
    let variance = logs.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / 2500.0;
    let empty = mapped["chosen"]["empty_loss"].as_f64().unwrap();
    assert!((empty / variance - 1.0).abs() < 0.03, "{empty} {variance}");
    assert!(original["chosen"]["empty_loss"].as_f64().unwrap() > 10.0 * variance);
}
