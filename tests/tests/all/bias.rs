//! A bias that is selected like a column, from the command line.

use crate::common::{Folder, names, pipeline, table, timeless};
use serde_json::Value;

const BIASED: &str =
    "preprocess: [{kind: standardize, scope: train}, constant]\nlearner: {kind: rls, intercept: false}\n";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(40, 5, &[("same", &|_, _| "3".into())]));
    folder
}

fn predictions(folder: &Folder, data: &str) -> Vec<f64> {
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", data]).succeeded();
    ran.out.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn the_bias_is_selected_saved_and_never_asked_for() {
    let folder = folder("bias");
    let searches = ["{kind: greedy, choose: best}", "{kind: floating}", "{kind: exhaustive, choose: one_se}"];
    let criteria = ["loo", "{kind: kfold, folds: 5}"];
    for (criterion, search) in criteria.iter().flat_map(|criterion| searches.map(|search| (criterion, search))) {
        let selection = folder.run(&pipeline(&format!("{BIASED}criterion: {criterion}\nsearch: {search}")));
        assert!(names(&selection).contains(&"constant"), "{search}");
        assert_eq!((&selection["intercept"], &selection["excluded"][0]["name"]), (&0.0.into(), &"same".into()));
        assert_eq!(selection["excluded"].as_array().unwrap().len(), 1);
        let ours = predictions(&folder, "train.csv");
        assert_eq!(ours.len(), 40);
        let targets: Vec<f64> =
            folder.read("train.csv").lines().skip(1).map(|l| l.split(',').nth(5).unwrap().parse().unwrap()).collect();
        let error = ours.iter().zip(&targets).map(|(p, y)| (p - y).powi(2)).sum::<f64>() / 40.0;
        let train = selection["path"][selection["selected"].as_array().unwrap().len() - 1]["train"].as_f64().unwrap();
        assert!((error - train).abs() < 1e-9 * train, "{error} {train}");
        // A column of that name in new data is not the bias.
        let with = folder.read("train.csv").lines().enumerate().fold(String::new(), |text, (row, line)| {
            text + line + "," + if row == 0 { "constant" } else { "7" } + "\n"
        });
        folder.write("with.csv", with);
        assert_eq!(predictions(&folder, "with.csv"), ours);
    }
    assert!(folder.read("out/report.html").contains("constant"));
}

#[test]
fn the_bias_alone_is_a_model() {
    let folder = folder("bias-alone");
    let lines = format!("{BIASED}search: {{kind: greedy, max_features: 1, forced: [constant], choose: last}}");
    let selection = folder.run(&pipeline(&lines));
    assert_eq!(names(&selection), ["constant"]);
    let ours = predictions(&folder, "train.csv");
    let weight = selection["selected"][0]["weight"].as_f64().unwrap();
    assert!(ours.len() == 40 && ours.iter().all(|p| *p == weight), "{ours:?}");
    assert_eq!(selection["selected"][0]["original_weight"], weight);
}

#[test]
fn a_bias_goes_with_folds_and_everything_that_repeats_the_selection() {
    let folder = folder("bias-folds");
    let lines = format!(
        "{BIASED}search: {{kind: floating, choose: {{rule: best, folds: 4}}}}\n\
         evaluate: {{nested: {{folds: 3}}, permutations: 3, stability: {{pairs: 4}}, intervals: 0.8}}"
    );
    let selection = folder.run(&pipeline(&lines));
    let frequency = selection["nested"]["frequency"].as_array().unwrap();
    let bias = frequency.iter().find(|column| column["name"] == "constant").unwrap();
    assert_eq!(bias["share"], 1.0);
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv", "--interval"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 41), "{}", ran.err);
    let again = folder.vaglio(&["run", "out/resolved.yaml", "--out", "again", "--json"]).succeeded();
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(timeless(again)["selected"], selection["selected"]);
}

#[test]
fn a_bias_that_has_no_meaning_is_refused() {
    let folder = folder("bias-refused");
    let free = "learner: {kind: rls, intercept: false}";
    for (lines, field, words) in [
        (
            "preprocess: [constant]".into(),
            "learner",
            "`constant` is a bias that is selected and penalized like other columns",
        ),
        (
            "preprocess: [constant]\nlearner: {kind: rls, intercept: true}".into(),
            "`learner.intercept`",
            "set it to false",
        ),
        ("preprocess: [constant]\nlearner: {kind: knn}".into(), "learner", "use `rls`, or leave it out"),
        (
            "preprocess: [constant]\nlearner: {kind: elm, intercept: false}".into(),
            "learner",
            "use `rls`, or leave it out",
        ),
        (format!("preprocess: [constant, standardize]\n{free}"), "`preprocess[0]`", "move it to the end"),
        (format!("preprocess: [{{kind: constant, name: x1}}]\n{free}"), "`preprocess[0].name`", "a second column `x1`"),
        (format!("preprocess: [{{kind: constant, value: 0}}]\n{free}"), "`preprocess[0].value`", "0 is no bias"),
        (format!("preprocess: [constant]\n{free}\ncriterion: nhsic"), "criterion", "the bias `constant` has no spread"),
        (format!("preprocess: [constant]\n{free}\nsearch: lars"), "search", "the bias `constant` has no spread"),
        (format!("preprocess: [constant]\n{free}\nsearch: {{kind: greedy, forced: [same]}}"), "forced", "is constant"),
    ] {
        folder.write("p.yaml", pipeline(&lines));
        for command in [&["run", "p.yaml", "--out", "out"][..], &["plan", "p.yaml"]] {
            let ran = folder.vaglio(command);
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{lines}\n{ran:?}");
            assert!(ran.err.contains(field) && ran.err.contains(words), "{lines}\n{}", ran.err);
            assert!(ran.err.starts_with("error: p.yaml:"), "{lines}\n{}", ran.err);
        }
    }
}
