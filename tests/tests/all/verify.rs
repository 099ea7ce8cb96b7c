//! `--verify`: steps recomputed by plain retraining.

use crate::common::{Folder, pipeline, table};
use serde_json::Value;

fn verified(folder: &Folder, lines: &str, count: &str) -> Value {
    folder.write("p.yaml", pipeline(lines));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--verify", count, "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{lines}\n{}", ran.err);
    serde_json::from_str::<Value>(&ran.out).unwrap()
}

#[test]
fn steps_of_every_search_and_criterion_are_those_of_plain_retraining() {
    let folder = Folder::new("verify");
    folder.write("train.csv", table(30, 5, &[]));
    let searches = [
        "{kind: greedy, max_features: 4}",
        "backward",
        "floating",
        "{kind: exhaustive, max_features: 3}",
        "{kind: greedy, blocks: {p: [x0, x3]}}",
        "[{kind: rank, max_features: 4}, backward]",
    ];
    let criteria = ["loo", "{kind: kfold, folds: 5}", "nhsic", "{kind: information, measure: bic}"];
    for (criterion, search) in criteria.iter().flat_map(|criterion| searches.map(|search| (criterion, search))) {
        let lines = format!("criterion: {criterion}\nsearch: {search}");
        let found = verified(&folder, &lines, "1000");
        let told = match found["steps"].as_array().unwrap().len() {
            0 => found["path"].as_array().unwrap().len(),
            steps => steps,
        };
        assert_eq!(found["verify"]["steps"].as_u64(), Some(told as u64), "{lines}");
        let error = found["verify"]["max_relative_error"].as_f64().unwrap();
        assert!(error < 1e-9, "{lines}: {error}");
    }
    let lines = "learner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0]}}\nsearch: {kind: greedy, max_features: 4}";
    let found = verified(&folder, lines, "2");
    assert_eq!(found["verify"]["steps"], 2);
}

#[test]
fn scores_that_no_retraining_gives_are_not_verified() {
    let folder = Folder::new("verify-path");
    folder.write("train.csv", table(30, 5, &[]));
    let lines = "criterion: {kind: kfold, folds: 5}\nsearch: {kind: lars, coefficients: path}";
    folder.write("p.yaml", pipeline(lines));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--verify", "3"]);
    assert!(ran.code == Some(2) && ran.err.contains("`--verify`"), "{ran:?}");
    assert!(!folder.path("out/selection.json").exists());
}

/// Milliseconds since 1970, spread over seconds: predictions of that size have a ten thousandth left of their digits.
#[test]
fn targets_far_from_0_lose_no_digits() {
    let folder = Folder::new("verify-far");
    let plain = table(30, 5, &[]);
    let far = |row: &str| {
        let (x, y) = row.rsplit_once(',').unwrap();
        y.parse::<f64>().map_or(row.to_owned(), |y| format!("{x},{}", 1.7e12 + y))
    };
    folder.write("train.csv", plain.lines().map(far).collect::<Vec<_>>().join("\n") + "\n");
    for criterion in ["loo", "{kind: kfold, folds: 5}"] {
        let lines = format!("criterion: {criterion}\nsearch: {{kind: greedy, max_features: 3, choose: last}}");
        let error = verified(&folder, &lines, "3")["verify"]["max_relative_error"].as_f64().unwrap();
        assert!(error < 1e-9, "{lines}: {error}");
    }
}
