//! Engines, against the definition.

use vaglio_core::{
    Action, BalancedError, Criterion, Design, Loss, Part, PerFoldPreprocessing, Readout, SearchExtent, Squared, ZeroOne,
};
use vaglio_search::SubsetScorer;
use vaglio_testkit::data::{binary, multiclass, regression};
use vaglio_validate::{Engine, KFold, Loo};

#[test]
fn many_classes_are_left_out_of_their_sums() {
    let extent = SearchExtent::forward(6, 3);
    for (weighted, intercept) in [(false, true), (true, true), (false, false)] {
        let recipe = multiclass(72, 6, 12, 5).skewed().duplicates(1).balanced();
        let recipe = if weighted { recipe.weighted() } else { recipe };
        let design = recipe.design(&[1e-2, 1.0], intercept);
        let loo = Loo { loss: BalancedError.into(), ..Loo::default() };
        let mut found = SubsetScorer::open(&loo, &design, &extent).unwrap();
        assert_eq!(found.engine(), "decomposition");
        found.add(2).unwrap();
        let scores = found.scores(Action::Add, &[0, 4, 5]).unwrap();
        for (feature, score) in [0, 4, 5].into_iter().zip(scores) {
            let expected = loo.evaluate(&design, &[2, feature]).unwrap();
            assert!((score.loss - expected.loss).abs() < 1e-10 && score.lambda == expected.lambda);
        }
    }
}

#[test]
fn several_columns_added_together_score_as_the_definition_says_and_leave_the_subset() {
    let plain = binary(40, 9, 3).weighted().design(&[1e-2, 1.0], true);
    let balanced = multiclass(40, 9, 3, 4).skewed().balanced().design(&[0.1], true);
    let in_folds = plain.with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()));
    let folds = |engine: Engine, loss: Part<dyn Loss>| KFold::new(4).engine(engine).loss(loss);
    let loo = |loss: Part<dyn Loss>| Loo { loss, ..Loo::default() };
    let cases: [(&str, Box<dyn Criterion>); 5] = [
        ("states", Box::new(loo(Squared.into()))),
        ("states", Box::new(loo(ZeroOne.into()))),
        ("moments", Box::new(folds(Engine::Moments, Squared.into()))),
        ("rows_held_out", Box::new(folds(Engine::RowsHeldOut, ZeroOne.into()))),
        ("rows_held_out", Box::new(folds(Engine::RowsHeldOut, Squared.into()))),
    ];
    for (engine, criterion) in &cases {
        for design in [&plain, &balanced, &in_folds] {
            if criterion.check(design).is_err() || (engine == &"states" && std::ptr::eq(design, &in_folds)) {
                continue;
            }
            let mut subset = SubsetScorer::open(&**criterion, design, &SearchExtent::forward(9, 9)).unwrap();
            for (before, more) in [(None, &[7, 3, 1][..]), (Some(4), &[0, 8]), (Some(5), &[2])] {
                before.into_iter().for_each(|feature| subset.add(feature).unwrap());
                let (own, score) = (subset.score().unwrap(), subset.score_with(more).unwrap());
                let all: Vec<usize> = subset.selected().iter().chain(more).copied().collect();
                let expected = criterion.evaluate(design, &all).unwrap();
                assert!((score.loss - expected.loss).abs() < 1e-9, "{engine}: {score:?}, not {expected:?}");
                assert_eq!((score.lambda, subset.score().unwrap()), (expected.lambda, own));
            }
        }
    }
}

#[test]
fn folds_of_one_row_are_leave_one_out_and_keep_their_standard_errors() {
    let readout = Readout::new(vec![1e-2, 1.0], true).unwrap();
    let weighted = regression(30, 7, 3).weighted().outputs(2).problem();
    let classes = binary(30, 7, 5).problem();
    let cases: [(_, Part<dyn Loss>, bool); 4] = [
        (&weighted, Squared.into(), false),
        (&classes, Squared.into(), true),
        (&classes, ZeroOne.into(), false),
        (&classes, ZeroOne.into(), true),
    ];
    for (problem, loss, is_balanced) in cases {
        let readout = if is_balanced { readout.clone().balanced() } else { readout.clone() };
        let design = Design::identity(problem, readout);
        let folds = KFold::new(30).shuffle(true).loss(loss.clone());
        let others = folds.clone().engine(Engine::RowsHeldOut);
        let extent = SearchExtent::forward(7, 3);
        let engine = folds.plan(&design, &extent).estimate;
        assert_eq!((engine.engine, engine.reason.split(';').next()), ("states", Some("every fold is one row")));
        let [mut found, mut expected] =
            [&folds, &others].map(|criterion| SubsetScorer::open(criterion, &design, &extent).unwrap());
        assert_eq!((found.engine(), expected.engine()), ("states", "rows_held_out"));
        for feature in [4, 2] {
            found.add(feature).unwrap();
            expected.add(feature).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
            let score = folds.evaluate(&design, found.selected()).unwrap();
            assert!(near(found.score().unwrap().loss, score.loss) && found.score().unwrap().lambda == score.lambda);
            let [a, b] = [found.standard_error().unwrap().unwrap(), expected.standard_error().unwrap().unwrap()];
            assert!(near(a, b), "{a}, not {b}");
        }
        let scores = found.scores(Action::Add, &[0, 6]).unwrap();
        for (feature, score) in [0, 6].into_iter().zip(scores) {
            let expected = folds.evaluate(&design, &[4, 2, feature]).unwrap();
            assert!((score.loss - expected.loss).abs() <= 1e-9 * expected.loss);
        }
    }
}

#[test]
fn moments_of_many_columns_and_classes_give_way_to_the_rows() {
    let design = multiclass(40, 2000, 4, 3).balanced().design(&[1.0], true);
    let estimate = KFold::new(10).stratified(true).plan(&design, &SearchExtent::forward(2000, 5)).estimate;
    assert_eq!(estimate.engine, "rows_held_out");
    assert!(estimate.bytes < 1e8, "{estimate:?}");
}
