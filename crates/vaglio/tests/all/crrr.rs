//! Readouts that balance classes: every fast way equals plain retraining.

use std::sync::Arc;
use vaglio::core::{
    Auc, BalancedError, Criterion, Design, Lambda, Loss, Part, PerFoldPreprocessing, SearchExtent, Squared, Task,
};
use vaglio::criteria::{Engine, FoldBy, KFold, Loo};
use vaglio::learners::Crrr;
use vaglio::search::SubsetScorer;
use vaglio_testkit::data::{self, Recipe};
use vaglio_testkit::{CriterionLaws, LawResult, check_criterion};

fn is_fast(criterion: &dyn Criterion, design: &Design) -> bool {
    criterion.plan(design, &SearchExtent::forward(design.features(), 3)).has_engine
}

/// Additions, removals and a walk on the definition, by a shortcut.
pub fn steps(criterion: &dyn Criterion, design: &Design) -> LawResult {
    assert!(is_fast(criterion, design));
    CriterionLaws::new(criterion, design, 1e-9).additions()?;
    CriterionLaws::new(criterion, design, 1e-9).removals()?;
    CriterionLaws::new(criterion, design, 1e-9).walk(30, 5)
}

fn recipes() -> Vec<(&'static str, Recipe)> {
    let two = || data::binary(22, 6, 31).skewed().groups(6).balanced();
    let three = || data::multiclass(26, 6, 3, 32).skewed().groups(6).balanced();
    vec![
        ("two classes", two()),
        ("two weighted classes", two().weighted()),
        ("three classes", three()),
        ("three weighted classes", three().weighted().duplicates(1)),
    ]
}

/// Leave-one-out and stratified folds by a loss.
pub fn criteria(loss: impl Into<Part<dyn Loss>>, folds: usize) -> [Box<dyn Criterion>; 2] {
    let loss = loss.into();
    let by_rows = Loo { loss: loss.clone(), ..Loo::default() };
    [Box::new(by_rows), Box::new(KFold { stratified: true, loss, ..KFold::new(folds) })]
}

#[test]
fn leaving_one_row_out_equals_retraining() -> LawResult {
    crate::on_one_thread(|| {
        for (name, recipe) in recipes() {
            for loss in crate::losses::of_classes(name.starts_with("two")) {
                for intercept in [true, false] {
                    let design = recipe.design(&[1e-3, 0.3], intercept);
                    let within = format!("{name}, {}, intercept {intercept}", loss.kind());
                    steps(&Loo { loss: loss.clone(), ..Loo::default() }, &design).map_err(|b| b.within(&within))?;
                }
            }
        }
        Ok(())
    })
}

