//! Files that are no tables, constant columns, single rows, and test rows, new rows and weights that the training rows do
//! not allow. Other bad training rows are in `bad_input`.

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
fn a_constant_column_is_excluded_by_number_name_and_reason() {
    let folder = Folder::new("constant");
    folder.write("train.csv", table(15, 4, &[("k", &|_, _| "7".into())]));
    let done = folder.run(&pipeline(""));
    assert_eq!(done["excluded"], serde_json::json!([{"index": 4, "name": "k", "reason": "constant"}]));
    assert_eq!(done["data"]["features"], 5);
}

#[test]
fn one_row_is_learned_without_an_intercept_alone() {
    let folder = Folder::new("one-row");
    folder.write("train.csv", "a,b,y\n1,2,3\n");
    refused(&folder, &pipeline(""), 2, &["leaving one row out of one leaves none to estimate the intercept"]);
    let done = folder.run(&pipeline("learner: {kind: rls, intercept: false}"));
    assert_eq!(done["data"]["rows"], 1);
    assert!(done["score"].as_f64().unwrap().is_finite());
}

#[test]
fn weights_and_classes_that_leave_nothing_to_learn_are_refused() {
    let folder = Folder::new("nothing-left");
    folder.write("train.csv", "a,y,w\n1,2,1\n2,3,0\n4,3,0\n");
    refused(&folder, &with("weights: w"), 2, &["leaving one row out of one leaves none"]);
    folder.write("train.csv", "a,y\n1,x\n2,x\n");
    refused(&folder, &with("positive: x"), 2, &["two classes are needed"]);
    refused(&folder, &with("task: multiclass"), 2, &["every training row of `y` has the label `x`"]);
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
    folder.write("test.csv", "a,t,y\n1,u,p\nNaN,v,q\n");
    refused(&folder, &yaml, 3, &["test.csv: row 2, column `a`: NaN is not a finite number (1 such value"]);
    folder.write("test.csv", "a,y\n1,p\n");
    refused(&folder, &yaml, 2, &["`data.test`: there is no column `t`"]);
    folder.write("train.csv", "a,t,y\n1,u,1\n2,v,3\n3,u,0\n2,u,1\n");
    let done =
        folder.run(&(pipeline("preprocess: [{kind: one_hot, unknown: error}]\nsearch: {kind: greedy, choose: last}")));
    assert_eq!(names(&timeless(done)).len(), 3);
    folder.write("new.csv", "a,t\n1,u\n2,w\n");
    folder
        .vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"])
        .refused(3, "row 2, column `t`: `w` is none of the levels");
    folder.write("new.csv", "a,t\n1,u\nNaN,u\n");
    folder
        .vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"])
        .refused(3, "new.csv: row 2, column `a`: NaN is not a finite number");
    folder.write("new.csv", "a,tt\n1,u\n");
    folder
        .vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"])
        .refused(2, "there is no column `t`; did you mean `tt`?");
}
