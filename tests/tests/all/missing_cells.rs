//! Missing cells, dates and levels from file to prediction.

use crate::common::{Folder, pipeline, table};
use serde_json::Value;

/// Cells that are missing in a column of numbers and in one of text, dates, and a level that is rare.
fn torn(rows: usize) -> String {
    let gappy = |row: usize, y: f64| if row % 5 == 1 { String::new() } else { (y + (row % 7) as f64).to_string() };
    let when = |row: usize, _: f64| format!("2023-{:02}-{:02}", 1 + row % 12, 1 + row % 28);
    let city = |row: usize, _: f64| match row {
        3 => "turin".to_owned(),
        _ => ["rome", "oslo", "bonn", ""][row % 4].to_owned(),
    };
    table(rows, 4, &[("gappy", &gappy), ("when", &when), ("city", &city)])
}

fn candidates(record: &Value) -> Vec<&str> {
    record["candidates"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn a_torn_table_runs_and_new_rows_with_other_levels_are_predicted() {
    let folder = Folder::new("torn");
    folder.write("train.csv", torn(60));
    let maps = "preprocess:\n- date_parts\n- {kind: impute, how: most_frequent, columns: [city]}\n\
                - {kind: impute, indicator: true}\n- {kind: one_hot, rare: 3}\n- standardize\n";
    let search = "search: {kind: greedy, max_features: 3, choose: last}";
    let done = folder.run(&pipeline(&format!("{maps}{search}")));
    let names = candidates(&done);
    for name in ["gappy", "gappy_missing", "when_days", "when_weekday", "city=bonn", "city=rome", "city=(rare)"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(!names.contains(&"city=turin") && !names.contains(&"when"), "{names:?}");
    folder.write(
        "new.csv",
        "x0,x1,x2,x3,gappy,when,city\n1,2,3,4,,2024-02-29,paris\n0,0,1,0,7,,\n1,1,1,1,3,2023-01-05,oslo\n",
    );
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
    // Only what was selected must be there.
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 4, "{}", ran.out);
}

#[test]
fn what_is_left_missing_is_refused_with_what_would_mend_it() {
    let folder = Folder::new("left");
    folder.write("train.csv", torn(30));
    for (maps, words) in [
        ("[date_parts, one_hot]", "row 2, column `gappy`"),
        ("[date_parts, {kind: impute, how: mean}, one_hot]", "`most_frequent` text too"),
        (
            "[{kind: impute, scope: fold}, date_parts, {kind: impute, how: most_frequent}, one_hot]",
            "`scope: fold` of impute cannot be had, since the criterion has no folds",
        ),
        (
            "[date_parts, {kind: impute, how: most_frequent, scope: fold}, one_hot]",
            "`scope: fold` cannot be had, since the criterion has no folds; use `kfold` with `rls`",
        ),
    ] {
        folder.write("p.yaml", pipeline(&format!("preprocess: {maps}\ncriterion: loo")));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert!(ran.code == Some(2) || ran.code == Some(3), "{maps}: {ran:?}");
        assert!(ran.err.contains(words), "{maps}: {}", ran.err);
    }
}

#[test]
fn maps_are_fitted_in_each_fold_by_the_scope() {
    let folder = Folder::new("fold-maps");
    folder.write("train.csv", torn(60));
    let run = |scope: &str, learner: &str| {
        let lines = format!(
            "preprocess: [date_parts, {{kind: impute, how: most_frequent, scope: {scope}}}, {{kind: one_hot, rare: 3, scope: {scope}}}, standardize]\n\
             learner: {learner}\ncriterion: {{kind: kfold, folds: 5}}\nsearch: {{kind: greedy, max_features: 3, choose: {{rule: best, folds: 4}}}}\n"
        );
        folder.run(&pipeline(&lines))
    };
    for learner in ["rls", "{kind: rls, lambda: {grid: {from: 0.1, to: 10.0, points: 3}}}"] {
        let (train, fold) = (run("train", learner), run("fold", learner));
        assert_ne!(train["score"], fold["score"]);
        assert_eq!((&fold["pipeline"]["engine"], &fold["candidates"]), (&"moments".into(), &train["candidates"]));
        assert!(fold["chosen"]["cross_validated"].as_f64().is_some(), "{}", fold["chosen"]);
    }
    let planned = folder.vaglio(&["plan", "p.yaml"]);
    assert!(planned.out.contains("maps are fitted in each fold"), "{planned:?}");
    let refused = pipeline(
        "preprocess: [date_parts, {kind: impute, how: most_frequent, scope: fold}, one_hot]\nlearner: {kind: elm, units: 5}\ncriterion: kfold\n",
    );
    folder.write("elm.yaml", refused);
    let ran = folder.vaglio(&["run", "elm.yaml"]);
    assert!(ran.code == Some(2) && ran.err.contains("the learner makes columns of its own"), "{ran:?}");
}

#[test]
fn means_of_each_fold_fill_it_by_the_scope() {
    let folder = Folder::new("fold-means");
    let gappy = |row: usize, y: f64| if row % 3 == 1 { "NA".to_owned() } else { (y + (row % 7) as f64).to_string() };
    folder.write("train.csv", table(60, 3, &[("gappy", &gappy)]));
    let score = |scope: &str, rest: &str| {
        let lines = format!(
            "preprocess: [{{kind: impute, scope: {scope}}}{rest}]\ncriterion: {{kind: kfold, folds: 5}}\nsearch: {{kind: all, choose: best}}\n"
        );
        folder.run(&pipeline(&lines))["score"].as_f64().unwrap()
    };
    for rest in ["", ", {kind: standardize, scope: train}", ", {kind: standardize, scope: fold}"] {
        assert_eq!(score("auto", rest), score("fold", rest), "{rest}");
        assert_ne!(score("train", rest), score("fold", rest), "{rest}");
    }
}
