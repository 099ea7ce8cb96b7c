//! The equation, the methods and the tables of a run.

use super::Folder;
use crate::common::{pipeline, side, table, third};

/// The values of an equation at a row, by reading its text.
fn at(equation: &str, row: &[(&str, f64)]) -> f64 {
    let text = equation.split_once(" = ").unwrap().1.replace(" - ", " + -");
    let term = |term: &str| match term.split_once('·') {
        Some((weight, name)) => weight.parse::<f64>().unwrap() * value(name, row),
        None => match term.strip_prefix('-') {
            _ if term.parse::<f64>().is_ok() => term.parse().unwrap(),
            Some(name) => -value(name, row),
            None => value(term, row),
        },
    };
    text.split(" + ").map(term).sum()
}

fn value(name: &str, row: &[(&str, f64)]) -> f64 {
    row.iter().find(|(own, _)| *own == name).unwrap_or_else(|| panic!("{name}")).1
}

#[test]
fn the_equation_is_in_the_units_of_the_data() {
    let folder = Folder::new("equation");
    folder.write("train.csv", table(60, 4, &[]));
    let yaml =
        pipeline("preprocess: [{kind: standardize, target: true}]\nsearch: {kind: greedy, max_features: 3, choose: 3}");
    let done = folder.run(&yaml);
    let equation = done["equation"][0].as_str().unwrap();
    assert!(equation.starts_with("y = "), "{equation}");
    let text = folder.read("train.csv");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let predicted = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    for (cells, prediction) in lines.zip(predicted.lines().skip(1)) {
        let row: Vec<(&str, f64)> =
            header.iter().zip(&cells).map(|(name, cell)| (*name, cell.parse().unwrap())).collect();
        let (found, wanted) = (at(equation, &row), prediction.parse::<f64>().unwrap());
        assert!((found - wanted).abs() < 2e-3, "{equation}: {found} {wanted}");
    }
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "again"]);
    assert!(ran.out.contains(&format!("\n{equation}\n")), "{}", ran.out);
    let page = folder.read("out/report.html");
    assert!(page.contains("<p class=\"formula\">") && page.contains(equation), "the page lacks {equation}");
}

#[test]
fn methods_have_the_figures_of_the_run() {
    let folder = Folder::new("methods");
    folder.write("train.csv", table(60, 5, &[]));
    let done = folder.run(&pipeline("seed: 7\npreprocess: [standardize]\nevaluate: {nested: {folds: 4}}"));
    let ran = folder.vaglio(&["export", "out", "--to", "methods"]).succeeded_silently();
    let loss = done["nested"]["loss"].as_f64().unwrap();
    let parts = [
        "the target `y` among 5 candidate columns after standardize, on 60 rows".to_owned(),
        vaglio::core::short(loss),
        "4 outer folds".into(),
        "the seed 7".into(),
        done["data"]["digest"].as_str().unwrap().into(),
        "\n3e  sample size: 60 training rows\n".into(),
        "\n6a  separation".into(),
    ];
    for part in parts {
        assert!(ran.out.contains(&part), "{part} is not in\n{}", ran.out);
    }
    let page = folder.read("out/report.html");
    assert!(page.contains("<h2 id=\"methods\">Methods</h2>") && page.contains("REFORMS"));
}

#[test]
fn classes_have_scores_in_the_equation() {
    let folder = Folder::new("scores");
    folder.write("train.csv", table(60, 3, &[("two", &side), ("three", &third)]));
    let two = pipeline("preprocess: [standardize]").replace("target: y", "target: two, exclude: [y, three]");
    let done = folder.run(&two);
    assert!(done["equation"][0].as_str().unwrap().starts_with("score of low = "), "{}", done["equation"]);
    let page = folder.read("out/report.html");
    assert!(page.contains("A row is “low” where the score is above 0, else “high”."));
    let three = pipeline("preprocess: [standardize]").replace("target: y", "target: three, exclude: [y, two]");
    let done = folder.run(&three);
    assert_eq!(done["equation"].as_array().unwrap().len(), 3);
}

#[test]
fn tables_of_the_report_are_csv() {
    let folder = Folder::new("tables");
    folder.write("train.csv", table(40, 4, &[]).replacen("x1", "=x1", 1));
    let done = folder.run(&pipeline("evaluate: {nested: {folds: 3}}"));
    let ran = folder.vaglio(&["export", "out", "--to", "csv", "--out", "tables"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    let names = folder.files("tables");
    for name in ["path.csv", "selected.csv", "steps.csv", "nested.per_fold.csv"] {
        assert!(names.iter().any(|own| own == name), "{name} is not among {names:?}");
    }
    let path = folder.read("tables/path.csv");
    let mut lines = path.lines();
    assert!(lines.next().unwrap().starts_with("size,"), "{path}");
    assert_eq!(lines.count(), done["path"].as_array().unwrap().len());
    let selected = folder.read("tables/selected.csv");
    assert!(selected.contains(",'=x1,"), "{selected}");
}
