//! Tables that are read in batches, beside the same tables in memory.

mod auto;
mod files;
mod kills;
mod maps;
mod rows;
mod shards;

use crate::common::{Folder, Ran, side, table};
use serde_json::Value;

/// Whether two values are the same, numbers to twelve digits.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            a == b || (a - b).abs() <= 1e-11 * a.abs().max(b.abs()).max(1e-2)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| alike(value, other)))
        }
        _ => a == b,
    }
}

/// Where two values differ first, with both.
fn difference(a: &Value, b: &Value) -> String {
    let parts = |value: &Value| -> Vec<(String, Value)> {
        match value {
            Value::Object(all) => all.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
            Value::Array(all) => all.iter().enumerate().map(|(at, value)| (at.to_string(), value.clone())).collect(),
            _ => Vec::new(),
        }
    };
    let (of_a, of_b) = (parts(a), parts(b));
    match of_a.iter().zip(&of_b).find(|((_, a), (_, b))| !alike(a, b)) {
        Some(((key, a), (_, b))) if of_a.len() == of_b.len() => format!("{key}: {}", difference(a, b)),
        _ => format!("{a}\nis not {b}"),
    }
}

/// What both have alike: everything but errors after ±, what needs rows, times and the engine.
fn same(lines: &str, [streamed, whole]: &[Value; 2]) {
    for key in
        ["status", "stop_reason", "candidates", "empty_score", "score", "lambda", "intercept", "excluded", "test"]
    {
        assert!(alike(&streamed[key], &whole[key]), "{lines}: {key}: {}\n{}", streamed[key], whole[key]);
    }
    // A floating search that comes back to a subset keeps the first of equals, by its last bit.
    let is_floating = whole["pipeline"]["search"] == "floating";
    for key in ["steps", "warnings", "calibration"] {
        let own = |value: &Value| match value[key].as_array() {
            Some(all) => {
                let mut all: Vec<Value> = all.iter().filter(|warning| warning["kind"] != "streamed").cloned().collect();
                if is_floating {
                    all.iter_mut().for_each(|step| step["standard_error"] = Value::Null);
                }
                Value::Array(all)
            }
            None => value[key].clone(),
        };
        assert!(alike(&own(streamed), &own(whole)), "{lines}: {key}: {}\n{}", streamed[key], whole[key]);
    }
    for key in ["curve", "table", "predictions", "figures", "residuals"] {
        let [a, b] = [streamed, whole].map(|value| &value["report"][key]);
        // Columns are drawn in the order of the subset.
        assert!(alike(a, b) || is_floating && key == "residuals", "{lines}: {key}: {}", difference(a, b));
    }
    let without = |value: &Value, keys: &[&str]| {
        let mut value = value.clone();
        value.as_object_mut().unwrap().retain(|key, _| !keys.contains(&key.as_str()));
        value
    };
    let errors = ["step"];
    let pairs = streamed["path"].as_array().unwrap().iter().zip(whole["path"].as_array().unwrap());
    for (a, b) in pairs {
        let (a, b) = (without(a, &errors), without(b, &errors));
        assert!(alike(&a, &b), "{lines}: {a}\n{b}");
    }
    assert_eq!(streamed["path"].as_array().unwrap().len(), whole["path"].as_array().unwrap().len());
    // Their order is that of the subset that was kept.
    let by_index = |value: &Value| {
        let mut selected = value["selected"].as_array().unwrap().clone();
        selected.sort_by_key(|column| column["index"].as_u64());
        selected
    };
    let (a, b) = (by_index(streamed), by_index(whole));
    assert_eq!(a.len(), b.len());
    let selected = a.iter().zip(&b);
    for (a, b) in selected {
        assert!(alike(a, b), "{lines}: {}: {}\n{}", a["name"], difference(a, b), a["histogram"]);
    }
    let of_choice = ["sizes"];
    let (a, b) = (without(&streamed["chosen"], &of_choice), without(&whole["chosen"], &of_choice));
    assert!(alike(&a, &b), "{lines}: {a}\n{b}");
    let of_data = |value: &Value| without(&value["data"], &["columns"]);
    assert!(alike(&of_data(streamed), &of_data(whole)), "{lines}: {}\n{}", streamed["data"], whole["data"]);
    assert!(alike(&streamed["pipeline"]["settings"], &whole["pipeline"]["settings"]));
    let [a, b] = [&streamed["nested"], &whole["nested"]];
    assert!(alike(a, b), "{lines}: {}", difference(a, b));
    assert_eq!(streamed["warnings"][0]["kind"], "streamed");
}

const GRID: &str = "learner: {kind: rls, lambda: {grid: {from: 1e-3, to: 1e3, points: 7}}}\n";

