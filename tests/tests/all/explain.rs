//! `vaglio explain`, `evaluate.worth` and `--worth`: what columns of a run are worth.

use crate::common::{Folder, names, pipeline, side, table};
use serde_json::Value;
use vaglio::core::short;

/// The lines that an explanation has for a column.
fn section<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!("{name}  ");
    text.lines().skip_while(|line| !line.starts_with(&start)).take_while(|line| !line.is_empty()).collect()
}

fn explained(folder: &Folder, columns: &[&str]) -> String {
    let ran = folder.vaglio(&[&["explain", "out"], columns].concat()).succeeded();
    ran.out
}

/// The first score of a line: what it goes to.
fn score(line: &str, before: &str) -> f64 {
    let rest = line.split_once(before).unwrap_or_else(|| panic!("{line}")).1.trim_start_matches([' ', ':']);
    rest.split([' ', ',']).next().unwrap().parse().unwrap()
}

fn near(a: f64, b: &Value) {
    let b = b.as_f64().unwrap();
    // Numbers are printed in five digits.
    assert!((a - b).abs() <= 5e-5 * b.abs(), "{a} is not {b}");
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
        let found = folder.run_with(&[]);
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
    let longer = folder.run_with(&[]);
    let (third, added) = (longer["steps"][2]["name"].as_str().unwrap(), &longer["steps"][2]["score"]);
    let found = folder.run_with(&["--set", "search.max_features=2", "--worth"]);
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
    folder.run_with(&[]);
    folder.vaglio(&["explain", "out", "X1"]).refused(2, "there is no candidate column `X1`; did you mean `x1`?");
    let mut record = folder.json("out/selection.json");
    record["candidates"].as_array_mut().unwrap().reverse();
    folder.write("out/selection.json", record.to_string());
    let ran = folder.vaglio(&["explain", "out"]);
    assert!(ran.code == Some(3) && ran.err.contains("its candidate columns are not those of"), "{ran:?}");
    assert_eq!(folder.vaglio(&["explain", "nowhere"]).code, Some(3));
    folder.write("train.csv", table(40, 6, &[("k", &side)]));
    folder.write("p.yaml", pipeline("preprocess: [one_hot]"));
    folder.run_with(&[]);
    let ran = folder.vaglio(&["explain", "out", "k"]);
    let words = "error: `COLUMN`: name a column made of `k`: k=";
    assert!(ran.code == Some(2) && ran.err.starts_with(words), "{ran:?}");
    folder.write("train.csv", table(41, 6, &[("k", &side)]));
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
    let found = folder.run_with(&[]);
    let indices: Vec<&Value> = found["selected"].as_array().unwrap().iter().map(|column| &column["index"]).collect();
    let named: Vec<&Value> = found["worth"]["no_substitutes"].as_array().unwrap().iter().collect();
    assert_eq!(named, indices);
    assert_eq!(found["worth"]["no_without"].as_array().unwrap().len(), 0);
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    let told = "substitutes of 10 chosen columns; `vaglio explain` with the folder of this run computes it, as does `vaglio run --worth`";
    assert!(ran.out.contains(told), "{}", ran.out);
    assert!(folder.read("out/report.html").contains("substitutes of 10 chosen columns"));

    let all = folder.run_with(&["--worth"]);
    assert_eq!((&all["worth"], names(&all)), (&Value::Null, names(&found)));
    let text = explained(&folder, &[names(&all)[0]]);
    for other in all["selected"][0]["substitutes"].as_array().unwrap() {
        assert!(text.contains(&format!("with {} in its place", other["name"].as_str().unwrap())), "{text}");
    }
    let none = folder.run_with(&["--set", "evaluate.worth=none"]);
    assert!(none["selected"].as_array().unwrap().iter().all(|c| c["without"].is_null() && c["substitutes"].is_null()));
    assert_eq!(none["worth"], Value::Null);
}

/// Rows with a curve in x1, a copy of x1 with noise, gaps, a rare level and one row far from the others.
fn curved() -> String {
    let mut random = vaglio_testkit::SplitMix64::new(12);
    let mut text = String::from("t,x1,x2,near,gaps,rare,noise,y\n");
    for row in 0..90 {
        let x1 = 9.0 * random.uniform();
        let [x2, near, noise, error] = [0; 4].map(|_| random.normal());
        let gaps = if row % 9 == 4 { String::new() } else { format!("{}", x2 + 0.5 * random.normal()) };
        let y = 3.0 * x1.ln_1p() + x2 + 0.1 * error + if row == 61 { 9.0 } else { 0.0 };
        let rare = i32::from(row == 17);
        text += &format!("{row},{x1},{x2},{},{gaps},{rare},{noise},{y}\n", x1 + 0.5 * near);
    }
    text
}

const CURVED: &str = "version: 1\ndata: {train: train.csv, target: y, exclude: [t]}\npreprocess: [{kind: impute}, {kind: standardize}]\n\
    learner: {kind: rls, lambda: 1.0}\nsearch: {kind: greedy, max_features: 2, choose: {folds: 5}, forced: [x1, x2]}\nevaluate: {nested: {folds: 3}}\n";

