//! Effects of the settings of data and search on a result.

use crate::common::{Folder, names, pipeline, side, table, third, timeless};
use serde_json::{Value, json};

/// A pipeline whose data have these settings beside the training file.
fn data(settings: &str, lines: &str) -> String {
    format!("version: 1\ndata: {{train: train.csv, {settings}}}\n{lines}\n")
}

/// The result but for what depends on the file's bytes and row count.
fn choice(selection: &Value) -> Value {
    let mut rest = timeless(selection.clone());
    rest.as_object_mut().unwrap().remove("data");
    rest["pipeline"].as_object_mut().unwrap().remove("settings");
    rest
}

#[test]
fn the_task_is_inferred_from_the_target() {
    let folder = Folder::new("task");
    let number = |_: usize, y: f64| if y > 5.0 { "1".to_owned() } else { "0".to_owned() };
    let half = |_: usize, y: f64| if y > 5.0 { "1.5".to_owned() } else { "0.5".to_owned() };
    let digit = |row: usize, _: f64| (row % 3).to_string();
    let extra: [crate::common::Made<'_>; 5] =
        [("two", &side), ("three", &third), ("number", &number), ("half", &half), ("digit", &digit)];
    folder.write("train.csv", table(30, 4, &extra));
    let plan = |target: &str, more: &str| {
        let others = ["y", "two", "three", "number", "half", "digit"].into_iter().filter(|name| *name != target);
        let exclude = others.collect::<Vec<_>>().join(", ");
        folder.write("p.yaml", data(&format!("target: {target}, exclude: [{exclude}]{more}"), ""));
        let ran = folder.vaglio(&["plan", "p.yaml"]).succeeded();
        ran.out
    };
    for (target, more, task) in [
        ("y", "", "regression"),
        ("two", "", "two classes"),
        ("three", "", "3 classes"),
        ("number", "", "two classes"),
        ("number", ", task: regression", "regression"),
        ("half", "", "regression"),
        ("half", ", task: binary", "two classes"),
        ("digit", "", "regression"),
        ("digit", ", task: multiclass", "3 classes"),
        ("digit", ", positive: 2", "two classes"),
        ("digit", ", positive: \"2\"", "two classes"),
    ] {
        let text = plan(target, more);
        let line = text.lines().find(|line| line.starts_with("data")).unwrap();
        let word = match task {
            "two classes" => "binary",
            "3 classes" => "multiclass",
            other => other,
        };
        assert!(line.contains(word), "{target}{more}: {line}");
    }
}

#[test]
fn forced_and_excluded_columns_are_by_name_or_index() {
    let folder = Folder::new("forced");
    folder.write("train.csv", table(40, 6, &[]));
    let done = folder.run(&pipeline("search: {kind: greedy, max_features: 3, forced: [x5, 3], choose: last}"));
    assert_eq!(names(&done), ["x5", "x3", "x1"]);
    let done = folder.run(&pipeline("search: {kind: greedy, excluded: [x1, 2], choose: last}"));
    assert_eq!(done["steps"].as_array().unwrap().len(), 4);
    assert_eq!(done["stop_reason"], "no_candidates");
    assert!(!names(&done).contains(&"x1") && !names(&done).contains(&"x2"));
    let excluded = [(1, "x1"), (2, "x2")];
    let excluded = excluded.map(|(index, name)| json!({"index": index, "name": name, "reason": "search.excluded"}));
    assert_eq!(done["excluded"], json!(excluded));
}

#[test]
fn a_search_stops_for_tolerance_and_patience() {
    let folder = Folder::new("tolerance");
    folder.write("train.csv", table(40, 8, &[]));
    let full = folder.run(&pipeline(""));
    assert_eq!((full["steps"].as_array().unwrap().len(), &full["stop_reason"]), (8, &"max_features".into()));
    let done = folder.run(&pipeline("search: {kind: greedy, tolerance: 0.1}"));
    assert_eq!(done["stop_reason"], "tolerance");
    let reached = done["steps"].as_array().unwrap().len();
    assert!((1..8).contains(&reached));
    let score = |k: usize| full["steps"][k]["score"].as_f64().unwrap();
    assert!(score(reached - 2) - score(reached - 1) >= 0.1 && score(reached - 1) - score(reached) < 0.1);
    let patient = folder.run(&pipeline("search: {kind: greedy, tolerance: 0.1, patience: 2}"));
    assert_eq!(
        (patient["steps"].as_array().unwrap().len(), &patient["stop_reason"]),
        (reached + 2, &"patience".into())
    );
    let least = folder.run(&pipeline("search: {kind: greedy, tolerance: 0.1, min_features: 5}"));
    assert!(least["steps"].as_array().unwrap().len() >= 5 && least["selected"].as_array().unwrap().len() >= 5);
}

#[test]
fn the_size_is_the_best_the_last_or_within_one_standard_error() {
    let folder = Folder::new("choose");
    folder.write("train.csv", table(60, 10, &[]));
    let size = |choose: &str| {
        let done = folder.run(&pipeline(&format!("search: {{kind: greedy, choose: {choose}}}")));
        let size = done["selected"].as_array().unwrap().len();
        let scores: Vec<f64> = done["path"].as_array().unwrap().iter().map(|e| e["score"].as_f64().unwrap()).collect();
        assert_eq!(done["score"], scores[size - 1]);
        let best = (0..scores.len()).min_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap() + 1;
        (size, best)
    };
    let (chosen, best) = size("best");
    assert_eq!(chosen, best);
    assert_eq!(size("last").0, 10);
    assert_eq!(size("one_se").0, 2);
}

#[test]
fn values_of_lambda_are_those_of_a_grid_in_any_order() {
    let folder = Folder::new("lambda");
    folder.write("train.csv", table(40, 5, &[]));
    let grid =
        folder.run(&pipeline("learner: {kind: rls, lambda: {grid: {from: 0.01, to: 100, points: 5}, per: subset}}"));
    let values = folder.run(&pipeline("learner: {kind: rls, lambda: {values: [100, 0.1, 1, 10, 0.01], per: subset}}"));
    assert_eq!(choice(&grid), choice(&values));
}

#[test]
fn several_targets_share_one_selection() {
    let folder = Folder::new("targets");
    folder.write("train.csv", table(30, 5, &[("z", &|row, y| (y * 0.5 + (row % 5) as f64).to_string())]));
    let done = folder.run(&data("target: [y, z]", ""));
    assert_eq!(done["data"]["outputs"], 2);
    assert_eq!(done["selected"][0]["weight"].as_array().unwrap().len(), 2);
    assert_eq!(done["intercept"].as_array().unwrap().len(), 2);
    assert!(!names(&done).contains(&"z"));
    let out = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    assert_eq!(out.lines().next(), Some("prediction_y,prediction_z"));
}

#[test]
fn groups_stay_together_when_rows_are_set_aside() {
    let folder = Folder::new("groups");
    let group = |row: usize, _: f64| format!("g{}", if row < 20 { 0 } else { 1 + row % 3 });
    folder.write("train.csv", table(50, 4, &[("subject", &group)]));
    let mut sizes = std::collections::BTreeSet::new();
    for seed in 0..6 {
        let lines = format!("seed: {seed}");
        let done = folder.run(&data("target: y, groups: subject, test_fraction: 0.25", &lines));
        assert_eq!(done["data"]["features"], 4);
        let (train, test) = (done["data"]["rows"].as_u64().unwrap(), done["test"]["rows"].as_u64().unwrap());
        assert_eq!(train + test, 50);
        assert!([20, 10].contains(&test), "{test}");
        sizes.insert(test);
        assert_eq!(
            timeless(folder.run(&data("target: y, groups: subject, test_fraction: 0.25", &lines))),
            timeless(done)
        );
    }
    assert_eq!(sizes.len(), 2);
    folder.run(&data("target: y, exclude: [subject], test_fraction: 0.2", ""));
    assert_eq!(folder.json("out/selection.json")["test"]["rows"], 10);
}

#[test]
fn text_columns_become_indicators_of_their_levels() {
    let folder = Folder::new("levels");
    folder.write("train.csv", table(30, 2, &[("kind", &third)]));
    let done = folder.run(&pipeline("preprocess: [one_hot, standardize]\nsearch: {kind: greedy, choose: last}"));
    assert_eq!(done["data"]["features"], 5);
    assert!(names(&done).iter().filter(|name| name.starts_with("kind")).count() == 3, "{:?}", names(&done));
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 31));
}

