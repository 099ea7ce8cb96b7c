//! Every search on every built-in criterion, on data that take digits away: the same columns as by plain retraining.

use vaglio::core::{Criterion, Design, Feature, HeldOut, PerFoldPreprocessing, Readout, StopReason, Task};
use vaglio::criteria::{Engine, KFold, Loo};
use vaglio::search::{Backward, Exhaustive, Floating, Greedy, Path, Search, SearchContext, Silent, SubsetScorer};
use vaglio_testkit::data;

fn criteria() -> Vec<(&'static str, Box<dyn Criterion>)> {
    let kfold = |engine| KFold { folds: Some(4), engine, ..KFold::default() };
    vec![
        ("loo", Box::new(Loo::default())),
        ("kfold by moments", Box::new(kfold(Engine::Moments))),
        ("kfold by rows held out", Box::new(kfold(Engine::RowsHeldOut))),
    ]
}

fn searches() -> Vec<(&'static str, Search)> {
    vec![
        ("greedy", Greedy::new(5)),
        ("backward", Backward::default().into()),
        ("floating", Floating::new(5).tolerance(None)),
        ("exhaustive", Exhaustive::new(3)),
    ]
}

fn run(search: &Search, subset: SubsetScorer<'_>) -> Path {
    let mut silent = Silent;
    search.run(&mut SearchContext::new(subset, &mut silent, 0)).unwrap()
}

/// Asserts equal steps, entries and λ, and scores that are equal up to the tolerance.
fn same(found: &Path, defined: &Path, tolerance: f64, what: &str) {
    let moves = |path: &Path| path.steps.iter().map(|s| (s.action, s.feature)).collect::<Vec<_>>();
    assert_eq!(moves(found), moves(defined), "{what}");
    let subsets = |path: &Path| path.entries.iter().map(|e| e.subset.clone()).collect::<Vec<Vec<Feature>>>();
    assert_eq!(subsets(found), subsets(defined), "{what}");
    for (found, defined) in found.entries.iter().zip(&defined.entries) {
        let error = (found.score.loss - defined.score.loss).abs();
        assert!(error <= tolerance * defined.score.loss, "{what}: {:?} is not {:?}", found, defined);
        assert_eq!(found.score.lambda, defined.score.lambda, "{what}");
    }
    assert_ne!(found.stop_reason, StopReason::Interrupted);
}

fn check(name: &str, design: &Design, tolerance: f64) {
    for (criterion_name, criterion) in criteria() {
        for (search_name, search) in searches() {
            let what = format!("{search_name} on {criterion_name}, {name}");
            let subset = SubsetScorer::open(&*criterion, design, &search.extent(design).unwrap()).unwrap();
            let found = run(&search, subset);
            let defined = run(&search, SubsetScorer::by_definition(&*criterion, design));
            same(&found, &defined, tolerance, &what);
        }
    }
}

#[test]
fn columns_of_unlike_scale() {
    for intercept in [true, false] {
        let data = data::regression(24, 7, 51).weighted().condition(1e12);
        check("condition 1e12", &data.design(&[1e-6], intercept), 1e-7);
        check("condition 1e12, several lambdas", &data.design(&[1e-6, 1e-2, 1e2], intercept), 1e-7);
    }
}

#[test]
fn nearly_dependent_columns() {
    for (distance, lambda) in [(1e-3, 1e-3), (1e-6, 1e-6), (1e-6, 1e-9)] {
        let design = data::regression(24, 7, 52).collinear(distance).design(&[lambda], true);
        check(&format!("collinear to {distance}, lambda {lambda}"), &design, 1e-7);
    }
}

#[test]
fn tiny_penalties() {
    for lambda in [1e-6, 1e-9, 1e-12] {
        let design = data::regression(24, 7, 53).weighted().bytes().design(&[lambda], true);
        check(&format!("lambda {lambda}"), &design, 1e-7);
    }
}

#[test]
fn fewer_rows_than_columns() {
    for lambda in [1e-3, 1e-6] {
        let design = data::regression(8, 11, 54).design(&[lambda], true);
        check(&format!("8 rows of 11 columns, lambda {lambda}"), &design, 1e-7);
    }
}

/// Noise of rounding has a deviation, and a column that is divided by it has no digits.
#[test]
fn a_column_that_is_constant_but_for_rounding_in_the_training_rows_of_a_fold() {
    let rows = 24;
    let four = KFold { folds: Some(4), ..KFold::default() };
    let plain = data::regression(rows, 6, 57).weighted().design(&[1e-3], true);
    let HeldOut::Folds(rounds) = four.folds(&plain).unwrap() else { panic!("k-fold has folds") };
    let mut columns: Vec<Vec<f64>> = (0..6).map(|f| plain.column(f).values().into_owned()).collect();
    for (middle, column) in [(0.1, 2), (-3.7e5, 4)] {
        let noise = |row: usize| middle * (1.0 + (row * 7 % 5) as f64 * f64::EPSILON);
        let of_row =
            |row: usize| if rounds[0].fold_of_rows()[row] == Some(0) { middle + row as f64 } else { noise(row) };
        columns[column] = (0..rows).map(of_row).collect();
    }
    let columns: Vec<&[f64]> = columns.iter().map(|column| &**column).collect();
    let target = plain.targets().row(0).to_vec();
    let problem = data::given(&columns, &[&target], Task::Regression).unwrap();
    for intercept in [true, false] {
        let readout = Readout::new(vec![1e-3], intercept).unwrap();
        let design = Design::identity(&problem, readout)
            .with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()));
        assert!(four.evaluate(&design, &[2, 4]).unwrap().loss < 1e12, "noise is no scale");
        for engine in [Engine::Moments, Engine::RowsHeldOut, Engine::Auto] {
            let criterion = KFold { engine, ..four.clone() };
            for (name, search) in searches() {
                let subset = SubsetScorer::open(&criterion, &design, &search.extent(&design).unwrap()).unwrap();
                let found = run(&search, subset);
                let defined = run(&search, SubsetScorer::by_definition(&criterion, &design));
                same(&found, &defined, 1e-9, &format!("{name}, intercept {intercept}, {engine:?}"));
            }
        }
    }
}
