//! Maps that are fitted in a pass of their own.

use super::files::{both, parquet};
use super::{GRID, alike, same};
use crate::common::{Folder, Made, Ran, side, table, third};
use serde_json::Value;

/// A table with gaps, text, dates and skewed columns.
fn folder(name: &str, rows: usize) -> Folder {
    let folder = Folder::new(name);
    let gap = |row: usize, y: f64| {
        if row % 7 == 3 || row % 11 == 5 { String::new() } else { format!("{:.4}", y + (row as f64 * 1.3).sin()) }
    };
    let hole =
        |row: usize, _: f64| if row.is_multiple_of(5) { String::new() } else { format!("{}", 100 + row * 37 % 23) };
    let city = |row: usize, y: f64| match row % 13 {
        4 => String::new(),
        5 if row < 60 => "far".into(),
        _ => third(row, y),
    };
    let day = |row: usize, _: f64| format!("2024-{:02}-{:02}", row % 12 + 1, row * 5 % 28 + 1);
    let skewed = |row: usize, y: f64| format!("{:.5}", (y + row as f64 * 0.37 % 3.0).exp());
    let weight = |row: usize, _: f64| format!("{}", row % 4);
    let size = |row: usize, _: f64| ["small", "medium", "large"][row * 11 % 3].to_owned();
    let extra: [Made<'_>; 8] = [
        ("gap", &gap),
        ("hole", &hole),
        ("city", &city),
        ("day", &day),
        ("skewed", &skewed),
        ("w", &weight),
        ("size", &size),
        ("class", &side),
    ];
    folder.write("train.csv", table(rows, 3, &extra));
    parquet(&folder, "train.parquet", &table(rows, 3, &extra), 64);
    folder
}

const GREEDY: &str = "search: {kind: greedy, max_features: 6, choose: last}\ncriterion: {kind: kfold, folds: 5}\n";
const SIZES: &str = "{kind: ordinal, order: {size: [small, medium, large]}}";

/// Runs both ways; results, fitted maps and predictions are alike.
fn alike_by(folder: &Folder, data: &str, lines: &str) {
    let found = both(folder, data, lines);
    same(&format!("{data}\n{lines}"), &found);
    let maps = ["always", "never"].map(|out| folder.json(&format!("{out}/model.json"))["model"]["maps"].clone());
    assert!(maps[0].as_array().is_some_and(|maps| !maps.is_empty()), "{}", maps[0]);
    assert!(alike(&maps[0], &maps[1]), "{lines}: {}\n{}", maps[0], maps[1]);
    let predicted = ["always", "never"].map(|out| {
        let Ran { code, out, err } =
            folder.vaglio(&["predict", "--model", &format!("{out}/model.json"), "--data", "train.csv"]);
        assert_eq!(code, Some(0), "{err}");
        out.lines()
            .skip(1)
            .flat_map(|line| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>())
            .collect::<Vec<f64>>()
    });
    assert_eq!(predicted[0].len(), predicted[1].len());
    assert!(predicted[0].iter().zip(&predicted[1]).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(1.0)));
}

#[test]
fn maps_of_single_columns_are_fitted_in_a_first_pass() {
    let folder = folder("streamed-maps", 400);
    for train in ["train.csv", "train.parquet"] {
        for (data, maps) in [
            ("exclude: [class, w, city, day, size]", "{kind: impute, scope: train}"),
            (
                "weights: w, exclude: [class, city, day, size]",
                "{kind: impute, how: median, indicator: true}, standardize",
            ),
            (
                "exclude: [class, w, day]",
                "{kind: impute, scope: train}, {kind: impute, how: most_frequent, columns: [city]}, one_hot, standardize",
            ),
            (
                "weights: w, test_fraction: 0.2, exclude: [class, day]",
                "{kind: one_hot, rare: 8, columns: [city]}, {kind: impute, how: {constant: 0.5}}, {kind: one_hot, columns: [size]}, standardize",
            ),
            (
                "rows: {column: x0, from: -1}, exclude: [class, w, city]",
                &format!(
                    "date_parts, {SIZES}, {{kind: log1p, columns: [skewed]}}, {{kind: impute, scope: train}}, {{kind: clip, columns: [gap]}}, standardize"
                ),
            ),
            (
                "exclude: [class, w, city, day, size]",
                "{kind: power, columns: [skewed]}, {kind: standardize, scope: train}, {kind: impute, scope: train}",
            ),
        ] {
            let lines = format!("{GREEDY}{GRID}preprocess: [{maps}]");
            alike_by(&folder, &format!("train: {train}, target: y, {data}"), &lines);
        }
    }
}

#[test]
fn means_fill_missing_cells_anew_in_folds_and_around_the_search() {
    let folder = folder("streamed-means", 400);
    let plain = "exclude: [class, w, city, day, size]";
    let fold = "{kind: impute, scope: fold}";
    let chosen = "search: {kind: greedy, max_features: 5, choose: {folds: 3, patience: null}}\ncriterion: {kind: kfold, folds: 4}\n";
    for (data, lines) in [
        (plain, format!("{GREEDY}{GRID}preprocess: [{fold}]")),
        (plain, format!("{GREEDY}{GRID}preprocess: [impute, standardize]")),
        ("weights: w, exclude: [class, city, day, size]", format!("{GREEDY}{GRID}preprocess: [{fold}, {{kind: standardize, scope: fold}}]")),
        ("test_fraction: 0.2, exclude: [class, w, day]", format!("{GREEDY}{GRID}preprocess: [{fold}, one_hot, {{kind: impute, scope: train}}, {{kind: standardize, scope: fold}}]").replace("{kind: impute, scope: train}", "{kind: impute, how: {constant: 0}}")),
        (plain, format!("{chosen}{GRID}preprocess: [{fold}, {{kind: standardize, scope: fold}}]")),
        (plain, format!("{chosen}{GRID}preprocess: [{{kind: impute, scope: train, indicator: true}}, {{kind: standardize, scope: train}}]\nevaluate: {{nested: {{folds: 3}}}}")),
        (plain, "search: {kind: greedy, max_features: 5, choose: best}\ncriterion: {kind: information, measure: bic}\nlearner: {kind: rls, lambda: 0.1}\npreprocess: [impute, standardize]\nevaluate: {nested: {folds: 4}}".to_owned()),
    ] {
        alike_by(&folder, &format!("train: train.csv, target: y, {data}"), &lines);
    }
}

