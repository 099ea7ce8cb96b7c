//! Programs keep the laws of components, and every misbehaviour is an error with a clear message.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

use serde_json::{Value, json};
use vaglio_core::{Criterion, Error, Learner, Loss, Model};
use vaglio_external::{ExternalCriterion, ExternalLearner, ExternalLoss, ExternalProgram, allow_programs};
use vaglio_testkit::{
    LawResult, check_criterion, check_criterion_on_standard_data, check_learner_on_standard_data,
    check_loss_on_standard_data, data, registry, tries_all_cases,
};

const SAMPLE: &str = env!("CARGO_BIN_EXE_vaglio-external-sample");

fn sample(arguments: &[&str]) -> ExternalProgram {
    allow_programs();
    ExternalProgram::new([&[SAMPLE], arguments].concat())
}

fn criterion(arguments: &[&str]) -> ExternalCriterion {
    ExternalCriterion::default().program(sample(arguments))
}

/// Checks the laws on three designs; with `VAGLIO_CASES=all`, on all.
fn keeps_every_law(criterion: &ExternalCriterion) -> LawResult {
    if tries_all_cases() {
        return check_criterion_on_standard_data(criterion, 1e-9);
    }
    let designs = data::standard_designs();
    ["two outputs and three lambdas", "two classes", "weighted classes"].into_iter().try_for_each(|name| {
        let (_, design) = designs.iter().find(|(other, _)| *other == name).unwrap();
        check_criterion(criterion, design, 1e-9).map_err(|broken| broken.within(name))
    })
}

#[test]
fn a_criterion_of_rows_held_out_keeps_every_law() -> LawResult {
    keeps_every_law(&criterion(&["held_out", "arrow"]))
}

#[test]
fn a_criterion_without_rows_held_out_keeps_every_law() -> LawResult {
    keeps_every_law(&criterion(&["unpenalized", "json"]))
}

#[test]
fn losses_and_learners_keep_every_law() -> LawResult {
    check_loss_on_standard_data(&ExternalLoss::default().program(sample(&["absolute", "json"])), 1e-9)?;
    check_learner_on_standard_data(&ExternalLearner::default().program(sample(&["mean", "arrow"])), 1e-9)?;
    registry::check_registry(&[])
}

#[test]
fn the_score_of_a_program_is_that_of_the_same_criterion_here() {
    let design = data::regression(30, 5, 1).design(&[0.5], true);
    let own = vaglio_core::Squared;
    let targets = design.targets();
    for subset in [&[][..], &[2], &[4, 0, 1]] {
        let mut predictions = targets.to_owned();
        for fold in 0..3 {
            let (held, training): (Vec<usize>, Vec<usize>) = (0..30).partition(|row| row % 3 == fold);
            let fold_predictions = design.retrain(&training, &held, subset, design.lambdas()[0]).unwrap();
            held.iter()
                .enumerate()
                .for_each(|(at, &row)| predictions.column_mut(row).assign(&fold_predictions.column(at)));
        }
        let score = criterion(&["held_out", "arrow"]).evaluate(&design, subset).unwrap();
        let expected = own.mean(targets, predictions.view(), None);
        assert!((score.loss - expected).abs() < 1e-12 * expected, "{subset:?}: {score:?} in place of {expected}");
    }
}

