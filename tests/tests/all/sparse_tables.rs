//! Sparse files give what the same table gives as CSV.

use crate::common::{Folder, names, pipeline};
use serde_json::Value;
use std::fmt::Write as _;
use vaglio_testkit::SplitMix64;

const ROWS: usize = 90;
const COLUMNS: usize = 14;

/// Words counted in documents, most of them in few; a last one is in every row, and none has the one before it.
fn counts() -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut random = SplitMix64::new(39);
    let cell = |random: &mut SplitMix64, column: usize| match column {
        12 => 0.0,
        13 => random.normal(),
        _ if random.uniform() < 0.02 + 0.015 * column as f64 => {
            (1.0 + 3.0 * random.uniform()).floor() * if column == 5 { 0.37 } else { 1.0 }
        }
        _ => 0.0,
    };
    let rows: Vec<Vec<f64>> = (0..ROWS).map(|_| (0..COLUMNS).map(|c| cell(&mut random, c)).collect()).collect();
    let y = rows.iter().map(|x| 2.0 * x[11] - x[8] + 1.5 * x[5] + 0.4 * x[13] + 0.3 * random.normal()).collect();
    (rows, y)
}

/// The table as CSV, as svmlight's text, and as Matrix Market with targets beside it.
fn written(folder: &Folder, label: impl Fn(f64) -> String) {
    let (rows, y) = counts();
    let header: Vec<String> = (1..=COLUMNS).map(|k| format!("x{k}")).collect();
    let (mut csv, mut svm) = (header.join(",") + ",y,part\n", String::new());
    let (mut entries, mut count, mut beside) = (String::new(), 0, "y,part\n".to_owned());
    for (row, (x, y)) in rows.iter().zip(&y).enumerate() {
        let part = if row % 5 == 4 { "test" } else { "train" };
        let cells: Vec<String> = x.iter().map(f64::to_string).collect();
        writeln!(csv, "{},{},{part}", cells.join(","), label(*y)).unwrap();
        write!(svm, "{}", label(*y)).unwrap();
        for (k, x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            write!(svm, " {}:{x}", k + 1).unwrap();
            writeln!(entries, "{} {} {x}", row + 1, k + 1).unwrap();
            count += 1;
        }
        svm.push('\n');
        writeln!(beside, "{},{part}", label(*y)).unwrap();
    }
    folder.write("train.csv", csv);
    folder.write("train.svm", svm);
    let banner = "%%MatrixMarket matrix coordinate real general";
    folder.write("words.mtx", format!("{banner}\n{ROWS} {COLUMNS} {count}\n{entries}"));
    folder.write("topics.csv", beside);
}

/// Whether two results have the same columns, and scores within 1e-12 of each other.
fn assert_alike(dense: &Value, sparse: &Value, what: &str) {
    assert_eq!(names(dense), names(sparse), "{what}");
    let near = |a: &Value, b: &Value| match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{what}: {a} is not {b}"),
        _ => assert_eq!(a, b, "{what}"),
    };
    for (list, keys) in [("steps", &["score", "index", "action"][..]), ("path", &["score", "train", "test"])] {
        let [dense, sparse] = [dense, sparse].map(|all| all[list].as_array().unwrap());
        assert_eq!(dense.len(), sparse.len(), "{what}");
        dense.iter().zip(sparse).for_each(|(a, b)| keys.iter().for_each(|key| near(&a[key], &b[key])));
    }
    for key in ["score", "lambda", "empty_score"] {
        near(&dense[key], &sparse[key]);
    }
    near(&dense["test"]["loss"], &sparse["test"]["loss"]);
}

#[test]
fn every_criterion_and_search_has_the_dense_table_s_columns_and_scores() {
    let folder = Folder::new("sparse");
    written(&folder, |y| y.to_string());
    for (criterion, search, more) in [
        ("loo", "greedy", ""),
        ("loo", "floating", "preprocess: [{kind: standardize}]"),
        ("loo", "backward", ""),
        ("kfold", "greedy", "preprocess: [{kind: standardize}]"),
        ("kfold", "greedy", "preprocess: [{kind: standardize, scope: fold}]"),
        ("kfold", "greedy", "preprocess: [{kind: standardize, center: false}]"),
        ("{kind: kfold, folds: 4, shuffle: true}", "backward", ""),
        ("kfold", "floating", ""),
        ("kfold", "lars", ""),
        ("{kind: kfold, folds: 3}", "exhaustive", ""),
        ("{kind: kfold, loss: absolute}", "greedy", ""),
        ("{kind: kfold, splits: {kind: repeated, folds: 5, repeats: 3}}", "floating", ""),
        (
            "{kind: kfold, splits: {kind: forward, folds: 4}}",
            "greedy",
            "preprocess: [{kind: standardize, scope: fold}]",
        ),
        ("{kind: loo, loss: absolute}", "greedy", ""),
        ("information", "greedy", ""),
        ("mrmr", "greedy", ""),
        ("nhsic", "lars", ""),
        ("loo", "lars", ""),
        ("loo", "rank", ""),
        ("information", "exhaustive", ""),
    ] {
        let lines = format!(
            "learner: {{kind: rls, lambda: 0.5}}\ncriterion: {criterion}\nsearch: {{kind: {search}, max_features: 5, choose: last}}\n{more}\n"
        );
        let own = pipeline(&lines);
        let dense = folder.run(&own.replace("target: y", "target: y, test_rows: {column: part, is: test}"));
        let beside = "words.mtx, target: {file: topics.csv, column: y}, test_rows: {column: part, is: test}";
        let sparse = folder.run(&own.replace("train.csv, target: y", beside));
        assert_alike(&dense, &sparse, &format!("{search} on {criterion}, {more}"));
        assert_eq!(dense["data"]["features"], sparse["data"]["features"]);
    }
}

