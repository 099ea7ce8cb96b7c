//! Regression tests for faults that were found from outside.

use super::{Cell, ErrorClass, Learner, Parts, Problem, Sheet, answered, everywhere, is_near, refused, same};
use crate::common::Folder;
use serde_json::Value;
use vaglio_testkit::SplitMix64;

/// A block whose columns another one separates, and random blocks, forced and excluded columns.
#[test]
fn blocks_and_forced_columns_are_scored_as_defined() {
    let sheet = Sheet::base().with("d", |old, row| (old.number(row, "a") * old.number(row, "b")).to_string());
    let mut random = SplitMix64::new(29);
    let mut searches = vec!["blocks: {p: [1, 3]}".to_owned(), "blocks: {p: [0, 2], q: [1, 3]}".to_owned()];
    for _ in 0..4 {
        let order = random.order(4);
        let list = |features: &[usize]| features.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        searches.push(match random.below(3) {
            0 => format!("blocks: {{p: [{}]}}, forced: [{}]", list(&order[..2]), order[2]),
            1 => format!("blocks: {{p: [{}]}}, excluded: [{}]", list(&order[..2]), order[3]),
            _ => format!("forced: [{}], excluded: [{}]", order[0], order[1]),
        });
    }
    for search in &searches {
        let search = format!("choose: best, {search}");
        everywhere(|parts| {
            if !parts.has(&["rls"]) {
                return Ok(());
            }
            match (Problem { search: &search, ..Problem::new(&sheet) }).result(parts) {
                // Least-angle paths and rankings walk column by column.
                Err(error) if parts.has(&["all", "lars", "rank", "random"]) => {
                    refused(Err(error), ErrorClass::Configuration, &["`search."])
                }
                result => answered(result).map(drop),
            }
        });
    }
}

/// Columns whose spread is the last digits of them: with an intercept nothing is lost by that.
#[test]
fn offsets_cost_no_digits() {
    let whole = |old: &Sheet, row: usize, name: &str| (old.number(row, name) * 256.0).round() / 256.0;
    let names = ["a", "b", "c"];
    let base =
        names.iter().fold(Sheet::base(), |sheet, name| sheet.with(name, |old, row| whole(old, row, name).to_string()));
    for offset in [1e9, 1e13] {
        let sheet = names.iter().fold(base.clone(), |sheet, name| {
            sheet.with(name, |old, row| (offset + old.number(row, name)).to_string())
        });
        everywhere(|parts| {
            if !parts.is_of_columns() {
                return Ok(());
            }
            let found = |sheet| answered(Problem { preprocess: "[]", ..Problem::new(sheet) }.result(parts));
            same(&found(&sheet)?, &found(&base)?).map_err(|why| format!("{offset:e}: {why}"))
        });
    }
}

/// Targets that columns tell to the last digit, and classes that they part: no score is below 0.
#[test]
fn no_loss_is_below_0() {
    let told = Sheet::base().with("y", |old, row| (2.0 * old.number(row, "a") - old.number(row, "c")).to_string());
    let told = told.with("a", |old, row| {
        let class = if old.rows[row][6] == "yes" { 1.0 } else { -1.0 };
        (0.1 * old.number(row, "b") + class).to_string()
    });
    let told = told.with("w", |_, row| (0.1 + 0.1 * (row % 5) as f64).to_string());
    for (kfold, loo, lambda) in [
        ("{kind: kfold, by: groups, engine: moments}", "loo", "1.0e-12"),
        ("{kind: kfold, by: groups, engine: rows_held_out}", "loo", "1.0e-9"),
        ("{kind: kfold, by: groups, loss: auc}", "{kind: loo, loss: auc}", "1.0e-3"),
    ] {
        everywhere(|parts| {
            let criterion = match super::kind(parts.criterion) {
                "kfold" => kfold,
                "loo" => loo,
                _ => return Ok(()),
            };
            if criterion.contains("auc") && parts.learner.data.contains("target: y") {
                return Ok(());
            }
            let problem = Problem { criterion, lambda, data: ", weights: w", ..Problem::new(&told) };
            answered(problem.result(parts)).map(drop)
        });
    }
}

/// A warning names the first of many copies.
#[test]
fn few_of_many_columns_of_infinite_variance_inflation_are_named() {
    let folder = Folder::new("copies");
    let row = |row: u32| [vec![(0.61 * f64::from(row)).sin(); 14], vec![(0.3 * f64::from(row)).cos()]].concat();
    let names: Vec<String> = (0..14).map(|column| format!("c{column}")).collect();
    let mut text = names.join(",") + ",y\n";
    for cells in (0..30).map(row) {
        text += &(cells.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
    }
    folder.write("train.csv", text);
    let lines = "learner: {kind: rls, lambda: 1.0}\nsearch: {kind: all, choose: last}";
    let done = folder.run(&crate::common::pipeline(lines));
    let message = done["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("of `c0`, `c1`") && message.contains("`c11` and 2 more is infinite"), "{message}");
}

/// A score of +∞ is null in the files with a reason, and read back as such.
#[test]
fn infinite_scores_are_written_and_read_back() {
    let folder = Folder::new("infinite");
    let mut text = String::from("a,b,c,d,e,y\n");
    let mut random = SplitMix64::new(5);
    for _ in 0..6 {
        let cells: Vec<String> = (0..6).map(|_| random.normal().to_string()).collect();
        text += &(cells.join(",") + "\n");
    }
    folder.write("train.csv", text);
    // As many degrees of freedom as rows leave nothing to correct by.
    let lines =
        "criterion: {kind: information, measure: aicc}\nlearner: {kind: rls, lambda: 1.0e-9}\nsearch: {kind: all}";
    let done = folder.run(&crate::common::pipeline(lines));
    assert_eq!((&done["score"], &done["status"]), (&done["empty_score"], &"complete".into()));
    assert_eq!((&done["path"][0]["score"], &done["selected"]), (&Value::Null, &serde_json::json!([])));
    let kinds: Vec<&Value> = done["warnings"].as_array().unwrap().iter().map(|of| &of["kind"]).collect();
    assert!(kinds.contains(&&"not_finite".into()), "{kinds:?}");
    assert_eq!(folder.json("out/selection.json"), done);
    for arguments in
        [&["report", "out"][..], &["compare", "out", "out"], &["run", "p.yaml", "--out", "out", "--resume"]]
    {
        let ran = folder.vaglio(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.err);
    }
    let again: Value = folder.json("out/selection.json");
    assert_eq!((&again["score"], &again["path"]), (&done["score"], &done["path"]));
}

/// Numbers are told in as few digits as they have.
#[test]
fn numbers_in_messages_are_short() {
    let sheet = Sheet::base();
    let learner: &'static Learner = &super::LEARNERS[0];
    let parts = Parts { learner, criterion: "loo", search: "greedy" };
    for lambda in ["-1.0e+300", "-5.0e-324"] {
        let error = Problem { lambda, ..Problem::new(&sheet) }.result(&parts).err().unwrap().to_string();
        assert!(error.len() < 150, "{error}");
    }
}

#[test]
fn nearness_is_no_identity() {
    assert!(is_near(1.0, 1.0 + 1e-9, 0.0) && !is_near(1.0, 1.001, 0.0) && !is_near(f64::NAN, 1.0, 0.0));
    let parts = Parts { learner: &super::LEARNERS[0], criterion: "loo", search: "greedy" };
    let found: Cell = Problem::new(&Sheet::base()).result(&parts).unwrap();
    assert_eq!(super::told(&found).len(), 3);
}