/// Folds and engines are tried in turn; with `VAGLIO_CASES=all`, each time.
#[test]
fn holding_folds_out_equals_retraining() -> LawResult {
    crate::on_one_thread(|| {
        let (stride, mut first) = (crate::stride(3), 0);
        let plain = || KFold { folds: Some(3), ..KFold::default() };
        let kinds = [
            ("contiguous", plain()),
            ("stratified", KFold { stratified: true, ..plain() }),
            ("shuffled", KFold { stratified: true, shuffle: true, ..plain() }),
            ("groups", KFold { by: Some(FoldBy::Groups), folds: None, ..KFold::default() }),
        ];
        for (name, recipe) in recipes() {
            for loss in crate::losses::of_classes(name.starts_with("two")) {
                for intercept in [true, false] {
                    let design = recipe.design(&[1e-3, 0.3], intercept).with_problem(|problem| problem.with_seed(2));
                    let engines = |kind| [Engine::Moments, Engine::RowsHeldOut].map(|engine| (kind, engine));
                    for ((kind, criterion), engine) in kinds.iter().flat_map(engines).skip(first).step_by(stride) {
                        let criterion = KFold { loss: loss.clone(), engine, ..criterion.clone() };
                        if criterion.check(&design).is_err() {
                            continue;
                        }
                        let within = format!("{name}, {}, intercept {intercept}, {kind}, {engine:?}", loss.kind());
                        steps(&criterion, &design).map_err(|b| b.within(&within))?;
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
        let two = data::binary(20, 5, 33).skewed().weighted().balanced().design(&[0.2], true);
        let three = data::multiclass(22, 5, 3, 34).skewed().balanced().design(&[1e-2, 1.0], true);
        for design in [two, three] {
            for criterion in criteria(Squared, 3).iter().chain(&criteria(BalancedError, 3)) {
                check_criterion(&**criterion, &design, 1e-9)?;
            }
        }
        Ok(())
    })
}

#[test]
fn threads_change_no_bit() -> LawResult {
    let design = data::multiclass(200, 20, 3, 35).skewed().balanced().duplicates(2).design(&[0.1, 1.0], true);
    for criterion in criteria(Squared, 4).iter().chain(&criteria(BalancedError, 4)) {
        CriterionLaws::new(&**criterion, &design, 0.0).threads()?;
    }
    Ok(())
}

#[test]
fn small_lambdas_and_rows_of_high_leverage_are_left_out_with_care() -> LawResult {
    for lambda in [1e-6, 1e-9] {
        let design = data::binary(12, 14, 36).balanced().design(&[lambda], true);
        CriterionLaws::new(&Loo::default(), &design, 1e-6).walk(40, 3)?;
        let folds = KFold { folds: Some(3), stratified: true, ..KFold::default() };
        for engine in [Engine::Moments, Engine::RowsHeldOut] {
            CriterionLaws::new(&KFold { engine, ..folds.clone() }, &design, 1e-6).walk(40, 3)?;
        }
    }
    Ok(())
}

#[test]
fn a_class_of_one_row_is_refused_by_leave_one_out() {
    let column = [1.0, 2.0, 4.0, 3.0, 5.0];
    let target = [-1.0, -1.0, 1.0, -1.0, -1.0];
    let task = Task::Binary { negative: Some("no".into()), positive: "yes".into() };
    let problem = data::given(&[&column], &[&target], task).unwrap();
    let design = Design::from_problem(&problem, Arc::new(Crrr::default())).unwrap();
    let error = Loo::default().check(&design).unwrap_err().to_string();
    assert!(error.contains("class `yes` has one row") && error.contains("rls"), "{error}");
}

/// Twenty weights in each of two classes: more kinds of rows than there are states for.
fn many_weights(rows: usize) -> Design {
    let weights = (0..rows).map(|j| 1.0 + (j % 20) as f64).collect();
    let problem = data::binary(rows, 4, 37).problem().with_weights(weights).unwrap();
    let learner = Crrr { lambda: Lambda::one_of(vec![1e-2, 1.0]), intercept: true };
    Design::from_problem(&problem, Arc::new(learner)).unwrap()
}

#[test]
fn rows_of_many_weights_are_decomposed_and_the_estimate_says_so() -> LawResult {
    // Each row refitted, and 40 parts by sums over the classes.
    for (rows, reason) in [(60, "balanced"), (200, "sums over each class")] {
        let design = many_weights(rows);
        for loss in [Part::<dyn Loss>::from(Squared), BalancedError.into(), Auc.into()] {
            let criterion = Loo { loss: loss.clone(), ..Loo::default() };
            let estimate = criterion.plan(&design, &SearchExtent::forward(4, 2)).estimate;
            assert_eq!(estimate.engine, "decomposition");
            assert!(estimate.reason.contains(reason), "{}", estimate.reason);
            CriterionLaws::new(&criterion, &design, 1e-9).additions()?;
            CriterionLaws::new(&criterion, &design, 1e-9).removals()?;
            CriterionLaws::new(&criterion, &design, 0.0).estimates()?;
        }
    }
    Ok(())
}

#[test]
fn columns_standardized_in_each_fold_equal_retraining() -> LawResult {
    crate::on_one_thread(|| {
        for (name, recipe) in recipes() {
            for loss in crate::losses::of_classes(name.starts_with("two")) {
                for intercept in [true, false] {
                    let design = recipe
                        .design(&[1e-3, 0.3], intercept)
                        .with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()));
                    let criterion = KFold { folds: Some(3), stratified: true, loss: loss.clone(), ..KFold::default() };
                    let within = format!("{name}, {}, intercept {intercept}", loss.kind());
                    steps(&criterion, &design).map_err(|b| b.within(&within))?;
                    CriterionLaws::new(&criterion, &design, 1e-9).forks().map_err(|b| b.within(&within))?;
                    CriterionLaws::new(&criterion, &design, 0.0).estimates().map_err(|b| b.within(&within))?;
                }
            }
        }
        Ok(())
    })
}

#[test]
fn a_searched_penalty_is_that_of_the_same_search_on_retraining() {
    let problem = data::binary(24, 5, 38).skewed().weighted().problem();
    let learner = Crrr { lambda: Lambda::search(1e-4, 1e2), intercept: true };
    let design = Design::from_problem(&problem, Arc::new(learner)).unwrap();
    let folds = KFold { folds: Some(3), stratified: true, ..KFold::default() };
    for criterion in [&Loo::default() as &dyn Criterion, &folds] {
        let mut subset = SubsetScorer::open(criterion, &design, &SearchExtent::forward(5, 3)).unwrap();
        assert_eq!(subset.engine(), "decomposition");
        for features in [&[0, 2, 3][..], &[4], &[]] {
            subset.reset(features).unwrap();
            let (defined, found) = (criterion.evaluate(&design, features).unwrap(), subset.score().unwrap());
            assert!((found.loss - defined.loss).abs() <= 1e-9 * defined.loss, "{found:?} is not {defined:?}");
            assert!(subset.standard_error().unwrap().unwrap() > 0.0);
        }
    }
}