/// A matrix of columns that are hard on sums over entries, its targets, and a fold and a weight for each row.
fn hard(folder: &Folder) {
    let mut random = SplitMix64::new(40);
    let draws: Vec<f64> = (0..ROWS).map(|_| random.uniform()).collect();
    let noise: Vec<f64> = (0..ROWS).map(|_| random.normal()).collect();
    let cell = |row: usize, column: usize| match column {
        // One entry; one a fold; all ones, and all but one; large numbers in few rows; a copy; and what tells the target.
        0 => f64::from(u8::from(row == 31)),
        1 => f64::from(u8::from(row % 18 == 5)),
        2 => 1.0,
        3 => f64::from(u8::from(row != 40)),
        4 => {
            if draws[row] < 0.1 {
                1e6 + row as f64
            } else {
                0.0
            }
        }
        5 | 6 => {
            if draws[row] > 0.85 {
                1.0 + (row % 4) as f64
            } else {
                0.0
            }
        }
        7 => {
            if row % 5 == 1 {
                2.0
            } else {
                0.0
            }
        }
        _ => {
            if (row + column).is_multiple_of(column - 4) {
                noise[row]
            } else {
                0.0
            }
        }
    };
    let (mut entries, mut count) = (String::new(), 0);
    let (mut beside, mut csv) = ("y,weight,fold\n".to_owned(), String::new());
    let columns = 12;
    for column in 0..columns {
        write!(csv, "x{},", column + 1).unwrap();
    }
    csv.push_str("y,weight,fold\n");
    let mut repeated = csv.clone();
    for row in 0..ROWS {
        let x: Vec<f64> = (0..columns).map(|column| cell(row, column)).collect();
        let y = x[7] - 1e-6 * x[4] + x[9] + 0.5 * x[5] + 0.2 * noise[ROWS - 1 - row];
        let (weight, fold) = (1 + row * row % 3, row % 5);
        for (column, x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            writeln!(entries, "{} {} {x}", row + 1, column + 1).unwrap();
            count += 1;
        }
        let cells: Vec<String> = x.iter().map(f64::to_string).collect();
        writeln!(beside, "{y},{weight},{fold}").unwrap();
        writeln!(csv, "{},{y},{weight},{fold}", cells.join(",")).unwrap();
        (0..weight).for_each(|_| writeln!(repeated, "{},{y},1,{fold}", cells.join(",")).unwrap());
    }
    let banner = "%%MatrixMarket matrix coordinate real general";
    folder.write("hard.mtx", format!("{banner}\n{ROWS} {columns} {count}\n{entries}"));
    folder.write("beside.csv", beside);
    folder.write("train.csv", csv);
    folder.write("repeated.csv", repeated);
}

#[test]
fn hard_columns_and_weights_have_the_dense_scores_in_folds() {
    let folder = Folder::new("hard");
    hard(&folder);
    let beside = "hard.mtx, target: {file: beside.csv, column: y}";
    for (search, loss, more) in [
        ("greedy", "squared", ""),
        ("greedy", "squared", "preprocess: [{kind: standardize}]"),
        ("floating", "squared", "preprocess: [{kind: standardize, scope: fold}]"),
        ("backward", "squared", ""),
        ("greedy", "absolute", ""),
    ] {
        let lines = format!(
            "learner: {{kind: rls, lambda: 0.5}}\ncriterion: {{kind: kfold, assignment: fold, loss: {loss}}}\nsearch: {{kind: {search}, max_features: 5, choose: last}}\n{more}\n"
        );
        let what = format!("{search}, {loss}, {more}");
        let own = pipeline(&lines);
        let plain = own.replace("target: y", "target: y, exclude: [weight]");
        let (dense, sparse) =
            (folder.run(&plain), folder.run(&plain.replace("train.csv, target: y, exclude: [weight]", beside)));
        let losses =
            |result: &Value| result["path"].as_array().unwrap().iter().map(|s| s["score"].clone()).collect::<Vec<_>>();
        let near = |a: &Value, b: &Value, what: &str| {
            assert_eq!(names(a), names(b), "{what}");
            for (a, b) in losses(a).iter().zip(losses(b)) {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                assert!((a - b).abs() <= 1e-12 * a.max(1.0), "{what}: {a} is not {b}");
            }
        };
        near(&dense, &sparse, &what);
        // A weight counts as so many rows.
        let weighted = folder.run(&own.replace("train.csv, target: y", &format!("{beside}, weights: weight")));
        let repeated = folder.run(&plain.replace("train.csv", "repeated.csv"));
        near(&repeated, &weighted, &format!("weights, {what}"));
    }
}