/// A table with weights, groups, folds, classes and some columns that are equal, constant or nearly equal.
fn folder(name: &str, rows: usize) -> Folder {
    let folder = Folder::new(name);
    let weight = |row: usize, _: f64| format!("{}", row % 4);
    let group = |row: usize, _: f64| format!("g{}", row * 7 % 13);
    let fold = |row: usize, _: f64| format!("{}", row % 5);
    let constant = |_: usize, _: f64| "2.5".to_owned();
    let near = |row: usize, y: f64| format!("{}", 1000.0 + y + (row as f64 * 1.7).sin());
    let copy = |row: usize, _: f64| format!("{}", (row as f64 * 0.9).cos());
    let extra: [crate::common::Made<'_>; 8] = [
        ("w", &weight),
        ("g", &group),
        ("fold", &fold),
        ("c", &constant),
        ("near", &near),
        ("a", &copy),
        ("b", &copy),
        ("class", &side),
    ];
    folder.write("train.csv", table(rows, 6, &extra));
    folder
}

const OTHERS: &str = "exclude: [class, w, g, fold]";

/// Runs the same lines on the table in batches and in memory.
fn lines_of(folder: &Folder, target: &str, lines: &str) -> [Value; 2] {
    ["always", "never"].map(|stream| {
        let data = format!("data: {{train: train.csv, target: {target}}}");
        folder.write("p.yaml", format!("version: 1\n{data}\n{lines}\nengine: {{stream: {stream}}}\n"));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", stream, "--quiet", "--json"]);
        assert_eq!(ran.code, Some(0), "{data}\n{lines}\n{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    })
}

#[test]
fn searches_find_the_same_in_batches_as_in_memory() {
    let folder = folder("streamed-searches", 700);
    let target = format!("y, {OTHERS}");
    for search in [
        "{kind: greedy, max_features: 5, choose: last}",
        "{kind: backward, choose: best}",
        "{kind: floating, max_features: 4, choose: best}",
        "{kind: exhaustive, max_features: 3, choose: best}",
        "{kind: rank, max_features: 5, choose: best}",
        "{kind: all, choose: last}",
    ] {
        for criterion in ["{kind: kfold, folds: 5}", "{kind: kfold, folds: 4, shuffle: true}"] {
            let lines = format!("search: {search}\ncriterion: {criterion}\n{GRID}");
            same(&lines, &lines_of(&folder, &target, &lines));
        }
    }
    let lines = "search: {kind: greedy, max_features: 5, choose: best}\ncriterion: {kind: information, measure: bic}\nlearner: {kind: rls, lambda: 0.1}";
    same(lines, &lines_of(&folder, &target, lines));
}

#[test]
fn dependence_by_correlation_is_of_moments() {
    let folder = folder("streamed-mrmr", 500);
    let of_weights = "y, weights: w, exclude: [class, g, fold]";
    for (target, scheme, more) in [
        (format!("y, {OTHERS}"), "difference", ""),
        (of_weights.to_owned(), "quotient", "\npreprocess: [standardize]"),
        (of_weights.to_owned(), "difference", "\nevaluate: {nested: {folds: 3}}"),
    ] {
        for search in
            ["{kind: greedy, max_features: 5, choose: last}", "{kind: exhaustive, max_features: 3, choose: best}"]
        {
            let lines = format!(
                "search: {search}\ncriterion: {{kind: mrmr, scheme: {scheme}}}\nlearner: {{kind: rls, lambda: 0.1}}{more}"
            );
            let both = lines_of(&folder, &target, &lines);
            same(&lines, &both);
            assert!(alike(&both[0]["found"], &both[1]["found"]), "{}\n{}", both[0]["found"], both[1]["found"]);
        }
    }
    // Of classes, predictions are judged by how many are wrong, which moments do not tell.
    let lines = "search: {kind: greedy, max_features: 2, choose: last}\ncriterion: mrmr\nengine: {stream: always}";
    folder.write(
        "p.yaml",
        format!("version: 1\ndata: {{train: train.csv, target: class, exclude: [y, w, g, fold]}}\n{lines}\n"),
    );
    let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml"]);
    assert!(code == Some(2) && err.contains("`criterion`: classes are judged by `zero_one`"), "{code:?} {err}");
}

#[test]
fn rows_may_have_weights_groups_folds_and_maps() {
    let folder = folder("streamed-rows", 600);
    let search = "search: {kind: greedy, max_features: 4, choose: last}";
    for (target, lines) in [
        ("y, weights: w, exclude: [class, g, fold]", "criterion: {kind: kfold, folds: 5}"),
        ("y, groups: g, exclude: [class, w, fold]", "criterion: {kind: kfold, by: groups}"),
        ("y, groups: g, exclude: [class, w, fold]", "criterion: {kind: kfold, folds: 3, by: groups, shuffle: true}"),
        ("y, exclude: [class, w, g]", "criterion: {kind: kfold, assignment: fold}"),
        (&format!("y, {OTHERS}"), "criterion: {kind: kfold, splits: {kind: repeated, folds: 3, repeats: 2}}"),
        (&format!("y, {OTHERS}"), "criterion: {kind: kfold, splits: {kind: monte_carlo, repeats: 3, fraction: 0.3}}"),
        (&format!("y, {OTHERS}"), "criterion: {kind: kfold, splits: {kind: forward, folds: 4}}"),
        (&format!("y, {OTHERS}"), "criterion: {kind: kfold, folds: 5}\npreprocess: [standardize]"),
        (
            &format!("y, {OTHERS}"),
            "criterion: {kind: kfold, folds: 5}\npreprocess: [{kind: standardize, target: true, scope: train}]",
        ),
        (&format!("y, test_fraction: 0.2, {OTHERS}"), "criterion: {kind: kfold, folds: 5}\npreprocess: [standardize]"),
        (&format!("y, rows: {{column: x0, from: 0}}, {OTHERS}"), "criterion: {kind: kfold, folds: 5}"),
        (
            "class, exclude: [y, w, g, fold]",
            "criterion: {kind: kfold, folds: 5, stratified: true, shuffle: true, loss: squared}",
        ),
        ("class, exclude: [y, w, g, fold]", "criterion: {kind: kfold, folds: 5, loss: balanced_squared}"),
    ] {
        let lines = format!("{search}\n{lines}\n{GRID}");
        same(&format!("{target}\n{lines}"), &lines_of(&folder, target, &lines));
    }
}

#[test]
fn size_and_penalty_are_chosen_and_judged_alike() {
    let folder = folder("streamed-choose", 600);
    let grid = format!("{GRID}criterion: {{kind: kfold, folds: 4}}\n");
    let target = format!("y, {OTHERS}");
    for lines in [
        "search: {kind: greedy, max_features: 5, choose: {folds: 3, patience: null}}",
        "search: {kind: greedy, max_features: 5, choose: {folds: 3, patience: null}}\nevaluate: {nested: {folds: 3}}\npreprocess: [standardize]",
        "search: {kind: backward, choose: {folds: 3, patience: null}}",
    ] {
        let lines = format!("{lines}\n{grid}");
        same(&lines, &lines_of(&folder, &target, &lines));
    }
    let target = "y, groups: g, exclude: [class, w, fold]";
    // Of few groups the target is shuffled in memory alone.
    let lines = format!(
        "search: {{kind: greedy, max_features: 4, choose: {{folds: 3, patience: null, require_gain: never}}}}\n{GRID}criterion: {{kind: kfold, by: groups}}"
    );
    same(&lines, &lines_of(&folder, target, &lines));
}

#[test]
fn what_needs_rows_is_refused_with_what_would_do() {
    let folder = folder("streamed-refused", 60);
    let kfold = "criterion: {kind: kfold, folds: 3}";
    let greedy = "search: {kind: greedy, max_features: 2, choose: last}";
    for (lines, words) in [
        (greedy.to_owned(), "`criterion`: `loo` looks at single rows, and `engine.stream` keeps none; use `kfold`"),
        (
            format!("{greedy}\ncriterion: {{kind: kfold, loss: absolute}}"),
            "`criterion.loss`: `absolute` is a loss of single rows",
        ),
        (
            format!("{greedy}\n{kfold}\npreprocess: [target_encode]"),
            "`preprocess[0]`: `target_encode` looks at several columns",
        ),
        (format!("{greedy}\n{kfold}\ntarget_map: log"), "`target_map`: it changes the target row by row"),
        (format!("{greedy}\n{kfold}\nevaluate: {{permutations: 3}}"), "`evaluate.permutations`"),
        (format!("{greedy}\n{kfold}\nevaluate: {{shares: true}}"), "`evaluate.shares`"),
        (format!("search: {{kind: random, choose: last}}\n{kfold}"), "`search`: `random`"),
    ] {
        let engine = "engine: {stream: always}";
        folder.write(
            "p.yaml",
            format!("version: 1\ndata: {{train: train.csv, target: y, {OTHERS}}}\n{lines}\n{engine}\n"),
        );
        for command in ["run", "plan"] {
            let Ran { code, err, .. } = folder.vaglio(&[command, "p.yaml"]);
            assert!(code == Some(2) && err.contains(words), "{lines}: {code:?} {err}");
        }
    }
    folder.write("p.yaml", format!("version: 1\ndata: {{train: train.csv, target: y, exclude: [class, w, fold]}}\n{greedy}\n{kfold}\nengine: {{stream: always}}\n"));
    let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml"]);
    assert!(code == Some(2) || code == Some(3), "{code:?} {err}");
    assert!(err.contains("column `g`") || err.contains("`g`"), "{err}");
}

#[test]
fn a_plan_says_how_a_table_is_read() {
    let folder = folder("streamed-plan", 400);
    let lines = "search: {kind: greedy, max_features: 3, choose: last}\ncriterion: {kind: kfold, folds: 5}\nengine: {stream: always}";
    folder.write("p.yaml", format!("version: 1\ndata: {{train: train.csv, target: y, {OTHERS}}}\n{lines}\n"));
    let Ran { code, out, err } = folder.vaglio(&["plan", "p.yaml"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("data        400 rows") && out.contains("stream      one pass over "), "{out}");
    assert!(out.contains("kept as moments of 5 cells of rows; then one pass over the columns that are taken"), "{out}");
    folder.write("p.yaml", folder.read("p.yaml").replace("choose: last", "choose: {folds: 3}"));
    let Ran { code, out, err } = folder.vaglio(&["plan", "p.yaml"]);
    assert!(code == Some(0) && out.contains("then two passes over"), "{out}{err}");
}
