//! `vaglio explain`, `evaluate.worth` and `--worth`: what columns of a run are worth.

use crate::common::{Folder, names, pipeline, side, table};
use serde_json::Value;

/// The lines that an explanation has for a column.
fn section<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!("{name}  ");
    text.lines().skip_while(|line| !line.starts_with(&start)).take_while(|line| !line.is_empty()).collect()
}

fn explained(folder: &Folder, columns: &[&str]) -> String {
    let ran = folder.vaglio(&[&["explain", "out"], columns].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.out
}

fn selection(folder: &Folder, arguments: &[&str]) -> Value {
    let ran = folder.vaglio(&[&["run", "p.yaml", "--out", "out", "--json", "--quiet"], arguments].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// The first score of a line: what it goes to.
fn score(line: &str, before: &str) -> f64 {
    let rest = line.split_once(before).unwrap_or_else(|| panic!("{line}")).1.trim_start_matches([' ', ':']);
    rest.split([' ', ',']).next().unwrap().parse().unwrap()
}

fn near(a: f64, b: &Value) {
    let b = b.as_f64().unwrap();
    assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn chosen_columns_are_explained_as_the_run_does_it() {
    let folder = Folder::new("explain");
    folder.write("train.csv", table(40, 6, &[("c", &|_, _| "1".into()), ("k", &side)]));
    for lines in [
        "search: {kind: greedy, max_features: 3, choose: last}",
        "learner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0]}}",
        "learner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0], per: subset}}\nsearch: {kind: greedy, max_features: 3}",
        "preprocess: [{kind: one_hot}, {kind: standardize, scope: fold}]\ncriterion: {kind: kfold, folds: 4}",
        "criterion: mrmr\nsearch: {kind: greedy, max_features: 2}",
        "criterion: qpfs\nsearch: {kind: greedy, max_features: 2}",
        "criterion: {kind: information, measure: bic}\nsearch: {kind: greedy, max_features: 2, choose: last}",
    ] {
        let maps = if lines.contains("preprocess") { "" } else { "preprocess: [{kind: one_hot}]\n" };
        folder.write("p.yaml", pipeline(&format!("{maps}{lines}")));
        let found = selection(&folder, &[]);
        let text = explained(&folder, &[]);
        for (place, column) in found["selected"].as_array().unwrap().iter().enumerate() {
            let told = section(&text, column["name"].as_str().unwrap());
            assert!(told[0].contains(&format!("chosen, column {} of", place + 1)), "{lines}\n{text}");
            let line = |start: &str| *told.iter().find(|line| line.trim_start().starts_with(start)).unwrap();
            near(score(line("score without it"), "without it"), &column["without"]);
            for other in column["substitutes"].as_array().into_iter().flatten() {
                let start = format!("with {} in its place", other["name"].as_str().unwrap());
                near(score(line(&start), "in its place"), &other["score"]);
            }
        }
    }
}

#[test]
fn a_column_outside_is_tried_beside_the_result_and_in_every_place() {
    let folder = Folder::new("explain-outside");
    folder.write("train.csv", table(40, 6, &[("c", &|_, _| "1".into())]));
    folder.write("p.yaml", pipeline("search: {kind: greedy, max_features: 3, choose: last}"));
    let longer = selection(&folder, &[]);
    let (third, added) = (longer["steps"][2]["name"].as_str().unwrap(), &longer["steps"][2]["score"]);
    let found = selection(&folder, &["--set", "search.max_features=2", "--worth"]);
    let text = explained(&folder, &[third, "c", third]);
    let told = section(&text, third);
    near(score(told[1], "with it added"), added);
    // The lowest score of this column among the substitutes of all columns.
    let places = found["selected"].as_array().unwrap().iter().filter_map(|column| {
        let substitutes = column["substitutes"].as_array().unwrap();
        let own = substitutes.iter().find(|other| other["name"] == third)?;
        Some((own["score"].as_f64().unwrap(), column["name"].as_str().unwrap()))
    });
    let best = places.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    assert!(told[2].contains(&format!("in the place of {}:", best.1)), "{text}");
    near(score(told[2], &format!("in the place of {}", best.1)), &best.0.into());
    assert!(section(&text, "c")[0].contains("cannot be chosen"), "{text}");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let folder = Folder::new("explain-refused");
    folder.write("train.csv", table(40, 6, &[]));
    folder.write("p.yaml", pipeline("search: {kind: greedy, max_features: 3}"));
    selection(&folder, &[]);
    let ran = folder.vaglio(&["explain", "out", "X1"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("there is no candidate column `X1`; did you mean `x1`?"), "{}", ran.err);
    assert_eq!(folder.vaglio(&["explain", "nowhere"]).code, Some(3));
    folder.write("train.csv", table(41, 6, &[]));
    let ran = folder.vaglio(&["explain", "out"]);
    assert!(ran.code == Some(3) && ran.err.contains("whose digest is another"), "{ran:?}");
}

#[test]
fn the_settings_say_how_much_is_computed() {
    let folder = Folder::new("explain-worth");
    folder.write("train.csv", table(3000, 40, &[]));
    let lines = "learner: {kind: rls, lambda: {grid: {from: 0.001, to: 1000, points: 13}, per: subset}}\n\
                 search: {kind: greedy, max_features: 10, choose: last, tolerance: null}";
    folder.write("p.yaml", pipeline(lines));
    let found = selection(&folder, &[]);
    let indices: Vec<&Value> = found["selected"].as_array().unwrap().iter().map(|column| &column["index"]).collect();
    let named: Vec<&Value> = found["worth"]["no_substitutes"].as_array().unwrap().iter().collect();
    assert_eq!(named, indices);
    assert_eq!(found["worth"]["no_without"].as_array().unwrap().len(), 0);
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    let told =
        "substitutes of 10 chosen columns; `vaglio explain` with the folder of this run does, and `vaglio run --worth`";
    assert!(ran.out.contains(told), "{}", ran.out);
    assert!(folder.read("out/report.html").contains("substitutes of 10 chosen columns"));

    let all = selection(&folder, &["--worth"]);
    assert_eq!((&all["worth"], names(&all)), (&Value::Null, names(&found)));
    let text = explained(&folder, &[names(&all)[0]]);
    for other in all["selected"][0]["substitutes"].as_array().unwrap() {
        assert!(text.contains(&format!("with {} in its place", other["name"].as_str().unwrap())), "{text}");
    }
    let none = selection(&folder, &["--set", "evaluate.worth=none"]);
    assert!(none["selected"].as_array().unwrap().iter().all(|c| c["without"].is_null() && c["substitutes"].is_null()));
    assert_eq!(none["worth"], Value::Null);
}