#[test]
fn what_is_said_beside_scores_is_what_other_runs_find() {
    let folder = Folder::new("explain-beside");
    folder.write("train.csv", curved());
    folder.write("p.yaml", CURVED);
    let found = folder.run_with(&[]);
    assert_eq!(names(&found), ["x1", "x2"]);
    // A run that has one column alone.
    let alone = |name: &str| {
        let exclude: Vec<&str> =
            ["t", "x1", "x2", "near", "gaps", "rare", "noise"].into_iter().filter(|other| *other != name).collect();
        let set = format!("data.exclude=[{}]", exclude.join(", "));
        let set =
            ["--out", "alone", "--set", &set, "--set", "search={kind: all, choose: last}", "--set", "evaluate=null"];
        let ran = folder.vaglio(&[&["run", "p.yaml", "--json", "--quiet"], &set[..]].concat()).succeeded();
        serde_json::from_str::<Value>(&ran.out).unwrap()["score"].as_f64().unwrap()
    };
    let text = explained(&folder, &["x1", "near", "gaps", "rare"]);
    let of = |list: &str, name: &str| -> Value {
        found[list].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap().clone()
    };
    for (list, name) in [("selected", "x1"), ("outside", "near"), ("outside", "gaps")] {
        near(alone(name), &of(list, name)["alone"]);
        let lines = section(&text, name);
        near(
            score(lines.iter().find(|line| line.contains("score alone")).unwrap(), "score alone"),
            &of(list, name)["alone"],
        );
    }
    // Cells as they are in the file.
    let columns = found["data"]["columns"].as_array().unwrap();
    assert_eq!(columns.iter().find(|column| column["name"] == "gaps").unwrap()["missing"], 10);
    assert!(section(&text, "rare")[0].ends_with("not chosen") && text.contains("nearest at step"), "{text}");
    // What is like x1 is explained by it.
    let like = of("outside", "near");
    assert_eq!(like["rank_alone"], 2);
    assert!(like["explained"].as_f64().unwrap() > 0.9 && text.contains("of its variance: x1 0.9"), "{text}");
}

#[test]
fn the_report_and_the_table_tell_of_folds_rows_and_columns_outside() {
    let folder = Folder::new("explain-report");
    folder.write("train.csv", curved());
    folder.write("p.yaml", CURVED);
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]).succeeded();
    let found = folder.json("out/selection.json");
    let spread = &found["selected"][0]["over_folds"];
    let end = |name: &str| spread[name].as_f64().unwrap();
    let line = format!("{} to {} in 3 of 3", short(end("low")), short(end("high")));
    assert!(ran.out.contains(&line), "{line}\n{}", ran.out);
    assert!(end("low") <= end("high") && spread["folds"] == 3 && spread["changes_sign"] == false);
    // Original weights are those of the same models for one unit.
    assert!(end("original_low") > 0.0 && end("original_low") <= end("original_high"));
    // The row that was moved, by its number in the file.
    let worst = &found["report"]["residuals"]["largest"][0];
    assert_eq!((&worst["row"], &found["report"]["residuals"]["largest_from"]), (&62.into(), &"nested".into()));
    let page = folder.read("out/report.html");
    for told in [
        "What each chosen column is worth",
        "Rows predicted worst",
        "Columns that were not chosen",
        "3 of 3",
        "no confidence intervals",
    ] {
        assert!(page.contains(told), "{told}");
    }
    assert_eq!(found["selected"].as_array().unwrap().len() + found["outside"].as_array().unwrap().len(), 6);
    let sizes = found["chosen"]["sizes"]["sizes"].as_array().unwrap();
    assert_eq!((sizes.len(), &found["chosen"]["sizes"]["over"]), (5, &"folds".into()));
    // Without a name the chosen columns are explained.
    let text = explained(&folder, &[]);
    assert!(["x1", "x2"].iter().all(|name| section(&text, name)[0].contains("chosen, column")), "{text}");
    assert!(!text.contains("not chosen"), "{text}");
}

#[test]
fn sizes_are_those_without_a_fold_or_of_each_repeat() {
    let folder = Folder::new("explain-sizes");
    folder.write("train.csv", table(40, 6, &[]));
    folder.write("p.yaml", pipeline("learner: {kind: rls, lambda: {values: [1.0, 10.0, 100.0]}}\nsearch: greedy"));
    for (repeats, over, count) in [(1, "folds", 5), (4, "repeats", 4)] {
        let repeats = format!("search.choose.repeats={repeats}");
        let found = folder.run_with(&["--set", &repeats, "--set", "search.choose.folds=5"]);
        let sizes = &found["chosen"]["sizes"];
        assert_eq!((&sizes["over"], sizes["sizes"].as_array().unwrap().len()), (&over.into(), count));
    }
}