#[test]
fn cells_that_an_earlier_map_leaves_missing_are_filled_anew_too() {
    let folder = Folder::new("streamed-dates");
    let day = |row: usize, y: f64| match row % 9 {
        4 => String::new(),
        _ => format!("2024-{:02}-{:02}", row % 12 + 1, 1 + (row + (3.0 * y.abs()) as usize) % 28),
    };
    folder.write("train.csv", table(300, 4, &[("day", &day)]));
    let lines = format!(
        "{GREEDY}{GRID}preprocess: [{{kind: date_parts, parts: [days, weekday]}}, {{kind: impute, scope: fold}}, {{kind: standardize, scope: fold}}]"
    );
    for rows in ["", ", test_fraction: 0.2"] {
        alike_by(&folder, &format!("train: train.csv, target: y{rows}"), &lines);
        let candidates = folder.json("always/selection.json")["candidates"].to_string();
        assert!(candidates.contains("day_days") && !candidates.contains("missing"), "{candidates}");
    }
}

#[test]
fn what_maps_of_rows_need_is_refused_with_what_would_do() {
    let folder = folder("streamed-unmapped", 80);
    let plain = "exclude: [class, w, city, day, size]";
    for (data, lines, words) in [
        (
            plain,
            "preprocess: [{kind: polynomial, degree: 2, columns: [x0]}]",
            "`preprocess[0]`: `polynomial` looks at several columns, targets or rows at once",
        ),
        (
            plain,
            "preprocess: [{kind: clip, scope: fold}]",
            "`preprocess[0].scope`: `clip` is fitted on the rows of each fold, and `engine.stream` keeps none; use `scope: train`",
        ),
        (
            plain,
            "preprocess: [{kind: impute, how: median}]\nevaluate: {nested: {folds: 3}}",
            "`preprocess[0]`: `impute` is fitted on the training rows of the folds around the search",
        ),
        (
            plain,
            "preprocess: [{kind: impute, scope: fold}, {kind: standardize, scope: train}]",
            "`preprocess[1].scope`: `impute` is fitted in each fold",
        ),
        (
            plain,
            "preprocess: [{kind: impute, scope: fold}, {kind: clip, columns: [gap]}]",
            "`preprocess[0].scope`: later maps make other columns",
        ),
        (
            plain,
            "preprocess: [{kind: impute, columns: [gap, gappy]}]",
            "`preprocess[0].columns[1]`: there is no column `gappy`",
        ),
        (plain, "preprocess: [standardize]", "add {kind: impute} to preprocess"),
        ("exclude: [class, w, gap, hole, day, size]", "preprocess: [standardize]", "add {kind: one_hot} to preprocess"),
    ] {
        folder.write("p.yaml", format!("version: 1\ndata: {{train: train.csv, target: y, {data}}}\n{GREEDY}{lines}\nengine: {{stream: always}}\n"));
        let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml"]);
        assert!(code != Some(0) && err.contains(words), "{lines}: {code:?} {err}");
    }
}

#[test]
fn columns_are_fitted_some_at_a_time_where_memory_is_little() {
    let folder = Folder::new("streamed-groups");
    let text = |row: usize, y: f64| format!("{}{}", third(row, y), row % 3);
    let gap = |row: usize, y: f64| if row.is_multiple_of(3) { String::new() } else { format!("{y:.2}") };
    let extra: [Made<'_>; 4] = [("t", &text), ("u", &side), ("gap", &gap), ("hole", &gap)];
    folder.write("train.csv", table(20_000, 45, &extra));
    let lines = format!(
        "{GREEDY}{GRID}preprocess: [{{kind: impute, how: median, indicator: true}}, {{kind: ordinal, columns: [u]}}, one_hot, \
         {{kind: clip, columns: [x1, x40]}}, {{kind: power, columns: [x44], lambda: 0.5}}, {{kind: log1p, columns: [t=a0, u]}}, \
         {{kind: standardize, scope: train}}, {{kind: clip, columns: [x2], lower: -1.0}}]"
    );
    let data = "train: train.csv, target: y, missing_target: drop, types: {t: class}";
    let found = both(&folder, data, &lines);
    let steps = |found: &Value| {
        let mut steps = found["steps"].clone();
        steps.as_array_mut().unwrap().iter_mut().for_each(|step| step["standard_error"] = Value::Null);
        steps
    };
    assert!(alike(&steps(&found[0]), &steps(&found[1])), "{}\n{}", found[0]["steps"], found[1]["steps"]);
    let few = format!("{lines}\nlimits: {{memory: 110MB}}");
    folder.write("p.yaml", format!("version: 1\ndata: {{{data}}}\n{few}\nengine: {{stream: always}}\n"));
    let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml", "--out", "few", "--quiet"]);
    assert_eq!(code, Some(0), "{err}");
    let model = |out: &str| folder.json(&format!("{out}/model.json"))["model"]["maps"].clone();
    assert_eq!(model("few"), model("never"));
}
