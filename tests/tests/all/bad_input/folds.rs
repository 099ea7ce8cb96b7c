//! Targets of one value, classes that folds lack, folds that cannot be made.

use super::{ErrorClass, Problem, Sheet, answered, everywhere, refused};

#[test]
fn a_target_of_one_value_is_learned_or_refused() {
    for value in ["5", "0", "1e-100", "0.1"] {
        let sheet = Sheet::base().with("y", |_, _| value.into());
        everywhere(|parts| {
            let result = Problem::new(&sheet).result(parts);
            match parts.learner.data.contains("target: y") {
                true if result.is_err() => refused(result, ErrorClass::Configuration, &["single value"]),
                true => answered(result).map(drop),
                false => Ok(()),
            }
        });
    }
}

/// A class of which all rows have weight 0.
#[test]
fn a_class_without_weight_is_no_class() {
    let sheet = Sheet::base().with("w", |old, row| if old.rows[row][6] == "yes" { "1".into() } else { "0".into() });
    everywhere(|parts| match parts.learner.data.contains("target: class") {
        true => refused(
            Problem { data: ", weights: w", ..Problem::new(&sheet) }.result(parts),
            ErrorClass::Configuration,
            &["`data.target`: every training row of `class` has the label `yes`"],
        ),
        false => Ok(()),
    });
}

#[test]
fn a_single_class_is_refused_by_its_name() {
    let sheet = Sheet::base().with("class", |_, _| "yes".into());
    everywhere(|parts| match parts.learner.data.contains("target: class") {
        true => refused(
            Problem::new(&sheet).result(parts),
            ErrorClass::Configuration,
            &["`data.target`: every training row of `class` has the label `yes`"],
        ),
        false => Ok(()),
    });
}

/// All rows of a class in one fold.
#[test]
fn a_class_that_no_training_row_of_a_fold_has_is_refused_with_both() {
    let sheet = Sheet::base().with("class", |_, row| if row < 3 { "yes".into() } else { "no".into() });
    everywhere(|parts| match (parts.learner.data.contains("target: class"), parts.has(&["kfold"])) {
        (true, true) => refused(
            Problem::new(&sheet).result(parts),
            ErrorClass::Configuration,
            &["`criterion.by`: fold 1 holds every row of class `yes`"],
        ),
        _ => answered(Problem::new(&sheet).result(parts)).map(drop),
    });
}

#[test]
fn a_class_of_one_row_is_refused_where_it_is_weighed() {
    let sheet = Sheet::base().with("class", |_, row| if row == 0 { "yes".into() } else { "no".into() });
    everywhere(|parts| match (parts.learner.data.contains("target: class"), parts.has(&["kfold"])) {
        (true, true) => refused(
            Problem::new(&sheet).result(parts),
            ErrorClass::Configuration,
            &["`criterion.by`: fold 1 holds every row of class `yes`"],
        ),
        (true, false) if parts.has(&["loo"]) && parts.has(&["crrr"]) => refused(
            Problem::new(&sheet).result(parts),
            ErrorClass::Configuration,
            &["`criterion.kind`: class `yes` has one row"],
        ),
        _ => answered(Problem::new(&sheet).result(parts)).map(drop),
    });
}

#[test]
fn folds_that_cannot_be_made_are_refused_with_their_number() {
    let base = Sheet::base();
    let one = base.clone().with("id", |_, _| "s0".into()).with("t", |_, row| row.to_string());
    for (sheet, criterion, words) in [
        (&base, "{kind: kfold, folds: 13}", "`criterion.folds`: 13 folds of 12 rows leave fold 13 empty"),
        (&base, "{kind: kfold, by: groups, folds: 5}", "`criterion.folds`: 5 folds of 4 groups leave fold 5 empty"),
        (&base, "{kind: kfold, folds: 1}", "`criterion.folds`: at least 2 folds"),
        (&base, "{kind: kfold, folds: 0}", "`criterion.folds`"),
        (&one, "{kind: kfold, by: groups}", "all rows are in one group"),
    ] {
        everywhere(|parts| match parts.has(&["kfold"]) {
            true => {
                refused(Problem { criterion, ..Problem::new(sheet) }.result(parts), ErrorClass::Configuration, &[words])
            }
            false => Ok(()),
        });
    }
}

/// Losses that need two classes, of folds that hold one class each.
#[test]
fn losses_of_classes_are_as_defined_where_a_fold_has_one_class() {
    let base = Sheet::base();
    for loss in ["auc", "balanced_error", "balanced_squared", "zero_one", "absolute"] {
        everywhere(|parts| {
            let kind = super::kind(parts.criterion);
            if !["loo", "kfold"].contains(&kind) {
                return Ok(());
            }
            let by = if kind == "kfold" { ", by: groups" } else { "" };
            let criterion = format!("{{kind: {kind}{by}, loss: {loss}}}");
            let result = Problem { criterion: &criterion, ..Problem::new(&base) }.result(parts);
            match parts.learner.data.contains("target: class") || loss == "absolute" {
                true => answered(result).map(drop),
                false => refused(result, ErrorClass::Configuration, &["criterion", "regression"]),
            }
        });
    }
}