#[test]
fn what_a_program_does_wrong_is_named() {
    let design = data::regression(12, 3, 1).design(&[0.5], true);
    let said = |criterion: &ExternalCriterion| criterion.evaluate(&design, &[1]).unwrap_err().to_string();
    for (word, part) in [
        ("chatter", "said \"Loading the model …\", which is no line of JSON"),
        ("future", "said `{\"vaglio\":2,\"data\":\"json\"}` in place of messages of version 1"),
        ("dies", "has ended (exit status: 3): no such module"),
        ("quits", "has ended (exit status: 1): ZeroDivisionError: division by zero"),
        ("low", "said `{\"score\":\"low\"}` in place of `{\"score\": number or null}`"),
    ] {
        let said = said(&criterion(&[word]));
        assert!(said.contains(part), "{said}");
    }
    let loss = ExternalLoss::default().program(sample(&["quits"]));
    let targets = ndarray::array![[1.0, 2.0]];
    assert!(loss.mean(targets.view(), targets.view(), None).is_nan());
    let failure = loss.failure().unwrap().to_string();
    assert!(failure.contains("ZeroDivisionError: division by zero") && loss.failure().is_none(), "{failure}");
    let with = |asks: Value| {
        let settings = json!({"asks": asks}).as_object().unwrap().clone();
        said(&ExternalCriterion { settings, ..criterion(&["asks"]) })
    };
    let asked = |training: Value, held: Value, columns: Value, lambda: Value| {
        with(json!({"retrain": {"training": training, "held_out": held, "columns": columns, "lambda": lambda}}))
    };
    let lambda = json!(design.lambdas()[0]);
    assert!(asked(json!([]), json!([1]), json!([0]), lambda.clone()).contains("rows to train on, all below 12"));
    assert!(asked(json!([1]), json!([12]), json!([0]), lambda.clone()).contains("rows to train on, all below 12"));
    assert!(asked(json!([1, 2]), json!([3]), json!([3]), lambda).contains("columns below 3"));
    assert!(asked(json!([1, 2]), json!([3]), json!([0]), json!(17.5)).contains("a `lambda` of `lambdas`"));
    assert!(with(json!({"retrain": 3})).contains("in place of `{\"retrain\""));
    assert!(with(json!({"scor": 3})).contains("in place of `{\"score\": number or null}`"));
    assert!(with(json!({"score": 3, "lambda": 77})).contains("in place of a `lambda` of `lambdas`"));
    assert!(with(json!({"score": 3, "lambda": "all"})).contains("in place of a `lambda` of `lambdas`"));
}

#[test]
fn a_score_of_null_refuses_the_subset() {
    let design = data::regression(12, 3, 1).design(&[0.5], true);
    let settings = json!({"score": null}).as_object().unwrap().clone();
    let refusing = ExternalCriterion { settings, ..criterion(&["settings"]) };
    assert_eq!(refusing.evaluate(&design, &[1]).unwrap().loss, f64::INFINITY);
}

#[test]
fn a_program_that_cannot_be_run_is_a_setting() {
    allow_programs();
    let field = |program: ExternalProgram| ExternalCriterion::default().program(program).check_settings().unwrap_err();
    let none = field(ExternalProgram::default());
    assert_eq!(none.field(), Some("program"), "{none}");
    let design = data::regression(12, 3, 1).design(&[0.5], true);
    let missing = ExternalCriterion::default()
        .program(ExternalProgram::new(["no-such-program-anywhere"]))
        .evaluate(&design, &[])
        .unwrap_err();
    assert!(matches!(&missing, Error::Setting { field, .. } if field == "program"), "{missing}");
    assert!(missing.to_string().contains("cannot be started"), "{missing}");
}

#[test]
fn another_program_of_that_name_is_refused() {
    allow_programs();
    let folder = std::env::temp_dir().join(format!("vaglio-external-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let script = folder.join("script.txt");
    std::fs::write(&script, "one").unwrap();
    let program = ExternalProgram::new([SAMPLE, "mean", "json", script.to_str().unwrap()]);
    let problem = data::regression(12, 3, 1).problem();
    let model = ExternalLearner::default().program(program.clone()).fit(&problem, &[0, 2], None).unwrap();
    let written = serde_json::to_string(&model).unwrap();
    assert!(serde_json::from_str::<Model>(&written).is_ok());
    assert_eq!(serde_json::from_value::<ExternalProgram>(json!(program)).unwrap(), program);
    assert_eq!(serde_json::from_value::<ExternalProgram>(json!(program.command())).unwrap(), program);
    std::fs::write(&script, "two").unwrap();
    let refused = serde_json::from_str::<Model>(&written).unwrap_err().to_string();
    assert!(refused.contains("are not those that this was made with"), "{refused}");
    std::fs::remove_dir_all(&folder).unwrap();
}
