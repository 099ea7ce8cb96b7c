//! Constant, equal and dependent columns.

use super::{ErrorClass, Problem, Sheet, answered, everywhere, refused, same, told};

/// Columns that are constant, 1e200 among them, are as if they were not there.
#[test]
fn constant_columns_change_nothing() {
    let base = Sheet::base();
    for (value, preprocess) in [("7", "[standardize]"), ("1e200", "[]"), ("-1e-320", "[]")] {
        let sheet = base.clone().with("k", |_, _| value.into());
        everywhere(|parts| {
            let with = answered(Problem { preprocess, ..Problem::new(&sheet) }.result(parts))?;
            if !parts.is_of_columns() || parts.has(&["random"]) {
                return Ok(());
            }
            let without = answered(Problem { preprocess, ..Problem::new(&base) }.result(parts))?;
            match with.design.problem().constant() == [with.design.features() - 1] {
                true => same(&with, &without),
                false => Err(format!("not constant: {:?}", with.design.problem().constant())),
            }
        });
    }
}

#[test]
fn of_constant_columns_alone_nothing_is_selected() {
    let sheet = ["a", "b", "c"].iter().fold(Sheet::base(), |sheet, name| sheet.with(name, |_, _| "3".into()));
    everywhere(|parts| {
        let cell = answered(Problem::new(&sheet).result(parts))?;
        // The states of a network are not constant where its input is.
        match parts.has(&["reservoir"]) || cell.path.result().is_none_or(|entry| entry.subset.is_empty()) {
            true => Ok(()),
            false => Err(format!("{:?}", told(&cell))),
        }
    });
}

/// A column that varies in the rows of one fold alone, so that it is constant in those that are trained on.
#[test]
fn columns_that_are_constant_in_training_rows_of_a_fold_are_scored_as_defined() {
    let anew = "[{kind: standardize, scope: auto}]";
    for (value, preprocess) in [("1", "[]"), ("1e9", "[]"), ("1e9", "[standardize]"), ("1", anew)] {
        let sheet = Sheet::base().with("k", |_, row| if row < 3 { format!("{row}") } else { value.into() });
        everywhere(|parts| {
            let result = Problem { preprocess, ..Problem::new(&sheet) }.result(parts);
            answered(result).map(drop).map_err(|why| format!("{value} {preprocess} {why}"))
        });
    }
}

/// Equal columns: none enters after the first, and none is kept before it.
#[test]
fn equal_columns_tie_and_the_first_wins() {
    let sheet = Sheet::base().with("a2", |old, row| old.number(row, "a").to_string());
    everywhere(|parts| {
        let cell = answered(Problem::new(&sheet).result(parts))?;
        if !parts.is_of_columns() || parts.has(&["lars", "random", "backward"]) {
            return Ok(());
        }
        let is_first = |subset: &Vec<&str>| subset.contains(&"a") || !subset.contains(&"a2");
        match told(&cell).iter().all(|(subset, _)| is_first(subset)) {
            true => Ok(()),
            false => Err(format!("{:?}", told(&cell))),
        }
    });
}

#[test]
fn dependent_columns_are_scored_as_defined() {
    let sum = |old: &Sheet, row: usize| old.number(row, "a") + old.number(row, "b");
    let near = |old: &Sheet, row: usize| old.number(row, "a") + 1e-9 * (row * row % 7) as f64;
    let sheets = [
        Sheet::base().with("d", |old, row| sum(old, row).to_string()),
        Sheet::base().with("d", |old, row| near(old, row).to_string()),
        Sheet::base().with("d", |old, row| (old.number(row, "b") * -3.0).to_string()),
    ];
    for sheet in &sheets {
        everywhere(|parts| answered(Problem::new(sheet).result(parts)).map(drop));
    }
}

/// More columns than rows, as many, one column, each row twice.
#[test]
fn any_shape_is_scored_as_defined() {
    let wide = (0..4).fold(Sheet::base(), |sheet, k| {
        sheet.with(&format!("w{k}"), |_, row| ((row * row * (k + 3) + 5 * k) % 11).to_string())
    });
    let twice: Vec<usize> = (0..12).flat_map(|row| [row, row]).collect();
    let mut twice = Sheet::base().select_rows(&twice);
    for (step, row) in twice.rows.iter_mut().enumerate() {
        row[1] = (step % 6).to_string();
    }
    for (sheet, data) in [
        (wide.select_rows(&[0, 1, 3, 4, 6, 9]), ""),
        (Sheet::base().select_rows(&[0, 3, 6, 9]), ""),
        (twice, ""),
        (Sheet::base().with("b", |_, _| "1".into()).with("c", |_, _| "2".into()), ""),
    ] {
        everywhere(|parts| answered(Problem { data, ..Problem::new(&sheet) }.result(parts)).map(drop));
    }
}

#[test]
fn one_row_is_refused() {
    let sheet = Sheet::base().select_rows(&[0]);
    everywhere(|parts| {
        let result = Problem { preprocess: "[]", ..Problem::new(&sheet) }.result(parts);
        match parts.learner.data.contains("target: class")
            || parts.has(&["loo", "kfold", "nhsic", "hsic", "qpfs", "fcbf", "hiton_pc", "hsfs", "spam"])
        {
            true => refused(result, ErrorClass::Configuration, &[]),
            // Every column is constant.
            false => answered(result).map(drop),
        }
    });
}
