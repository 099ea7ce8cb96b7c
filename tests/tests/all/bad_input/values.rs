//! Cells that are no finite numbers.

use super::{ErrorClass, LEARNERS, Problem, Sheet, answered, everywhere, refused};

#[test]
fn numbers_that_are_not_finite_name_row_column_value_and_count() {
    let ones = |_: &Sheet, _| "1".to_owned();
    for (value, name, data) in [
        ("NaN", "b", ", types: {w: drop}"),
        ("inf", "w", ", weights: w"),
        ("-inf", "b", ", weights: w"),
        ("1e400", "a", ", weights: w"),
        ("", "b", ", weights: w"),
    ] {
        let sheet = Sheet::base().with("w", ones).cell(5, name, value).cell(7, name, value);
        let found = match value {
            "" => "an empty cell (2 such cells".to_owned(),
            value => format!("{value} is not a finite number (2 such values"),
        };
        let words = format!("train.csv: row 5, column `{name}`: {found}");
        everywhere(|parts| {
            refused(Problem { data, ..Problem::new(&sheet) }.result(parts), ErrorClass::Data, &[&words])
        });
    }
    for value in ["NaN", "inf"] {
        let sheet = Sheet::base().cell(5, "y", value);
        let words = format!("train.csv: row 5, column `y`: {value} is not a finite number (1 such value");
        everywhere(|parts| match parts.learner.data == LEARNERS[0].data {
            true => refused(Problem::new(&sheet).result(parts), ErrorClass::Data, &[&words]),
            false => Ok(()),
        });
    }
    let sheet = Sheet::base().cell(5, "class", "");
    everywhere(|parts| match parts.learner.data == LEARNERS[0].data {
        true => Ok(()),
        false => refused(Problem::new(&sheet).result(parts), ErrorClass::Data, &["train.csv: row 5, column `class`"]),
    });
}

#[test]
fn missing_cells_are_filled_where_that_is_asked_for() {
    let sheet = Sheet::base().cell(5, "b", "").cell(7, "b", "NaN");
    for preprocess in ["[{kind: impute, how: mean}, standardize]", "[{kind: impute, how: median, indicator: true}]"] {
        everywhere(|parts| answered(Problem { preprocess, ..Problem::new(&sheet) }.result(parts)).map(drop));
    }
}
