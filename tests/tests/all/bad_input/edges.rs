//! λ, columns and targets at the ends of the doubles.

use super::{ErrorClass, Problem, Sheet, answered, everywhere, refused, same};

#[test]
fn a_lambda_that_is_none_is_refused_where_it_stands() {
    let base = Sheet::base();
    for lambda in ["0", "-1.0", ".inf", ".nan"] {
        everywhere(|parts| match parts.has(&["knn"]) {
            true => Ok(()),
            false => refused(
                Problem { lambda, ..Problem::new(&base) }.result(parts),
                ErrorClass::Configuration,
                &["cell.yaml:5:", "`learner.lambda`", "is not a positive finite number"],
            ),
        });
    }
}

/// Scores are as defined, or λ is refused by a sentence that names it.
#[test]
fn a_lambda_at_the_ends_of_the_doubles_is_right_or_refused() {
    let base = Sheet::base();
    for (lambda, preprocess) in [
        ("1.0e-300", "[standardize]"),
        ("1.0e+300", "[]"),
        ("5.0e-324", "[]"),
        ("1.0e-30", "[standardize]"),
        ("{values: [1.0e-200, 1.0, 1.0e+200]}", "[]"),
    ] {
        everywhere(|parts| {
            let result = Problem { lambda, preprocess, ..Problem::new(&base) }.result(parts);
            match result {
                Err(error) => refused(Err(error), ErrorClass::Numerical, &["is too small"]),
                result => answered(result).map(drop),
            }
        });
    }
}

/// Columns in other units, with standardizing: nothing changes.
#[test]
fn standardized_columns_of_any_unit_are_the_same() {
    let base = Sheet::base();
    for unit in [2f64.powi(1000), 2f64.powi(-960)] {
        let sheet = base.clone().times(&["a", "b", "c"], unit);
        everywhere(|parts| {
            let (found, expected) = (Problem::new(&sheet).result(parts), Problem::new(&base).result(parts));
            same(&answered(found)?, &answered(expected)?)
        });
    }
}

/// Columns and targets in other units, without standardizing: as defined, or refused by the name of the column,
/// or of what a learner makes of it.
#[test]
fn columns_and_targets_of_any_unit_are_right_or_refused_by_name() {
    let all: &[&str] = &["a", "b", "c"];
    for (unit, names) in [
        (1e200, all),
        (1e-200, all),
        (1e-310, &["b"]),
        (1e15, &["b"]),
        (1e30, &["b"]),
        (1e200, &["y"]),
        (1e-200, &["y"]),
    ] {
        let sheet = Sheet::base().times(names, unit);
        everywhere(|parts| {
            if names == ["y"] && !parts.learner.data.contains("target: y") {
                return Ok(());
            }
            match (Problem { preprocess: "[]", ..Problem::new(&sheet) }).result(parts) {
                Err(error) => {
                    let message = error.to_string();
                    let is_named = names.iter().any(|name| message.contains(&format!("`{name}`")))
                        || message.contains("rescale or standardize it")
                        || message.ends_with("standardize the columns")
                        || names == ["y"] && message.contains("target");
                    match is_named {
                        true => refused(Err(error), ErrorClass::Numerical, &[]),
                        false => Err(format!("{unit:e}, {names:?}: {message}")),
                    }
                }
                result => answered(result).map(drop).map_err(|why| format!("{unit:e}, {names:?}: {why}")),
            }
        });
    }
}

/// Columns times 2^a and λ times 4^a: the same subsets and scores.
#[test]
fn columns_and_lambda_in_another_unit_are_the_same() {
    let base = Sheet::base();
    for exponent in [400, -400] {
        let unit = 2f64.powi(exponent);
        let sheet = base.clone().times(&["a", "b", "c"], unit);
        everywhere(|parts| {
            if !parts.has(&["rls"]) {
                return Ok(());
            }
            let lambda = super::yaml(0.5 * unit * unit);
            let problem = Problem { lambda: &lambda, preprocess: "[]", ..Problem::new(&sheet) };
            let expected = Problem { preprocess: "[]", ..Problem::new(&base) };
            same(&answered(problem.result(parts))?, &answered(expected.result(parts))?)
        });
    }
}
