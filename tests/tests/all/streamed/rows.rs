//! What single rows tell, by passes after the first.

use super::{GRID, OTHERS, alike, folder, lines_of, same};
use crate::common::Folder;

const GREEDY: &str = "search: {kind: greedy, max_features: 5, choose: ";

/// Runs both ways, which find the same.
fn both(folder: &Folder, target: &str, lines: &str) -> [serde_json::Value; 2] {
    let lines = format!("{lines}\n{GRID}");
    let found = lines_of(folder, target, &lines);
    same(&format!("{target}\n{lines}"), &found);
    found
}

#[test]
fn rules_go_by_errors_between_rows() {
    let folder = folder("streamed-rules", 600);
    let plain = format!("y, {OTHERS}");
    for (target, choose, more) in [
        (&*plain, "{folds: 5, rule: one_se}", ""),
        (&plain, "{folds: 5, repeats: 2, rule: one_se, patience: null}", "\npreprocess: [standardize]"),
        (&plain, "{folds: 5, within: 0.02}", ""),
        (&plain, "{folds: 4, require_gain: 0.05, interval: 0.9}", ""),
        // Of few groups the target is shuffled in memory alone.
        ("y, weights: w, groups: g, exclude: [class, fold]", "{folds: 4, rule: one_se, require_gain: never}", ""),
    ] {
        let by = if target.contains("groups") { ", by: groups" } else { ", folds: 4" };
        let lines = format!("{GREEDY}{choose}}}\ncriterion: {{kind: kfold{by}}}{more}");
        let [streamed, _] = both(&folder, target, &lines);
        assert!(streamed["chosen"]["standard_error"].is_f64(), "{}", streamed["chosen"]);
        assert!(streamed["chosen"]["interval"].is_array(), "{lines}: {}", streamed["chosen"]);
    }
    // Noise alone, of which nothing is taken: of so many rows how much it might gain is known from paired losses.
    let noise = |row: usize, y: f64| format!("{}", 0.04 * y + (row as f64 * 2.3).sin() + (row as f64 * 0.7).cos());
    folder.write("train.csv", crate::common::table(2100, 4, &[("noise", &noise)]));
    let lines =
        format!("{}{{folds: 5, require_gain: 0.05}}}}\ncriterion: {{kind: kfold, folds: 4}}", GREEDY.replace('5', "4"));
    let [streamed, _] = both(&folder, "noise, exclude: [y]", &lines);
    assert!(streamed["chosen"]["declined"].is_object(), "{}", streamed["chosen"]);
}

#[test]
fn outer_folds_are_judged_by_their_rows() {
    let folder = folder("streamed-outer", 600);
    let plain = format!("y, {OTHERS}");
    for (target, criterion, evaluate) in [
        (&*plain, "{kind: kfold, folds: 4}", "{nested: {folds: 3}}"),
        (&plain, "{kind: kfold, folds: 4}", "{nested: {folds: 3, repeats: 2, interval: 0.8}}"),
        ("y, weights: w, exclude: [class, g, fold]", "{kind: kfold, folds: 4}", "{nested: {folds: 4}}"),
        ("y, groups: g, exclude: [class, w, fold]", "{kind: kfold, by: groups}", "{nested: {folds: 3}}"),
        (&plain, "{kind: kfold, splits: {kind: forward, folds: 4}}", "{nested: {folds: 3}}"),
        ("class, exclude: [y, w, g, fold]", "{kind: kfold, folds: 4, loss: squared}", "{nested: {folds: 3}}"),
    ] {
        let lines = format!("{GREEDY}last}}\ncriterion: {criterion}\nevaluate: {evaluate}");
        let [streamed, _] = both(&folder, target, &lines);
        let nested = &streamed["nested"];
        assert!(nested["standard_error"].is_f64() && nested["paired"]["sha256"].is_string(), "{nested}");
        if evaluate.contains("interval") {
            assert!(nested["interval"].is_array(), "{nested}");
        }
    }
}

#[test]
fn classes_have_probabilities_and_error_rates() {
    let folder = folder("streamed-classes", 600);
    let target = "class, exclude: [y, w, g, fold]";
    for (choose, more) in [
        ("last", ""),
        ("last", "\npreprocess: [standardize]"),
        ("last", "\npreprocess: [{kind: standardize, scope: train}]"),
        ("{folds: 4}", ""),
        ("last", "\nevaluate: {nested: {folds: 3}}"),
    ] {
        let lines = format!("{GREEDY}{choose}}}\ncriterion: {{kind: kfold, folds: 4, loss: squared}}{more}");
        let [streamed, _] = both(&folder, target, &lines);
        let models =
            ["always", "never"].map(|out| folder.json(&format!("{out}/model.json"))["model"]["calibration"].clone());
        assert!(models[0]["maps"].is_array(), "{lines}: {}", models[0]);
        assert!(alike(&models[0], &models[1]), "{lines}: {}\n{}", models[0], models[1]);
        assert!(streamed["report"]["curve"][0]["train_error"].is_f64(), "{}", streamed["report"]["curve"]);
    }
}

#[test]
fn standard_errors_of_one_round_are_between_rows() {
    let folder = folder("streamed-rounds", 500);
    let splits = "criterion: {kind: kfold, splits: {kind: monte_carlo, repeats: 3, fraction: 0.3}}";
    for more in ["", "\npreprocess: [{kind: standardize, target: true, scope: train}]", "\npreprocess: [standardize]"] {
        let [streamed, _] = both(&folder, &format!("y, {OTHERS}"), &format!("{GREEDY}last}}\n{splits}{more}"));
        assert!(streamed["steps"][0]["standard_error"].is_f64());
    }
}

#[test]
fn paths_at_penalties_are_judged_by_rows() {
    let folder = folder("streamed-penalties", 500);
    for search in ["{kind: lars, choose: {folds: 4, patience: null}}", "{kind: lars, choose: {folds: 4, rule: one_se}}"]
    {
        let lines = format!("search: {search}\ncriterion: {{kind: kfold, folds: 4}}");
        both(&folder, &format!("y, {OTHERS}"), &lines);
    }
}

#[test]
fn the_final_fit_is_refined_from_the_rows() {
    let folder = Folder::new("streamed-refined");
    // Two columns far from 0 that differ by a millionth.
    let near = |row: usize, y: f64| (1000.0 + y, 1000.0 + y + 1e-6 * (row as f64 * 1.7).sin());
    let [first, second] = [0, 1]
        .map(|at| move |row: usize, y: f64| format!("{:?}", if at == 0 { near(row, y).0 } else { near(row, y).1 }));
    let target = |row: usize, y: f64| {
        let (a, b) = near(row, y);
        format!("{:?}", 2.0 * a - 1.5 * b + (row as f64 * 1.7 + 0.3).sin())
    };
    let text = crate::common::table(3000, 2, &[("near", &first), ("next", &second), ("z", &target)]);
    folder.write("train.csv", text);
    let lines =
        "search: {kind: all, choose: last}\ncriterion: {kind: kfold, folds: 4}\nlearner: {kind: rls, lambda: 1.0e-12}";
    let found = lines_of(&folder, "z, exclude: [y]", lines).map(|found| {
        let weights = found["selected"].as_array().unwrap().iter().map(|column| column["weight"].as_f64().unwrap());
        weights.collect::<Vec<f64>>()
    });
    let largest = found[1].iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
    assert!(largest > 1e3, "{found:?}");
    let error = found[0].iter().zip(&found[1]).map(|(a, b)| (a - b).abs() / largest).fold(0.0, f64::max);
    assert!(error < 5e-9, "{error:e}: {found:?}");
}
