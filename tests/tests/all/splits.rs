//! Validation sets and repeated folds, from the command line.

use crate::common::{Folder, pipeline, table, timeless};
use serde_json::Value;

fn part(row: usize) -> &'static str {
    if row % 3 == 1 { "validation" } else { "train" }
}

/// The rows of the table that a part has, without the column of parts.
fn rows_of(text: &str, word: &str) -> String {
    let kept = text.lines().enumerate().filter(|(line, text)| *line == 0 || text.ends_with(&format!(",{word}")));
    kept.map(|(_, text)| format!("{}\n", text.rsplit_once(',').unwrap().0)).collect()
}

#[test]
fn a_validation_set_is_judged_by_a_model_of_the_other_rows() {
    let folder = Folder::new("given");
    let text = table(40, 6, &[("part", &|row, _| part(row).into())]);
    folder.write("train.csv", &text);
    let search = "search: {kind: greedy, max_features: 3, choose: last}\n";
    let given =
        folder.run(&pipeline(&format!("{search}criterion: {{kind: kfold, splits: {{kind: given, column: part}}}}")));
    assert_eq!(given["data"]["features"], 6);
    let names: Vec<&str> = given["selected"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    folder.write("train.csv", rows_of(&text, "train"));
    folder.write("test.csv", rows_of(&text, "validation"));
    let forced = format!("search: {{kind: greedy, max_features: 3, choose: last, forced: [{}]}}", names.join(", "));
    let apart = folder.run(&pipeline(&forced).replace("train: train.csv", "train: train.csv, test: test.csv"));
    let (score, loss) = (given["score"].as_f64().unwrap(), apart["test"]["loss"].as_f64().unwrap());
    assert!((score / loss - 1.0).abs() < 1e-10, "{score} is not {loss}");
}

#[test]
fn plans_and_errors_name_what_is_held_out() {
    let folder = Folder::new("given-errors");
    let lines = "criterion: {kind: kfold, splits: {kind: given, column: part}}";
    folder.write("train.csv", table(40, 6, &[("part", &|row, _| part(row).into())]));
    folder.write("p.yaml", pipeline(lines));
    let ran = folder.vaglio(&["plan", "p.yaml"]);
    assert!(ran.out.contains("fold 1   13 rows held out, 27 to train on"), "{ran:?}");
    folder.write("p.yaml", pipeline("criterion: {kind: kfold, splits: {kind: repeated, folds: 4, repeats: 2}}"));
    let plain = folder.vaglio(&["plan", "p.yaml", "--set", "data.exclude=[part]"]);
    assert!(plain.out.contains("2 times 4 of 10 rows each"), "{plain:?}");
    folder.write(
        "train.csv",
        table(40, 6, &[("part", &|row, _| if row == 7 { "test".into() } else { part(row).into() })]),
    );
    folder.write("p.yaml", pipeline(lines));
    folder
        .vaglio(&["run", "p.yaml"])
        .refused(2, "row 8 of the column `part` reads `test`; it is `train` or `validation`");
}

#[test]
fn what_repeats_the_search_goes_forward_with_the_criterion_and_is_told() {
    let folder = Folder::new("forward-around");
    folder.write("train.csv", table(120, 4, &[("t", &|row, _| (1000 + row).to_string())]));
    let lines = "criterion: {kind: kfold, splits: {kind: forward, folds: 2, gap: 1}}\n\
                 search: {kind: greedy, max_features: 2}\nevaluate: {nested: {folds: 3}, stability: {pairs: 2}}";
    folder.write("p.yaml", pipeline(lines));
    let settings = ["--set", "data.time=t"];
    let plan = folder.vaglio(&[&["plan", "p.yaml"][..], &settings].concat());
    for line in [
        "choose      5 blocks forward in time, each predicted from its past but for the 1 point just before it",
        "nested      3 blocks forward in time, each predicted from its past but for the 1 point just before it",
        "stability   halves of 10 pieces that stay whole",
    ] {
        assert!(plan.out.contains(line), "{line}: {plan:?}");
    }
    let run = |file: &str, out: &str, more: &[&str]| -> Value {
        let ran = folder.vaglio(&[&["run", file, "--out", out, "--json"], more].concat()).succeeded();
        serde_json::from_str(&ran.out).unwrap()
    };
    let first = run("p.yaml", "out", &settings);
    // Of 120 points each of three blocks has 30, and the first 30 are held out by none.
    let rows: Vec<u64> =
        first["nested"]["per_fold"].as_array().unwrap().iter().map(|f| f["rows"].as_u64().unwrap()).collect();
    assert_eq!(rows, [30, 30, 30]);
    assert!(first["nested"]["splits"].as_str().unwrap().starts_with("3 blocks forward in time"));
    assert!(folder.read("out/report.html").contains("3 blocks forward in time"));
    let resolved = folder.read("out/resolved.yaml");
    assert_eq!(resolved.matches("kind: forward").count(), 4, "{resolved}");
    let again = run("out/resolved.yaml", "again", &[]);
    assert_eq!(timeless(first), timeless(again));
}

#[test]
fn splits_around_the_search_may_be_given_by_a_column() {
    let folder = Folder::new("given-around");
    folder.write("train.csv", table(40, 6, &[("part", &|row, _| part(row).into())]));
    let lines = "search: {kind: greedy, max_features: 3}\nevaluate: {nested: {splits: {kind: given, column: part}}}";
    let found = folder.run(&pipeline(lines));
    assert_eq!(
        (&found["data"]["features"], &found["nested"]["per_fold"][0]["rows"]),
        (&Value::from(6), &Value::from(13))
    );
    // A fold that is alone is judged by no other, and size and λ are taken all the same.
    let chosen = folder.run(&pipeline("search: {kind: greedy, choose: {splits: {kind: given, column: part}}}"));
    assert_eq!(chosen["chosen"]["folds"], 1);
    assert!(chosen["chosen"]["cross_validated"].as_f64() < chosen["chosen"]["empty_loss"].as_f64());
    folder.write(
        "p.yaml",
        pipeline(&lines.replace("kind: greedy,", "kind: greedy, choose: {splits: {kind: forward, folds: 0}},")),
    );
    let refused = folder.vaglio(&["run", "p.yaml"]);
    assert!(refused.code == Some(2) && refused.err.contains("`search.choose.splits.folds`"), "{}", refused.err);
}