#[test]
fn classes_of_svmlight_s_text_are_its_labels() {
    let folder = Folder::new("labels");
    written(&folder, |y| if y > 0.5 { "+1".into() } else { "-1".into() });
    for loss in ["zero_one", "auc", "balanced_error", "balanced_squared", "squared"] {
        for criterion in ["kind: loo", "kind: kfold, folds: 5, stratified: true"] {
            let lines = format!(
                "learner: {{kind: rls, lambda: 0.5}}\ncriterion: {{{criterion}, loss: {loss}}}\nsearch: {{kind: greedy, max_features: 5, choose: last}}\n"
            );
            let own = pipeline(&lines).replace("y}", "y, exclude: [part], task: binary, positive: \"1\"}");
            let dense = folder.run(&own);
            let sparse = folder.run(&own.replace("train.csv, target: y, exclude: [part]", "train.svm"));
            assert_alike(&dense, &sparse, &format!("{criterion}, {loss}"));
        }
    }
    // Rows that lack the last columns, and what `predict` writes of them.
    folder.write("new.svm", "+1 12:3\n-1 1:1\n");
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.svm", "--evaluate"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 3), "{}", ran.err);
    assert!(ran.err.contains("error rate"), "{}", ran.err);
    let zeros = vec!["0"; COLUMNS];
    let mut rows = [zeros.clone(), zeros];
    (rows[0][11], rows[1][0]) = ("3", "1");
    let header: Vec<String> = (1..=COLUMNS).map(|k| format!("x{k}")).collect();
    folder.write("new.csv", format!("{}\n{}\n{}\n", header.join(","), rows[0].join(","), rows[1].join(",")));
    let dense = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
    assert_eq!(dense.out, ran.out);
}

#[test]
fn a_file_of_targets_is_told_by_what_it_lacks() {
    let folder = Folder::new("beside");
    written(&folder, |y| y.to_string());
    folder.write(
        "y.csv",
        folder.read("topics.csv").lines().map(|l| l.split(',').next().unwrap()).collect::<Vec<_>>().join("\n"),
    );
    folder.write("short.csv", "y\n1\n2\n");
    let of = |target: &str| {
        format!(
            "version: 1\ndata: {{train: words.mtx, target: {target}}}\nsearch: {{kind: greedy, max_features: 2, choose: last}}\n"
        )
    };
    let one = folder.run(&of("y.csv"));
    let named = folder.run(&of("{file: topics.csv, column: y}"));
    assert_eq!((names(&one), &one["score"]), (names(&named), &named["score"]));
    // The pipeline with its defaults repeats the run from where it stands.
    folder.vaglio(&["run", "out/resolved.yaml", "--out", "again", "--quiet", "--json"]).succeeded();
    for (target, code, expected) in [
        ("topics.csv", 2, "topics.csv has 2 columns (y, part); say which by `{file: topics.csv, column: part}`"),
        ("{file: topics.csv, column: z}", 2, "there is no column `z`"),
        ("{file: none.csv}", 3, "none.csv"),
        ("short.csv", 3, "short.csv: it has 2 rows, and the data beside it have 90"),
        ("zz", 2, "there is no column `zz`"),
    ] {
        folder.write("p.yaml", of(target));
        let ran = folder.vaglio(&["plan", "p.yaml"]);
        assert_eq!(ran.code, Some(code), "{target}: {}", ran.err);
        assert!(ran.err.contains(expected), "{target}: {}", ran.err);
    }
    for (data, expected) in [
        ("train: train.csv, target: {file: topics.csv}", "a file of targets stands beside sparse data"),
        ("train: train.csv", "name the column to predict"),
        ("train: words.mtx, target: y.csv, test: words.mtx", "part them by test_rows, test_fraction or test_last"),
    ] {
        folder.write("p.yaml", format!("version: 1\ndata: {{{data}}}\n"));
        folder.vaglio(&["plan", "p.yaml"]).refused(2, expected);
    }
}