/// A key that is `null` is a key that is not there, in the file as on the command line.
#[test]
fn null_takes_any_value_away() {
    let folder = Folder::new("null");
    folder.write("train.csv", table(20, 4, &[]));
    let lines = "seed: 3\npreprocess: [standardize]\nlearner: {kind: rls, lambda: 2.0, intercept: false}\n\
                 criterion: {kind: kfold, folds: 4, loss: absolute}\n\
                 search: {kind: greedy, max_features: 2, patience: 3, forced: [x1], choose: last}\n\
                 evaluate: {nested: {folds: 3}}\nlimits: {time: 10m}\nengine: {kind: local, threads: 1}";
    let text = data("target: y, exclude: [x3], types: {x0: number}, task: regression", lines);
    folder.write("p.yaml", &text);
    let resolved = |yaml: &str, set: &[&str]| {
        folder.write("q.yaml", yaml);
        let ran = folder.vaglio(&[&["run", "q.yaml", "--out", "out", "--quiet"], set].concat());
        assert_eq!(ran.code, Some(0), "{yaml}\n{set:?}: {}", ran.err);
        folder.read("out/resolved.yaml")
    };
    let given = resolved(&text, &[]);
    for key in [
        "seed",
        "preprocess",
        "learner",
        "criterion",
        "search",
        "evaluate",
        "limits",
        "engine",
        "data.exclude",
        "data.types",
        "data.task",
        "learner.lambda",
        "learner.intercept",
        "criterion.folds",
        "criterion.loss",
        "search.max_features",
        "search.forced",
        "search.choose",
        "evaluate.nested",
        "evaluate.nested.folds",
        "limits.time",
        "engine.threads",
    ] {
        let set = format!("{key}=null");
        let found = resolved(&text, &["--set", &set]);
        assert_ne!(found, given, "{key}");
        if !key.contains('.') {
            let start = format!("{key}: ");
            let at = |line: &str| if line.starts_with(&start) { format!("{key}: null\n") } else { format!("{line}\n") };
            assert_eq!(found, resolved(&text.lines().map(at).collect::<String>(), &[]), "{key}");
        }
    }
    let refused = |set: &str| {
        let ran = folder.vaglio(&["plan", "p.yaml", "--set", set]);
        assert_eq!(ran.code, Some(2), "{set}: {}", ran.out);
        ran.err
    };
    assert!(refused("data.target=null").contains("`data.target`: it is missing"));
    assert!(refused("serach=null").contains("there is no key `serach`"));
    // What may be null is null.
    let text = text.replace("kind: greedy", "kind: floating").replace(", patience: 3", "");
    assert!(resolved(&text, &["--set", "search.tolerance=null"]).contains("tolerance: null"));
}

#[test]
fn more_columns_than_there_are_means_all() {
    let folder = Folder::new("max-features");
    folder.write("train.csv", table(30, 4, &[]));
    let all = folder.run(&pipeline("search: {kind: backward, max_features: 4, choose: best}"));
    for search in
        ["{kind: backward, max_features: 40, choose: best}", "[{kind: backward, max_features: 40, choose: best}]"]
    {
        let found = folder.run(&pipeline(&format!("search: {search}")));
        assert_eq!((names(&found), &found["score"]), (names(&all), &all["score"]));
        let warning =
            &found["warnings"].as_array().unwrap().iter().find(|of| of["kind"] == "max_features").unwrap()["message"];
        assert_eq!(
            warning,
            "`search.max_features` is 40, and the data have 4 candidate columns: all of them may be taken"
        );
    }
}
