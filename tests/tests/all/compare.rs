//! `vaglio compare`: several runs in one table and on one page.

use crate::common::{Folder, pipeline_on, side, table};
use serde_json::Value;
use vaglio_report::StandardizedMoments;

/// A folder with data of numbers and of classes.
fn data(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(60, 6, &[("class", &side)]));
    folder
}

fn run(folder: &Folder, out: &str, target: &str, lines: &str) -> Value {
    folder.write("p.yaml", pipeline_on(target, &["y", "class"], lines));
    folder.vaglio(&["run", "p.yaml", "--out", out, "--quiet"]).succeeded();
    folder.json(&format!("{out}/selection.json"))
}

fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// Difference of two runs and the ends of its interval, as `compare` prints them to five digits.
fn difference(out: &str, runs: &str, pairing: &str) -> [f64; 3] {
    let line = out.lines().find_map(|line| line.strip_prefix(&format!("{runs}: nested ")));
    let numbers = line.and_then(|line| line.strip_suffix(&format!("), {pairing}")));
    let (mean, interval) = numbers.and_then(|numbers| numbers.split_once(" (95 % interval ")).expect(out);
    let (low, high) = interval.split_once(" to ").expect(out);
    [mean, low, high].map(|number| number.parse().expect(out))
}

#[test]
fn runs_on_the_same_folds_are_paired_row_by_row() {
    let folder = data("compare-rows");
    let first = run(&folder, "runs/small", "y", "learner: {kind: rls, lambda: 0.1}\nevaluate: {nested: {folds: 4}}");
    let second = run(&folder, "runs/large", "y", "learner: {kind: rls, lambda: 30}\nevaluate: {nested: {folds: 4}}");
    let ran = folder.vaglio(&["compare", "runs/small", "runs/large", "--out", "both.html"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "wrote both.html\n"));
    let (a, b) = (list(&first["nested"]["paired"]["losses"]), list(&second["nested"]["paired"]["losses"]));
    assert_eq!((a.len(), b.len()), (60, 60));
    let mean_of = |losses: &[f64]| losses.iter().sum::<f64>() / 60.0;
    assert!((mean_of(&a) - first["nested"]["loss"].as_f64().unwrap()).abs() < 1e-12);
    let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    let mean = mean_of(&apart);
    // The interval of a mean of skewed differences, of models one more than those that were judged.
    let squares = apart.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>();
    let error = (4.0_f64 / 3.0 * squares / 59.0 / 60.0).sqrt();
    let [low, high] = StandardizedMoments::from_deviations(apart.iter().map(|d| d - mean)).interval(mean, error, 0.95);
    let told = difference(&ran.out, "small - large", "paired by 60 rows");
    for (told, value) in told.into_iter().zip([mean, low, high]) {
        assert!((told - value).abs() < 1e-4 * value.abs(), "{told} is not {value}");
    }
    let mut lines = ran.out.lines();
    assert!(lines.next().unwrap().starts_with("run    made by"), "{}", ran.out);
    let small = lines.next().unwrap();
    for value in [&first["score"], &first["chosen"]["cross_validated"], &first["nested"]["loss"]] {
        assert!(small.contains(&vaglio::core::short(value.as_f64().unwrap())), "{small}");
    }
    assert!(small.ends_with(&first["selected"].as_array().unwrap().len().to_string()), "{small}");
    let page = folder.read("both.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && page.trim_end().ends_with("</html>"));
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
    for name in ["small", "large", "x1", "x2"] {
        assert!(page.contains(&format!(">{name}<")), "{name}");
    }
}

#[test]
fn losses_of_all_rows_together_are_paired_by_fold() {
    let folder = data("compare-folds");
    let lines = |lambda: f64| {
        format!(
            "learner: {{kind: rls, lambda: {lambda}}}\ncriterion: {{kind: loo, loss: auc}}\nevaluate: {{nested: {{folds: 3}}}}"
        )
    };
    let first = run(&folder, "a/run", "class", &lines(0.1));
    let second = run(&folder, "b/run", "class", &lines(300.0));
    assert!(first["nested"]["paired"]["losses"].is_null());
    // Folders of one name are told as they were given.
    let ran = folder.vaglio(&["compare", "a/run", "b/run"]).succeeded_silently();
    let folds = |record: &Value| -> Vec<(f64, f64)> {
        let fold = |fold: &Value| (fold["loss"].as_f64().unwrap(), fold["rows"].as_f64().unwrap());
        record["nested"]["per_fold"].as_array().unwrap().iter().map(fold).collect()
    };
    let pairs = || folds(&first).into_iter().zip(folds(&second)).map(|((a, rows), (b, _))| (a - b, rows));
    let total: f64 = pairs().map(|(_, rows)| rows).sum();
    let mean = pairs().map(|(d, rows)| rows * d).sum::<f64>() / total;
    let [told, ..] = difference(&ran.out, "a/run - b/run", "paired by 3 outer folds");
    assert!((told - mean).abs() < 1e-4 * mean.abs(), "{told} is not {mean}");
    assert!(ran.out.contains("1 - auc"), "{}", ran.out);
}

#[test]
fn runs_of_other_things_are_told_and_not_subtracted() {
    let folder = data("compare-others");
    let nested = "evaluate: {nested: {folds: 3}}";
    run(&folder, "plain", "y", nested);
    run(&folder, "none", "y", "");
    run(&folder, "seed", "y", &format!("seed: 5\n{nested}"));
    run(&folder, "absolute", "y", &format!("criterion: {{kind: loo, loss: absolute}}\n{nested}"));
    run(&folder, "class", "class", nested);
    folder.write("train.csv", table(61, 6, &[("class", &side)]));
    run(&folder, "data", "y", nested);
    for (other, words) in [
        ("none", "none has no outer folds; run it with `--nested 5`"),
        ("seed", "the outer folds do not hold out the same rows; give both runs the same seed and folds"),
        ("absolute", "one loss is `squared`, the other `absolute`"),
        ("class", "the targets are not the same"),
        ("data", "the training data are not the same"),
    ] {
        let ran = folder.vaglio(&["compare", "plain", other, "--out", "page.html"]).succeeded();
        assert!(ran.out.contains(&format!("plain - {other}: not compared: {words}\n")), "{}", ran.out);
    }
    let ran = folder.vaglio(&["compare", "plain", "none", "seed", "class"]);
    assert_eq!(ran.out.lines().count(), 1 + 4 + 1 + 6, "{}", ran.out);
}

#[test]
fn what_is_no_result_is_refused() {
    let folder = data("compare-refused");
    run(&folder, "good", "y", "");
    let ran = folder.vaglio(&["compare", "good"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    folder.vaglio(&["compare", "good", "nowhere"]).refused(3, "nowhere/selection.json: there is no such file");
    let text = folder.read("good/selection.json").replace("vaglio.selection/2", "vaglio.selection/1");
    folder.write("old/selection.json", text);
    folder
        .vaglio(&["compare", "good", "old", "--out", "page.html"])
        .refused(3, "it is of version `vaglio.selection/1`");
    assert!(!folder.path("page.html").exists());
}
