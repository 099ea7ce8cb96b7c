//! Balanced squares and orders as losses, removals in rounds, λ of all columns and reduced sets of kernels, from the command line.

use crate::common::{Folder, names, pipeline_on, side, table, third, timeless};
use serde_json::Value;
use vaglio_testkit::Tolerance;

const NEAR: Tolerance = Tolerance::relative(1e-10);

fn rare(row: usize, y: f64) -> String {
    if row.is_multiple_of(7) && y > 4.0 { "rare".into() } else { "often".into() }
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(84, 9, &[("side", &side), ("third", &third), ("rare", &rare)]));
    folder
}

fn on_target(target: &str, lines: &str) -> String {
    pipeline_on(target, &["y", "side", "third", "rare"], lines)
}

fn numbers(selection: &Value, pointer: &str, field: &str) -> Vec<f64> {
    let list = selection.pointer(pointer).unwrap().as_array().unwrap();
    list.iter().map(|entry| entry[field].as_f64().unwrap()).collect()
}

#[test]
fn classes_that_count_alike_by_squares_have_one_answer_in_every_engine() {
    let folder = folder("balanced-squared");
    for (target, learner) in [("rare", "rls"), ("third", "crrr"), ("rare", "crrr")] {
        let run = |engine: &str| {
            let criterion =
                format!("{{kind: kfold, folds: 4, stratified: true, loss: balanced_squared, engine: {engine}}}");
            let lines = format!(
                "learner: {{kind: {learner}, lambda: {{values: [0.1, 1, 10]}}}}\ncriterion: {criterion}\nsearch: {{kind: greedy, max_features: 4}}"
            );
            folder.write("p.yaml", on_target(target, &lines));
            let ran =
                folder.vaglio(&["run", "p.yaml", "--out", "out", "--json", "--quiet", "--verify", "4"]).succeeded();
            serde_json::from_str::<Value>(&ran.out).unwrap()
        };
        let (moments, rows) = (run("moments"), run("rows_held_out"));
        assert_eq!(
            (&moments["pipeline"]["engine"], &rows["pipeline"]["engine"]),
            (&"moments".into(), &"rows_held_out".into())
        );
        assert_eq!((names(&moments), &moments["lambda"]), (names(&rows), &rows["lambda"]));
        for field in ["score", "cross_validated"] {
            let both = [&moments, &rows].map(|run| numbers(run, "/path", field));
            both[0].iter().zip(&both[1]).for_each(|(a, b)| NEAR.assert(*a, *b, field));
        }
    }
    folder.write("p.yaml", on_target("y", "criterion: {kind: loo, loss: balanced_squared}"));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.code == Some(2) && ran.err.contains("the task is regression"), "{}", ran.err);
}

#[test]
fn an_order_is_judged_by_its_pairs() {
    let folder = folder("concordance");
    for criterion in ["{kind: loo, loss: concordance}", "{kind: kfold, folds: 5, shuffle: true, loss: concordance}"] {
        let lines = format!(
            "criterion: {criterion}\nsearch: {{kind: greedy, max_features: 3}}\nevaluate: {{nested: {{folds: 3}}}}"
        );
        folder.write("p.yaml", on_target("y", &lines));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--json", "--quiet", "--verify", "3"]).succeeded();
        let found: Value = serde_json::from_str(&ran.out).unwrap();
        assert!(found["score"].as_f64().unwrap() < 0.1 && found["nested"]["loss"].as_f64().unwrap() < 0.15, "{found}");
        assert!(names(&found).contains(&"x1"));
    }
    for (target, words) in [("side", "use `auc`"), ("third", "use `zero_one`")] {
        folder.write("p.yaml", on_target(target, "criterion: {kind: loo, loss: concordance}"));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert!(ran.code == Some(2) && ran.err.contains(words), "{}", ran.err);
    }
}

