//! Bad data: what cannot be used is refused in words; what can be used is.

use crate::common::{Folder, names, pipeline, table, timeless};

/// Runs a pipeline on `train.csv` and expects a refusal with these words, which leaves an earlier result as it is.
fn refused(folder: &Folder, yaml: &str, code: i32, words: &[&str]) {
    folder.write("p.yaml", yaml);
    let result = || std::fs::read(folder.path("out/selection.json")).ok();
    let before = result();
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert_eq!(ran.code, Some(code), "{yaml}\n{ran:?}");
    assert_eq!(ran.out, "");
    assert!(ran.err.starts_with("error: "), "{}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "{yaml}\nlacks {word}\n{}", ran.err);
    }
    assert_eq!(result(), before);
}

fn with(more: &str) -> String {
    format!("version: 1\ndata: {{train: train.csv, target: y, {more}}}\n")
}

#[test]
fn cells_that_are_not_finite_name_file_row_column_and_value() {
    let folder = Folder::new("cells");
    for (cell, value) in [("NaN", "NaN"), ("inf", "inf"), ("-inf", "-inf"), ("", "an empty cell"), ("1e400", "1e400")] {
        for (column, position) in [("b", 1), ("y", 2), ("w", 3)] {
            let mut row = ["1", "2", "3", "1"];
            row[position] = cell;
            let text = format!("a,b,y,w\n0,1,2,1\n{}\n5,4,2,1\n{}\n", row.join(","), row.join(","));
            folder.write("train.csv", text);
            let is = if cell.is_empty() { "(2 such cells" } else { "is not a finite number (2 such values" };
            let words = format!("train.csv: row 2, column `{column}`: {value} {is}");
            refused(&folder, &with("weights: w"), 3, &[&words]);
        }
    }
    folder.write("train.csv", "a,y\n1,2\n2,1\n3,3\n");
    folder.write("test.csv", "a,y\n1,2\nNaN,2\n");
    refused(
        &folder,
        &with("test: test.csv"),
        3,
        &["test.csv: row 2, column `a`: NaN is not a finite number (1 such value"],
    );
    let done = folder.run(&pipeline("search: {kind: greedy, choose: last}"));
    assert_eq!(done["status"], "complete");
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "test.csv"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    assert!(ran.err.contains("test.csv: row 2, column `a`: NaN is not a finite number"), "{}", ran.err);
}

#[test]
fn files_that_are_no_table_are_refused_with_their_line() {
    let folder = Folder::new("files");
    let cases: [(&[u8], &str); 7] = [
        (b"", "train.csv: is empty; expected a header and rows"),
        (b"a,y\n", "train.csv: has a header and no rows"),
        (b"a,y\n1\n", "train.csv: line 2 (data row 1) has 1 cells and the header has 2"),
        (b"a,y\n1,2\n1,2,3\n", "train.csv: line 3 (data row 2) has 3 cells and the header has 2"),
        (b"a,y\n1,\xe9\n", "train.csv: line 2 (data row 1), column `y`: the text is not UTF-8"),
        (b"a,y\n1,2\n1,\xe9\n", "train.csv: line 3 (data row 2), column `y`: the text is not UTF-8"),
        (b"a,a,y\n1,1,2\n", "train.csv: the column name `a` stands twice"),
    ];
    for (text, words) in cases {
        folder.write("train.csv", text);
        refused(&folder, &pipeline(""), 3, &[words]);
    }
    std::fs::remove_file(folder.path("train.csv")).unwrap();
    refused(&folder, &pipeline(""), 3, &["train.csv: there is no such file"]);
    folder.write("train.xml", "a,y\n1,2\n");
    refused(
        &folder,
        &pipeline("").replace("csv", "xml"),
        3,
        &["train.xml: data are read from .csv, .tsv, .txt, .data, .parquet, .arrow"],
    );
    folder.write("train.parquet", "a,y\n1,2\n");
    refused(&folder, &pipeline("").replace("csv", "parquet"), 3, &["train.parquet: "]);
    folder.write("train.csv", "a,y\n1,2\n3,4\n2,2\n");
    refused(&folder, &with("test: nowhere.csv"), 3, &["nowhere.csv: there is no such file"]);
}

