//! Weights of 0, whole numbers, and at the ends of the doubles.

use super::{ErrorClass, Parts, Problem, Sheet, answered, everywhere, is_near, refused, same};

const WEIGHTS: &str = ", weights: w, types: {f: drop}";

#[test]
fn weights_that_are_none_are_refused() {
    type Make = fn(usize) -> &'static str;
    let one: Make = |row| if row == 4 { "-1" } else { "1" };
    let (none, text): (Make, Make) = (|_| "0", |_| "u");
    for (make, class, words) in [
        (one, ErrorClass::Data, "row 5, column `w`: the weight -1 is negative"),
        (none, ErrorClass::Data, "column `w`: every row has weight 0"),
        (text, ErrorClass::Configuration, "`data.weights`: the column `w` holds text"),
    ] {
        let sheet = Sheet::base().with("w", |_, row| make(row).into());
        everywhere(|parts| {
            refused(Problem { data: ", weights: w", ..Problem::new(&sheet) }.result(parts), class, &[words])
        });
    }
}

/// A weight of 0 is the absence of the row.
#[test]
fn rows_of_weight_0_are_absent() {
    let sheet = Sheet::base().with("w", |_, row| if [4, 10].contains(&row) { "0".into() } else { "1".into() });
    let without = sheet.clone().select_rows(&[0, 1, 2, 3, 5, 6, 7, 8, 9, 11]);
    everywhere(|parts| {
        let problem = |sheet| Problem { data: ", weights: w", ..Problem::new(sheet) }.result(parts);
        same(&answered(problem(&sheet))?, &answered(problem(&without))?)
    });
}

/// A weight of 2 is the row twice, in one fold, except where rows are counted.
#[test]
fn rows_of_weight_2_are_there_twice() {
    // Whole series, since a step that stands twice is another series.
    let sheet = Sheet::base().with("w", |_, row| if row / 3 == 1 { "2".into() } else { "1".into() });
    let sheet = sheet.with("f", |_, row| row.to_string());
    let rows: Vec<usize> = (0..12).chain(3..6).collect();
    let mut twice = sheet.clone().select_rows(&rows).with("w", |_, _| "1".into());
    let series = |parts: &Parts| parts.has(&["reservoir"]);
    let mut apart = twice.clone();
    let id = apart.place("id");
    apart.rows[12..].iter_mut().for_each(|row| row[id] = "s9".into());
    twice = twice.with("t", |_, row| row.to_string());
    everywhere(|parts| {
        let is_loo = parts.has(&["loo"]);
        let is_kfold = parts.has(&["kfold"]);
        if series(parts) && is_kfold || parts.has(&["hiton_pc"]) {
            return Ok(());
        }
        let one = Problem { data: WEIGHTS, preprocess: "[]", ..Problem::new(&sheet) };
        let data = if is_loo { ", weights: w" } else { WEIGHTS };
        let criterion = if is_loo { "{kind: kfold, assignment: f}" } else { "" };
        let sheet = if series(parts) { &apart } else { &twice };
        let other = Problem { data, criterion, preprocess: "[]", ..Problem::new(sheet) };
        same(&answered(one.result(parts))?, &answered(other.result(parts))?)
    });
}

/// All weights in another unit, and λ with them, where λ is beside sums over rows.
#[test]
fn weights_have_no_unit() {
    let weight = |row: usize| 0.5 + (row % 4) as f64 * 0.25;
    let base = Sheet::base().with("w", |_, row| weight(row).to_string());
    for exponent in [300, -900] {
        let unit = 2f64.powi(exponent);
        let sheet = base.clone().with("w", |_, row| format!("{:e}", weight(row) * unit));
        everywhere(|parts| {
            // To neighbours a weight is a number of rows.
            if parts.has(&["knn"]) {
                return Ok(());
            }
            let lambda = if parts.has(&["crrr"]) { String::new() } else { super::yaml(0.5 * unit) };
            let problem = Problem { data: ", weights: w", lambda: &lambda, ..Problem::new(&sheet) };
            let expected = Problem { data: ", weights: w", ..Problem::new(&base) };
            same(&answered(problem.result(parts))?, &answered(expected.result(parts))?)
        });
    }
}

/// One weight that is as good as 0, or beside which the others are.
#[test]
fn weights_far_from_each_other_are_right_or_refused() {
    for weight in ["1e-300", "1e8", "1e20", "1e300"] {
        let sheet = Sheet::base().with("w", |_, row| if row == 4 { weight.into() } else { "1".into() });
        everywhere(|parts| {
            let result = Problem { data: ", weights: w", ..Problem::new(&sheet) }.result(parts);
            match result {
                Err(error) => refused(
                    Err(error),
                    ErrorClass::Numerical,
                    &[if parts.has(&["nhsic"]) { "row 5 has next to all the weight" } else { "too small" }],
                ),
                result => answered(result).map(drop).map_err(|why| format!("{weight}: {why}")),
            }
        });
    }
    let tiny = Sheet::base().with("w", |_, row| if row == 4 { "1e-300".into() } else { "1".into() });
    let none = Sheet::base().with("w", |_, row| if row == 4 { "0".into() } else { "1".into() });
    everywhere(|parts| {
        // What is measured about medians and landmarks counts rows.
        let cell = |sheet| answered(Problem { data: ", weights: w", ..Problem::new(sheet) }.result(parts));
        let (one, other) = (cell(&tiny)?, cell(&none)?);
        let empty = other.path.empty.loss;
        match is_near(one.path.empty.loss, empty, super::left(&other)) {
            true => Ok(()),
            false => Err(format!("{:e} for {empty:e}", one.path.empty.loss)),
        }
    });
}
