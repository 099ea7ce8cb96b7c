//! Predictions that are averaged over units of rows: every fast way equals plain retraining.

use crate::crrr;
use vaglio::core::{Criterion, Design, Readout, RowLabels, SearchExtent, Squared, ZeroOne, prediction_units};
use vaglio::criteria::{Engine, FoldBy, KFold, Loo};
use vaglio::search::SubsetScorer;
use vaglio_testkit::data::{self, Recipe};
use vaglio_testkit::{CriterionLaws, LawResult, check_criterion};

fn steps(criterion: &dyn Criterion, design: &Design) -> LawResult {
    assert!(prediction_units(design).unwrap().targets.ncols() < design.rows());
    crrr::steps(criterion, design)
}

fn recipes() -> Vec<(&'static str, Recipe)> {
    let two = || data::binary(24, 6, 41).groups(6).deciding(3);
    let three = || data::multiclass(26, 6, 3, 42).groups(6).deciding(3);
    vec![
        ("two classes", two()),
        ("two weighted classes", two().weighted()),
        ("three weighted classes", three().weighted().duplicates(1)),
        ("two balanced classes", two().skewed().balanced()),
        ("three balanced classes", three().skewed().balanced()),
    ]
}

/// Folds are tried in turn; with `VAGLIO_CASES=all`, each time.
#[test]
fn every_loss_of_every_criterion_equals_retraining() -> LawResult {
    crate::on_one_thread(|| {
        let (stride, mut first) = (crate::stride(3), 0);
        for (name, recipe) in recipes() {
            for loss in crate::losses::of_classes(name.starts_with("two")) {
                for intercept in [true, false] {
                    let design = recipe.design(&[1e-3, 0.3], intercept).with_problem(|problem| problem.with_seed(2));
                    let within = format!("{name}, {}, intercept {intercept}", loss.kind());
                    steps(&Loo { loss: loss.clone(), ..Loo::default() }, &design)
                        .map_err(|b| b.within(&within).within("loo"))?;
                    let stratified = KFold { folds: Some(4), stratified: true, loss: loss.clone(), ..KFold::default() };
                    let groups = KFold { by: Some(FoldBy::Groups), loss: loss.clone(), ..KFold::default() };
                    let contiguous = KFold { stratified: false, folds: Some(3), ..stratified.clone() };
                    let all = [contiguous, stratified.clone(), KFold { shuffle: true, ..stratified }, groups];
                    for criterion in all.iter().skip(first).step_by(stride) {
                        if criterion.check(&design).is_ok() {
                            steps(criterion, &design).map_err(|b| b.within(&within).within("kfold"))?;
                        }
                    }
                    first = (first + 1) % stride;
                }
            }
        }
        Ok(())
    })
}

#[test]
fn the_laws_of_criteria_hold() -> LawResult {
    crate::on_one_thread(|| {
        let design = data::binary(22, 5, 43).weighted().deciding(3).design(&[0.2], true);
        for criterion in crrr::criteria(Squared, 3).iter().chain(&crrr::criteria(ZeroOne, 3)) {
            check_criterion(&**criterion, &design, 1e-9)?;
        }
        Ok(())
    })
}

#[test]
fn threads_change_no_bit() -> LawResult {
    let design = data::multiclass(200, 20, 3, 44).deciding(9).design(&[0.1, 1.0], true);
    for criterion in crrr::criteria(Squared, 4).iter().chain(&crrr::criteria(ZeroOne, 4)) {
        CriterionLaws::new(&**criterion, &design, 0.0).threads()?;
    }
    Ok(())
}

#[test]
fn moments_are_refused() {
    let design = data::binary(22, 5, 43).deciding(3).design(&[0.2], true);
    let criterion = KFold { engine: Engine::Moments, stratified: true, folds: Some(3), ..KFold::default() };
    let error = criterion.check(&design).unwrap_err().to_string();
    assert!(error.contains("engine") && error.contains("rows_held_out"), "{error}");
}

#[test]
fn a_standard_error_is_that_of_the_units() {
    // Units of one row each are rows, and say the same as a design without units.
    let plain = data::binary(24, 5, 45).weighted().design(&[0.2], true);
    let units = plain.with_problem(|problem| {
        let labels = RowLabels { units: Some((0..24).collect()), ..problem.labels().clone() };
        problem.with_labels(labels).unwrap()
    });
    for loss in crate::losses::all() {
        let folds = KFold {
            folds: Some(3),
            stratified: true,
            engine: Engine::RowsHeldOut,
            loss: loss.clone(),
            ..KFold::default()
        };
        let alone = Loo { loss: loss.clone(), ..Loo::default() };
        let criteria: [&dyn Criterion; 2] = [&alone, &folds];
        for criterion in criteria {
            let error = |design: &Design| {
                let mut evaluator = SubsetScorer::open(criterion, design, &SearchExtent::forward(5, 2)).unwrap();
                evaluator.reset(&[0, 2]).unwrap();
                evaluator.standard_error().unwrap().unwrap()
            };
            let (of_rows, of_units) = (error(&plain), error(&units));
            assert!((of_rows - of_units).abs() <= 1e-12 * of_rows, "{loss:?}: {of_units} is not {of_rows}");
        }
    }
}

#[test]
fn targets_of_units_far_from_1_are_divided_with_those_of_rows() {
    let targets = ndarray::Array2::from_shape_fn((1, 24), |(_, row)| (row / 3) as f64 * 1e60);
    let problem = data::regression(24, 5, 46).problem().with_targets(targets).unwrap();
    let units = Some((0..24).map(|row| row / 3).collect());
    let problem = problem.with_labels(RowLabels { units, ..RowLabels::default() }).unwrap();
    let design = Design::identity(&problem, Readout::new(vec![0.2], true).unwrap());
    let criterion = Loo::default();
    let mut scorer = SubsetScorer::open(&criterion, &design, &SearchExtent::forward(5, 2)).unwrap();
    scorer.reset(&[0, 2]).unwrap();
    let (found, expected) = (scorer.score().unwrap().loss, criterion.evaluate(&design, &[0, 2]).unwrap().loss);
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
}