#[test]
fn a_share_of_the_columns_leaves_at_a_time() {
    let folder = folder("rounds");
    for criterion in ["loo", "{kind: kfold, folds: 4}", "nhsic", "hsic"] {
        let choose = if criterion == "hsic" { ", choose: last" } else { "" };
        let search = format!("{{kind: backward, step: 0.4, min_features: 2, max_features: 4{choose}}}");
        let found = folder.run(&on_target("y", &format!("criterion: {criterion}\nsearch: {search}")));
        // 9 columns: 3 leave, then 2, where 4 are wanted; then 1, and 1.
        assert_eq!(numbers(&found, "/path", "size"), [9.0, 6.0, 4.0, 3.0, 2.0], "{criterion}");
        assert_eq!(found["steps"].as_array().unwrap().len(), 4);
        let size = names(&found).len();
        assert!((2..=4).contains(&size), "{criterion}: {size}");
        let again = folder.vaglio(&["run", "out/resolved.yaml", "--out", "again", "--json", "--quiet"]);
        let again: Value = serde_json::from_str(&again.out).unwrap();
        assert_eq!(timeless(again)["steps"], found["steps"]);
        folder.vaglio(&["plan", "p.yaml"]).succeeded();
    }
    for bad in ["0", "1.5", "0.0", "half"] {
        folder.write("p.yaml", on_target("y", &format!("search: {{kind: backward, step: {bad}}}")));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert!(ran.code == Some(2) && ran.err.contains("step"), "{bad}: {}", ran.err);
    }
}

#[test]
fn the_lambda_of_all_columns_stays() {
    let folder = folder("per-all");
    let learner = |lambda: &str| format!("learner: {{kind: rls, lambda: {lambda}}}\n");
    let grid = "{values: [0.01, 0.3, 3, 30], per: all}";
    let rest = "criterion: {kind: kfold, folds: 4}\nsearch: {kind: greedy, max_features: 4, choose: best}\n";
    let all = folder.run(&on_target(
        "y",
        &format!(
            "{}criterion: {{kind: kfold, folds: 4}}\nsearch: {{kind: all, choose: best}}\n",
            learner(&grid.replace(", per: all", ""))
        ),
    ));
    let found = folder.run(&on_target("y", &format!("{}{rest}", learner(grid))));
    assert_eq!(found["lambda"], all["lambda"]);
    assert!(folder.read("out/resolved.yaml").contains("per: all"));
    let fixed = folder.run(&on_target("y", &format!("{}{rest}", learner(&all["lambda"].to_string()))));
    for key in ["steps", "path", "selected", "score", "lambda", "intercept", "empty_score"] {
        assert_eq!(found[key], fixed[key], "{key}");
    }
    let rest = "search: {kind: greedy, max_features: 4}\nevaluate: {nested: {folds: 3}}\n";
    folder.write("p.yaml", on_target("y", &format!("{}{rest}", learner(grid))));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--json", "--quiet", "--verify", "3"]).succeeded();
    let nested: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(nested["nested"]["per_fold"].as_array().unwrap().iter().all(|fold| fold["lambda"].is_number()));
    let planned = |lambda: &str| {
        folder.write("p.yaml", on_target("y", &format!("{}{rest}", learner(lambda))));
        let ran = folder.vaglio(&["plan", "p.yaml"]).succeeded();
        ran.out
    };
    assert!(planned(grid).contains("engine "));
    folder.vaglio(&["explain", "out"]).succeeded();
    folder.write(
        "p.yaml",
        on_target("y", &format!("{}criterion: nhsic\nsearch: {{kind: greedy, max_features: 2}}", learner(grid))),
    );
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.code == Some(2) && ran.err.contains("`nhsic` takes none"), "{}", ran.err);
}

#[test]
fn a_reduced_set_of_kernels_is_saved_alone() {
    let folder = folder("reduced-set");
    let lines = "preprocess: [standardize]\nlearner: {kind: fs_ls_svm, landmarks: 60, scaling: none, lambda: 0.1}\nsearch: {kind: greedy, max_features: 3, choose: last}";
    let found = folder.run(&on_target("side", lines));
    assert!(names(&found).iter().all(|name| name.starts_with("landmark")), "{found}");
    let model = folder.json("out/model.json").to_string();
    assert!(model.matches("landmarks").count() > 0 && !model.contains("components"));
    assert!(model.len() < 8000, "{}", model.len());
    folder
        .vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv", "--evaluate", "--out", "p.csv"])
        .succeeded();
}