#[test]
fn weights_that_are_none_are_refused() {
    let folder = Folder::new("weights");
    for (weights, code, words) in [
        (["1", "-1", "1"], 3, "row 2, column `w`: the weight -1 is negative"),
        (["0", "0", "0"], 3, "column `w`: every row has weight 0"),
        (["1", "u", "1"], 2, "`data.weights`: the column `w` holds text; weights are numbers"),
        (["1", "inf", "1"], 3, "row 2, column `w`: inf is not a finite number"),
        (["1", "0", "0"], 2, "leaving one row out of one leaves none"),
    ] {
        folder.write("train.csv", format!("a,y,w\n1,2,{}\n2,3,{}\n4,3,{}\n", weights[0], weights[1], weights[2]));
        refused(&folder, &with("weights: w"), code, &[words]);
    }
}

#[test]
fn scales_that_doubles_cannot_hold_are_refused_and_name_the_column() {
    let folder = Folder::new("scales");
    let scaled = |x: &str, y: &str| format!("a,y\n1{x},1{y}\n2{x},2{y}\n-3{x},1.5{y}\n");
    for (x, y, words) in [("e200", "", "column `a`"), ("e-310", "", "column `a`"), ("", "e200", "target")] {
        folder.write("train.csv", scaled(x, y));
        refused(&folder, &pipeline(""), 4, &[words, "flow"]);
    }
    for (x, y) in [("e100", ""), ("e-100", ""), ("", "e100"), ("", "e-100")] {
        folder.write("train.csv", scaled(x, y));
        let done = folder.run(&pipeline("learner: {kind: rls, lambda: 1}"));
        assert!(done["score"].as_f64().unwrap().is_finite());
    }
    folder.write("train.csv", table(12, 4, &[]));
    for lambda in ["1e300", "1e-300"] {
        let done = folder.run(&pipeline(&format!("learner: {{kind: rls, lambda: {lambda}}}")));
        assert!(done["score"].as_f64().unwrap().is_finite(), "{lambda}");
        assert!(!done["steps"].as_array().unwrap().is_empty(), "{lambda}");
    }
}

#[test]
fn constant_columns_are_excluded_and_change_nothing() {
    let folder = Folder::new("constant");
    folder.write("train.csv", table(15, 4, &[("k", &|_, _| "7".into())]));
    let with_it = folder.run(&pipeline(""));
    assert_eq!(with_it["excluded"], serde_json::json!([{"index": 4, "name": "k", "reason": "constant"}]));
    assert_eq!(with_it["data"]["features"], 5);
    let without = folder.run(&with("exclude: [k]"));
    for key in ["steps", "path", "selected", "score", "lambda", "intercept", "empty_score", "stop_reason"] {
        if key != "stop_reason" {
            assert_eq!(with_it[key], without[key], "{key}");
        }
    }
    refused(
        &folder,
        &pipeline("search: {kind: greedy, forced: [k]}"),
        2,
        &["`k` is constant, so it cannot be selected"],
    );

    folder.write("train.csv", "a,b,y\n1,2,5\n1,2,6\n1,2,7\n");
    let done = folder.run(&pipeline(""));
    assert_eq!((&done["status"], names(&done).len()), (&"complete".into(), 0));
    assert_eq!(done["excluded"].as_array().unwrap().len(), 2);
    assert_eq!(done["score"], done["empty_score"]);
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "prediction\n6\n6\n6\n".replace('6', "6.0").as_str()));
}

