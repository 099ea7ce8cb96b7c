//! Condensed tables: what needs sums of products alone is equal on the few rows and on all.

use crate::common::{Folder, Made, case_stride, table};
use serde_json::Value;
use vaglio_testkit::Tolerance;

/// Rows with weights, in five groups of different sizes, a constant column and a copy of another.
fn rows(count: usize) -> String {
    let weight = |row: usize, _: f64| (0.5 + (row * 7 % 16) as f64 / 10.0).to_string();
    let group = |row: usize, _: f64| ["a", "b", "c", "d", "e"][(row * row / 7) % 5].to_owned();
    let far = |row: usize, y: f64| (1e3 + y + (0.61 * row as f64).sin()).to_string();
    let copy = |row: usize, y: f64| (1e3 + y + (0.61 * row as f64).sin()).to_string();
    let extra: [Made<'_>; 5] =
        [("w", &weight), ("g", &group), ("far", &far), ("copy", &copy), ("five", &|_, _| "5".to_owned())];
    table(count, 6, &extra)
}

/// Fails unless scores, sizes, errors and figures of two results are equal to 1e-11.
fn equal(all: &Value, condensed: &Value, what: &str) {
    let near = |a: &Value, b: &Value, key: &str| match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => Tolerance { tolerance: 1e-11, least: 1e-300 }.assert(a, b, format!("{key} of {what}")),
        _ => assert_eq!(a, b, "{key} of {what}"),
    };
    for key in ["score", "empty_score", "lambda", "intercept"] {
        near(&all[key], &condensed[key], key);
    }
    for (list, keys) in [
        ("path", &["size", "score", "lambda", "cross_validated", "cross_validated_error", "train", "mse", "r2"][..]),
        ("path", &["adjusted_r2", "freedom", "aicc", "bic", "cp"]),
        ("steps", &["index", "score", "size", "tied"]),
        ("selected", &["index", "weight", "without"]),
    ] {
        let [all, condensed] = [all, condensed].map(|result| result[list].as_array().unwrap());
        assert_eq!(all.len(), condensed.len(), "{list} of {what}");
        for (all, condensed) in all.iter().zip(condensed) {
            keys.iter().for_each(|key| near(&all[key], &condensed[key], key));
        }
    }
    near(&all["nested"]["loss"], &condensed["nested"]["loss"], "nested.loss");
    near(&all["nested"]["standard_error"], &condensed["nested"]["standard_error"], "nested.standard_error");
}

/// Settings meet the kinds of weights in turn; with `VAGLIO_CASES=all`, each.
#[test]
fn figures_of_sums_are_those_of_all_rows() {
    let stride = case_stride(3);
    let folder = Folder::new("condense");
    folder.write("train.csv", rows(400));
    for (number, weights) in [", weights: w", "", ", exclude: [w]"].into_iter().enumerate() {
        let data = format!("version: 1\ndata: {{train: train.csv, target: y, groups: g{weights}}}\n");
        folder.write("all.yaml", &data);
        let out = format!("small{number}.parquet");
        folder.vaglio(&["condense", "all.yaml", "--folds", "5", "--out", &out]).succeeded();
        for lines in [
            "criterion: {kind: kfold, by: groups}\nevaluate: {nested: {folds: 5}}",
            "criterion: {kind: kfold, by: groups}\npreprocess: [standardize]\nsearch: {kind: backward, choose: {folds: 5}}",
            "criterion: {kind: kfold, by: groups}\nlearner: {kind: rls, lambda: 1e-9}\nsearch: {kind: exhaustive, choose: last}",
            "criterion: {kind: kfold, by: groups}\nsearch: {kind: lars, choose: last}",
            "criterion: {kind: information, measure: bic}\nsearch: {kind: backward, choose: best}",
            "criterion: {kind: information, measure: aicc}\nlearner: {kind: rls, lambda: 2}",
            "criterion: {kind: information, measure: cp}\nlearner: {kind: rls, lambda: 2}",
        ]
        .into_iter()
        .skip(number % stride)
        .step_by(stride)
        {
            let all = folder.run(&format!("{data}{lines}\n"));
            let condensed = folder.run(&format!("version: 1\ndata: {{train: {out}, target: y}}\n{lines}\n"));
            equal(&all, &condensed, &format!("{lines}{weights}"));
            let said = condensed["warnings"][0]["message"].as_str().unwrap();
            assert!(said.ends_with("stand for 400 rows"), "{said}");
            assert!(all["report"]["residuals"].is_object() && condensed["report"]["residuals"].is_null(), "{lines}");
            assert!(condensed["report"]["predictions"].is_null(), "{lines}");
        }
    }
}

