//! Models that a language cannot express, and rows that a model cannot take.

use super::data::{Kinds, table};
use super::runners::{FORMATS, Runner};
use super::{Folder, USUAL, compare, fitted, pipeline, predicted};
use crate::common;

/// Points of a target map are too many for a spreadsheet and are held by the others.
pub fn rank(yaml: &str) {
    let (folder, expected) = fitted("rank", yaml);
    for format in FORMATS {
        let ran = folder.vaglio(&["export", "out", "--to", format, "--out", &format!("model.{format}")]);
        if format == "excel" {
            assert_eq!(ran.code, Some(2));
            let message = "`--to`: a spreadsheet cannot hold the target map, which has 120 points: 60 are the most";
            assert!(ran.err.contains(message), "{}", ran.err);
            continue;
        }
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{format}");
        let Some(runner) = Runner::new(format) else { continue };
        compare(&format!("rank as {format}"), &runner.run(&folder, "new.csv"), &expected);
    }
}

#[test]
fn what_is_no_formula_is_refused_by_name() {
    let cases = [
        ("learner: {kind: fs_ls_svm}", "the model `fs_ls_svm_model`"),
        ("learner: knn", "the model `neighbours`"),
        ("preprocess: [{kind: window, lags: {x0: [1]}}]", "the map `window`, which makes the column `x1`"),
    ];
    for (lines, part) in cases {
        let folder = Folder::new("no-formula");
        folder.write("train.csv", common::table(40, 3, &[]));
        folder.run(&common::pipeline(&format!("{lines}\nsearch: {{kind: greedy, max_features: 2, choose: last}}")));
        for (format, language) in [("sql", "SQL"), ("python", "Python"), ("onnx", "ONNX")] {
            let ran = folder.vaglio(&["export", "out", "--to", format, "--out", "never"]);
            let message = format!("error: `--to`: {language} cannot hold {part}\n");
            assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(2), "", message.as_str()), "{lines}");
            assert!(!folder.path("never").exists());
        }
    }
}

/// Cells that no map fills: `vaglio predict` refuses the table, and each language gives these rows no prediction.
#[test]
fn rows_that_the_model_cannot_take_have_no_prediction() {
    let folder = Folder::new("missing");
    folder.write("train.csv", table(80, 1, &Kinds { dates: true, missing: false }));
    let whole = table(14, 2, &Kinds { dates: true, missing: false });
    folder.write("whole.csv", &whole);
    folder.write("new.csv", table(14, 2, &Kinds::ALL));
    folder.run(&pipeline(
        "y",
        &format!(
            "preprocess: [{}, standardize]",
            USUAL.replace("{kind: impute, how: mean}, {kind: impute, how: most_frequent}, ", "")
        ),
    ));
    let refused = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    let mut expected = predicted(&folder, "whole.csv");
    // The rows in which the table has missing cells.
    for row in [3, 10, 5, 6] {
        expected.get_mut("prediction").unwrap()[row] = None;
    }
    for format in FORMATS {
        let ran = folder.vaglio(&["export", "out", "--to", format, "--out", &format!("model.{format}")]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{format}");
        let Some(runner) = Runner::new(format) else { continue };
        compare(&format!("missing cells as {format}"), &runner.run(&folder, "new.csv"), &expected);
    }
}

#[test]
fn a_model_of_no_column_and_slips() {
    let folder = Folder::new("slips");
    folder.write("train.csv", common::table(30, 3, &[]));
    folder.run(&common::pipeline("search: {kind: greedy, tolerance: 1e6}"));
    let ran = folder.vaglio(&["export", "out", "--to", "python"]).succeeded_silently();
    assert!(ran.out.contains("COLUMNS = []"), "{}", ran.out);
    for (format, language) in [("onnx", "ONNX"), ("pmml", "PMML")] {
        let ran = folder.vaglio(&["export", "out", "--to", format, "--out", "never"]);
        let message = format!("error: `--to`: {language} cannot hold a model without columns, ");
        assert!(ran.code == Some(2) && ran.err.starts_with(&message), "{}", ran.err);
        assert!(!folder.path("never").exists());
    }
    let ran = folder.vaglio(&["export", "out", "--to", "perl"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let ran = folder.vaglio(&["export", "nowhere", "--to", "sql"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), "error: nowhere: there is no such file\n"));
    let by_file = |to: &str| folder.vaglio(&["export", "out/model.json", "--to", to]);
    let by_folder = |to: &str| folder.vaglio(&["export", "out", "--to", to]);
    for to in ["sql", "methods"] {
        assert_eq!((by_file(to).code, by_file(to).out), (Some(0), by_folder(to).out), "{to}");
    }
    folder.vaglio(&["export", "out", "--to", "csv"]).refused(2, "tables are several files; name the folder to write");
}