#[test]
fn duplicate_and_dependent_columns_work() {
    let folder = Folder::new("duplicate");
    let mut lines = table(20, 4, &[]).lines().map(str::to_owned).collect::<Vec<_>>();
    for (row, line) in lines.iter_mut().enumerate() {
        let cell = line.split(',').nth(1).unwrap().to_owned();
        let third = if row == 0 { "x1_third".into() } else { (cell.parse::<f64>().unwrap() / 3.0).to_string() };
        *line = if row == 0 { format!("{line},copy,{third}") } else { format!("{line},{cell},{third}") };
    }
    folder.write("train.csv", lines.join("\n"));
    let done = folder.run(&pipeline("learner: {kind: rls, lambda: 1.0}"));
    assert_eq!(done["steps"][0]["index"], 1);
    assert_eq!(done["steps"][0]["tied"], serde_json::json!([4]));
    assert!(done["steps"].as_array().unwrap().iter().all(|s| s["score"].as_f64().unwrap().is_finite()));
    for lambda in ["1e-12", "1e-300"] {
        let learner = format!("learner: {{kind: rls, lambda: {lambda}}}\nsearch: {{kind: greedy, choose: last}}");
        folder.write("p.yaml", pipeline(&learner));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--json"]);
        assert!(matches!(ran.code, Some(0 | 4)), "{lambda}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
}

#[test]
fn small_tables_work_where_they_can() {
    let folder = Folder::new("small");
    folder.write("train.csv", "a,b,y\n1,2,3\n");
    refused(
        &folder,
        &pipeline(""),
        2,
        &["leaving one row out of one leaves none to estimate the intercept", "intercept"],
    );
    let done = folder.run(&pipeline("learner: {kind: rls, intercept: false}"));
    assert_eq!(done["data"]["rows"], 1);
    assert!(done["score"].as_f64().unwrap().is_finite());

    folder.write("train.csv", table(6, 30, &[]));
    let done = folder.run(&pipeline(""));
    assert_eq!(done["steps"].as_array().unwrap().len(), 6, "as many columns as rows");
    assert!(done["steps"].as_array().unwrap().iter().all(|s| s["score"].as_f64().unwrap().is_finite()));

    folder.write("train.csv", "a,y\n1,2\n2,4\n3,5.5\n");
    assert_eq!(names(&folder.run(&pipeline(""))), ["a"]);
    folder.write("train.csv", "y\n1\n2\n");
    refused(&folder, &pipeline(""), 2, &["no column is left to select from"]);

    folder.write("train.csv", "a,b,y\n1,2,5\n2,-1,5\n3,1,5\n4,4,5\n");
    let done = folder.run(&pipeline(""));
    assert!(done["score"].as_f64().unwrap() < 1e-20);
    assert!((done["intercept"].as_f64().unwrap() - 5.0).abs() < 1e-12);
}

#[test]
fn classes_that_cannot_be_told_apart_are_refused() {
    let folder = Folder::new("classes");
    folder.write("train.csv", "a,y\n1,x\n2,x\n");
    refused(&folder, &pipeline(""), 2, &["`data.target`: every training row of `y` has the label `x`"]);
    refused(&folder, &with("positive: x"), 2, &["two classes are needed"]);
    folder.write("train.csv", "a,y\n1,1\n2,1\n");
    refused(&folder, &with("task: binary"), 2, &["every training row of `y` has the label `1`"]);
    refused(&folder, &with("task: multiclass"), 2, &["every training row of `y` has the label `1`"]);
    refused(&folder, &pipeline("criterion: {kind: loo, loss: balanced_error}"), 2, &["the task is regression"]);
}

#[test]
fn test_rows_that_differ_from_training_rows_are_refused() {
    let folder = Folder::new("unseen");
    folder.write("train.csv", "a,t,y\n1,u,p\n2,v,q\n3,u,q\n2,u,p\n");
    let yaml = with("test: test.csv") + "preprocess: [{kind: one_hot, unknown: error}]\n";
    folder.write("test.csv", "a,t,y\n1,u,p\n2,z,q\n");
    refused(&folder, &yaml, 3, &["test.csv: row 2, column `t`: `z` is none of the levels of the training rows"]);
    folder.write("test.csv", "a,t,y\n1,u,p\n2,v,r\n");
    refused(&folder, &yaml, 2, &["row 2, column `y`: the label `r` is not among those of the training rows"]);
    folder.write("test.csv", "a,y\n1,p\n");
    refused(&folder, &yaml, 2, &["`data.test`: there is no column `t`"]);
    folder.write("train.csv", "a,t,y\n1,u,1\n2,v,3\n3,u,0\n2,u,1\n");
    let done =
        folder.run(&(pipeline("preprocess: [{kind: one_hot, unknown: error}]\nsearch: {kind: greedy, choose: last}")));
    assert_eq!(names(&timeless(done)).len(), 3);
    folder.write("new.csv", "a,t\n1,u\n2,w\n");
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    assert!(ran.err.contains("row 2, column `t`: `w` is none of the levels"), "{}", ran.err);
    folder.write("new.csv", "a,tt\n1,u\n");
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("there is no column `t`; did you mean `tt`?"), "{}", ran.err);
}