#[test]
fn parts_are_merged_by_condensing_them_again() {
    let folder = Folder::new("condense-parts");
    let text = rows(300);
    let (header, lines) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    folder.write("all.csv", &text);
    for (part, lines) in lines.chunks(110).enumerate() {
        folder.write(&format!("{part}.csv"), format!("{header}\n{}\n", lines.join("\n")));
        folder
            .write("p.yaml", format!("version: 1\ndata: {{train: {part}.csv, target: y, weights: w, exclude: [g]}}\n"));
        let out = format!("{part}.parquet");
        folder.vaglio(&["condense", "p.yaml", "--folds", "4", "--out", &out]).succeeded();
    }
    let merged = ["condense", "0.parquet", "1.parquet", "2.parquet", "--target", "y", "--out", "whole.parquet"];
    let said = folder.vaglio(&merged).succeeded();
    assert_eq!(said.err, "whole.parquet: 40 weighted rows in 4 folds stand for 300 rows\n");
    let bytes = std::fs::read(folder.path("whole.parquet")).unwrap();
    let about = br#"{"rows":300,"files":["0.parquet","1.parquet","2.parquet"],"digest":"blake3:"#;
    assert!(bytes.windows(about.len()).any(|window| window == about), "the file does not say what it is");
    let lines = "criterion: {kind: information, measure: bic}\nlearner: {kind: rls, lambda: 1}\n";
    let all =
        folder.run(&format!("version: 1\ndata: {{train: all.csv, target: y, weights: w, exclude: [g]}}\n{lines}"));
    for train in ["whole.parquet", "[0.parquet, 1.parquet, 2.parquet]"] {
        let condensed = folder.run(&format!("version: 1\ndata: {{train: {train}, target: y}}\n{lines}"));
        equal(&all, &condensed, train);
    }
}

#[test]
fn settings_that_need_single_rows_are_refused() {
    let folder = Folder::new("condense-refused");
    folder.write("train.csv", rows(60));
    folder.write("classes.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n");
    folder.write("p.yaml", "version: 1\ndata: {train: train.csv, target: y, exclude: [g, w]}\n");
    let condense = |arguments: &[&str]| folder.vaglio(&[&["condense"], arguments].concat());
    folder.write("smaller.yaml", "version: 1\ndata: {train: small.parquet, target: y}\n");
    condense(&["p.yaml", "--folds", "3", "--out", "small.parquet"]).succeeded();
    for (arguments, words) in [
        (&["train.csv", "--folds", "3", "--out", "a.parquet"][..], "`--target`: it is missing"),
        (&["p.yaml", "--target", "y", "--out", "a.parquet"], "`--target`: the pipeline names its target"),
        (&["p.yaml", "--out", "a.csv"], "end its name in `.parquet`"),
        (&["p.yaml", "--folds", "1", "--out", "a.parquet"], "`--folds`: 1 is too few; 2 is the least"),
        (&["classes.csv", "--target", "y", "--out", "a.parquet"], "regression"),
        (&["small.parquet", "--target", "y", "--out", "small.parquet"], "small.parquet"),
        (&["smaller.yaml", "--out", "small.parquet"], "small.parquet"),
    ] {
        let ran = condense(arguments);
        assert!(ran.code > Some(1) && ran.out.is_empty(), "{arguments:?}");
        assert!(ran.err.contains(words), "{}", ran.err);
        assert!(!folder.path("a.parquet").exists());
    }
    let data = "version: 1\ndata: {train: small.parquet, target: y}\n";
    let kfold = "criterion: {kind: kfold, by: groups}\n";
    for (lines, field) in [
        (format!("{data}criterion: loo\n"), "criterion"),
        (format!("{data}criterion: nhsic\n"), "criterion"),
        (format!("{data}criterion: {{kind: kfold, folds: 4}}\n"), "criterion"),
        (format!("{data}criterion: {{kind: kfold, by: groups, loss: absolute}}\n"), "criterion"),
        (format!("{data}{kfold}learner: elm\n"), "learner"),
        (format!("{data}{kfold}preprocess: [{{kind: interactions, columns: [x0, x1]}}]\n"), "preprocess[0]"),
        (format!("{data}{kfold}target_map: log\n"), "target_map"),
        (format!("{data}{kfold}evaluate: {{permutations: 3}}\n"), "evaluate.permutations"),
        (format!("{data}{kfold}evaluate: {{intervals: 0.9}}\n"), "evaluate.intervals"),
        (format!("{data}{kfold}evaluate: {{learning_curve: true}}\n"), "evaluate.learning_curve"),
        (format!("{data}{kfold}model: {{kind: rls, lambda: 1}}\n"), "model"),
        (data.replace("target: y", "target: y, weights: x0"), "data.weights"),
        (data.replace("target: y", "target: y, groups: x0"), "data.groups"),
        (data.replace("target: y", "target: y, rows: {column: x0, from: 0}"), "data.rows"),
        (data.replace("target: y", "target: y, test_rows: {column: x0, is: 1}"), "data.test_rows"),
        (data.replace("target: y", "target: y, test_last: 0.3"), "data.test_last"),
        (data.replace("target: y", "target: y, time: x0"), "data.time"),
        (data.replace("target: y", "target: y, series: x0"), "data.series"),
        (data.replace("small.parquet", "train.csv, test: small.parquet, exclude: [g, w]"), "data.test"),
        (format!("{data}{kfold}search: {{kind: greedy, choose: {{fdr: 0.1}}}}\n"), "search.choose"),
    ] {
        folder.write("q.yaml", &lines);
        for command in ["plan", "run"] {
            let ran = folder.vaglio(&[command, "q.yaml"]).refused(2, field);
            assert!(ran.err.contains("the table is condensed") && ran.err.contains(&format!("`{field}")), "{lines}");
        }
    }
}
