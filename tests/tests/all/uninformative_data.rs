//! Data whose columns tell nothing of the target, from the command line.

use crate::common::{Folder, case_stride, pipeline};
use serde_json::Value;

/// Columns of 1 and −1 that are orthogonal to the target and to each other; of rows that differ in the target alone one
/// follows the other.
fn orthogonal(name: &str) -> Folder {
    let folder = Folder::new(name);
    let mut text = String::from("a,b,c,d,y\n");
    for row in 0..32 {
        let sign = |bits: u32| if (row & bits).count_ones().is_multiple_of(2) { 1 } else { -1 };
        text += &format!("{},{},{},{},{}\n", sign(2), sign(4), sign(8), sign(16), 5 + sign(1));
    }
    folder.write("train.csv", text);
    folder
}

fn numbers(lines: &str) -> String {
    pipeline(lines).replace("target: y", "target: y, task: regression")
}

#[test]
fn no_column_is_taken_and_a_sentence_says_so() {
    let folder = orthogonal("empty");
    let rules = [
        ("best", "no subset on the path beats the empty one"),
        ("one_se", "no subset on the path beats the empty one"),
        ("{rule: best, folds: 4}", "no size has a lower cross-validated loss than the baseline"),
    ];
    let lambdas = ["1.0", "{values: [0.1, 1.0, 10.0], per: path}", "{values: [0.1, 1.0, 10.0], per: subset}"];
    let criteria = ["loo", "{kind: kfold, folds: 8}"];
    let learned: Vec<(&str, &str)> = lambdas.iter().flat_map(|lambda| criteria.map(|c| (*lambda, c))).collect();
    let kinds = ["greedy", "floating", "exhaustive", "rank", "random", "beam"];
    let searched: Vec<_> = kinds.iter().flat_map(|kind| rules.map(|(choose, why)| (kind, choose, why))).collect();
    let cases = learned.iter().flat_map(|learner| searched.iter().map(move |search| (learner, search)));
    // At a distance of five, each learner, criterion, search and rule has a turn.
    for ((lambda, criterion), (kind, choose, why)) in cases.step_by(case_stride(5)) {
        let lines = format!(
            "criterion: {criterion}\nlearner: {{kind: rls, lambda: {lambda}}}\n\
             search: {{kind: {kind}, choose: {choose}, max_features: 3}}"
        );
        folder.write("p.yaml", numbers(&lines));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert_eq!(ran.code, Some(0), "{lines}\n{}", ran.err);
        assert!(ran.out.contains(&format!("No column is taken: {why}.")), "{lines}\n{}", ran.out);
        assert!(ran.out.starts_with("target  y\n\n0 of 4 columns"), "{lines}\n{}", ran.out);
        let selection = folder.json("out/selection.json");
        assert_eq!((&selection["chosen"]["size"], &selection["selected"]), (&0.into(), &Value::Array(Vec::new())));
        assert_eq!(selection["score"], selection["empty_score"], "{lines}");
        assert!(!selection["path"].as_array().unwrap().is_empty(), "{lines}");
    }
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).succeeded();
    assert!(ran.out.lines().skip(1).all(|line| line.parse() == Ok(5.0)), "{}", ran.out);
    assert!(folder.read("out/report.html").contains("None of 4 columns is chosen"));
}

#[test]
fn no_column_is_taken_for_the_rounding_of_a_constant_target() {
    let folder = Folder::new("constant-target");
    for rows in [32, 48] {
        let mut text = String::from("x,y\n");
        for row in 0..rows {
            text += &format!("{},5\n", (0.61 * f64::from(row)).sin());
        }
        folder.write("train.csv", text);
        let selection = folder.run(&pipeline("search: greedy"));
        assert_eq!((&selection["chosen"]["size"], &selection["chosen"]["gain_test"]["p"]), (&0.into(), &1.0.into()));
    }
    let methods = || folder.vaglio(&["export", "out", "--to", "methods"]).succeeded().out;
    let told = methods();
    assert!(!told.contains("as the size of the lowest loss") && told.contains("No column is taken"), "{told}");
    assert!(told.contains("statistical tests: of the gain over no column, p = 1, by paired losses"), "{told}");
    let last = "{kind: greedy, choose: {within: 0.1, at_most: 3, require_gain: never}}";
    for search in [last, &format!("[{{kind: rank}}, {last}]")] {
        folder.run(&pipeline(&format!("search: {search}")));
        let told = methods();
        assert!(told.contains("a loss at most 10 % above the lowest, of at most 3 columns."), "{told}");
    }
}

#[test]
fn columns_that_are_asked_for_are_taken_all_the_same() {
    let folder = orthogonal("asked");
    for (search, size) in [
        ("{kind: floating, choose: best, min_features: 1}", 1),
        ("{kind: greedy, choose: best, forced: [c]}", 1),
        ("{kind: exhaustive, choose: 2}", 2),
        ("{kind: greedy, choose: last, max_features: 3}", 3),
        ("{kind: backward, choose: best}", 1),
    ] {
        let selection = folder.run(&numbers(&format!("search: {search}")));
        assert_eq!(selection["chosen"]["size"], size, "{search}");
    }
    let size = |search: &str| folder.run(&numbers(search))["chosen"]["size"].clone();
    assert_eq!(size("search: backward"), 0, "cross-validated, the empty subset is one of the sizes");
    assert_eq!(size("search: {kind: backward, min_features: 1}"), 1);
    folder.run(&numbers("search: {kind: backward, choose: best}"));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.out.contains("No subset on the path beats the empty one."), "{}", ran.out);
}
