//! Greedy leave-one-out against its definition: every score by plain retraining, and the same columns.

use ndarray::Array2;
use std::path::Path;
use std::sync::Arc;
use vaglio::core::{
    Absolute, BalancedError, Cells, Columns, Criterion, Design, Feature, Lambda, Loss, Part, Problem, Score,
    SearchExtent, Squared, Task, Winner, ZeroOne,
};
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::search::{Greedy, SearchContext, Silent, SubsetScorer};
use vaglio_tables::read::{ReadRequest, read_table};
use vaglio_testkit::{Tolerance, data, design_copies};

/// Scores of a search are compared with plain retraining at this relative tolerance.
const TOLERANCE: f64 = 1e-10;

fn close(found: Score, defined: Score, what: &str) {
    Tolerance::relative(TOLERANCE).assert(defined.loss, found.loss, what);
    assert_eq!(found.lambda, defined.lambda, "{what}");
}

fn greedy(criterion: &Loo, design: &Design, steps: usize) -> vaglio::search::Path {
    let extent = SearchExtent::forward(design.features(), design.features());
    let subset = SubsetScorer::open(criterion, design, &extent).unwrap();
    Greedy::new(steps).run(&mut SearchContext::new(subset, &mut Silent, 0)).unwrap()
}

/// Runs greedy both ways and checks every step: its score, and that no candidate would have been better.
fn check(problem: &Problem, learner: Rls, loss: Part<dyn Loss>, steps: usize, what: &str) {
    let design = Design::from_problem(problem, Arc::new(learner)).unwrap();
    let mut paths = Vec::new();
    for full_pass in [false, true] {
        let criterion = Loo { loss: loss.clone(), full_pass };
        let path = greedy(&criterion, &design, steps);
        close(path.empty, criterion.evaluate(&design, &[]).unwrap(), &format!("{what}, empty"));
        let mut subset: Vec<Feature> = Vec::new();
        for step in &path.steps {
            let candidates: Vec<Feature> = (0..design.features()).filter(|f| !subset.contains(f)).collect();
            let larger = |f: &Feature| subset.iter().chain([f]).copied().collect::<Vec<_>>();
            let defined: Vec<Score> =
                candidates.iter().map(|f| criterion.evaluate(&design, &larger(f)).unwrap()).collect();
            let best = Winner::among(&candidates, &defined).unwrap();
            let own = candidates.iter().position(|f| *f == step.feature).unwrap();
            close(step.score, defined[own], &format!("{what}, step {}", subset.len() + 1));
            // The same column, unless the two differ by less than rounding.
            let gap = (defined[own].loss - best.score.loss) / best.score.loss.abs().max(f64::MIN_POSITIVE);
            assert!(
                step.feature == best.feature || gap <= 1e-12,
                "{what}: {} instead of {}",
                step.feature,
                best.feature
            );
            subset.push(step.feature);
        }
        paths.push(path);
    }
    let features = |k: usize| paths[k].steps.iter().map(|s| (s.feature, s.tied.clone())).collect::<Vec<_>>();
    assert_eq!(features(0), features(1), "{what}: bounds change the selection");
}

#[test]
fn random_data_over_all_lambda_weights_intercepts_losses_and_outputs() {
    for exponent in [-6, -3, 0, 3, 6] {
        for intercept in [true, false] {
            let learner = || Rls { lambda: Lambda::from(10f64.powi(exponent)), intercept };
            let what = |text: &str| format!("{text}, lambda 1e{exponent}, intercept {intercept}");
            let numbers = data::regression(26, 9, 11).weighted().duplicates(1).problem();
            check(&numbers, learner(), Squared.into(), 5, &what("regression"));
            check(&numbers, learner(), Absolute.into(), 4, &what("absolute"));
            let several = data::regression(20, 7, 12).outputs(3).problem();
            check(&several, learner(), Squared.into(), 4, &what("three outputs"));
            let binary = data::binary(26, 8, 13).weighted().problem();
            check(&binary, learner(), ZeroOne.into(), 4, &what("zero-one"));
            check(&binary, learner(), BalancedError.into(), 4, &what("balanced"));
            let classes = data::multiclass(24, 7, 3, 14).problem();
            check(&classes, learner(), ZeroOne.into(), 4, &what("three classes"));
        }
    }
}

#[test]
fn a_grid_of_lambda_is_searched_jointly() {
    let lambda = Lambda::grid(1e-3, 1e3, 7);
    let problem = data::regression(26, 9, 21).weighted().problem();
    check(&problem, Rls { lambda: lambda.clone(), intercept: true }, Squared.into(), 5, "grid");
    check(&problem, Rls { lambda, intercept: false }, Absolute.into(), 4, "grid, absolute");
}

#[test]
fn fewer_rows_than_columns_and_more_columns_than_rows_selected() {
    for lambda in [1e-12, 1e-9, 1e-6, 1e-3, 1.0] {
        for intercept in [true, false] {
            let problem = data::regression(9, 16, 31).weighted().problem();
            let what = format!("9 x 16, lambda {lambda}, intercept {intercept}");
            check(&problem, Rls { lambda: Lambda::from(lambda), intercept }, Squared.into(), 13, &what);
        }
    }
}

#[test]
fn badly_scaled_and_nearly_dependent_columns() {
    let scaled = data::regression(24, 8, 41).condition(1e10).problem();
    check(&scaled, Rls { lambda: Lambda::from(1e-6), intercept: true }, Squared.into(), 5, "condition 1e10");
    let collinear = data::regression(24, 8, 42).collinear(1e-3).problem();
    check(&collinear, Rls { lambda: Lambda::from(1e-3), intercept: true }, Squared.into(), 5, "collinear");
}

/// Three columns that are not 0 in one row alone, and one that is: without the row there is nothing to fit.
fn alone() -> Problem {
    let mut columns = Columns::new(12);
    for alone in 0..3 {
        columns.push((0..12).map(|j| if j == 4 * alone { 1.0 + alone as f64 } else { 0.0 }).collect::<Vec<_>>());
    }
    columns.push((0..12).map(|j| f64::from(j).sin()).collect::<Vec<_>>());
    let targets = Array2::from_shape_fn((1, 12), |(_, j)| (j as f64 * 0.7).cos());
    let names = (0..4).map(|k| format!("x{k}")).collect();
    Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap()
}

#[test]
fn rows_that_carry_a_column_alone_are_left_out_exactly() {
    for lambda in [1e-12, 1e-9, 1e-6, 1.0] {
        for intercept in [true, false] {
            check(&alone(), Rls { lambda: Lambda::from(lambda), intercept }, Squared.into(), 4, "alone");
        }
    }
}

#[test]
fn the_standard_error_is_that_of_the_rows_left_out() {
    for (lambda, intercept) in [(1e-12, false), (1e-12, true), (1.0, true)] {
        let design = Design::from_problem(&alone(), Arc::new(Rls { lambda: Lambda::from(lambda), intercept })).unwrap();
        let squares: Vec<f64> = (0..12)
            .map(|row| {
                let others: Vec<usize> = (0..12).filter(|&r| r != row).collect();
                let predicted = design.retrain(&others, &[row], &[0, 3], Some(lambda)).unwrap()[[0, 0]];
                (design.targets()[[0, row]] - predicted).powi(2)
            })
            .collect();
        let mean = squares.iter().sum::<f64>() / 12.0;
        let defined = (squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 12.0 / 12.0).sqrt();
        let criterion = Loo::default();
        let mut subset =
            SubsetScorer::open(&criterion, &design, &SearchExtent::forward(design.features(), design.features()))
                .unwrap();
        subset.reset(&[0, 3]).unwrap();
        let found = subset.standard_error().unwrap().unwrap();
        assert!((found - defined).abs() <= 1e-9 * defined, "lambda {lambda}: {found} is not {defined}");
    }
}

fn real(file: &str, target: &str, rows: usize) -> Problem {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data").join(file);
    let mut table = read_table(&path, &ReadRequest::default()).unwrap();
    let taken: Vec<usize> = (0..table.rows()).step_by(table.rows() / rows).collect();
    let target = table.take(target).unwrap();
    let table = table.select_rows(&taken);
    let mut columns = Columns::new(taken.len());
    let mut names = Vec::new();
    for (name, cells) in table.into_columns() {
        if let Cells::Numbers(numbers) = cells {
            columns.push(numbers);
            names.push(name);
        }
    }
    let (targets, task) = match target.numbers() {
        Some(numbers) => (taken.iter().map(|&r| numbers.get(r)).collect::<Vec<_>>(), Task::Regression),
        None => {
            let positive = target.label(0);
            let sign = |row: &usize| if target.label(*row) == positive { 1.0 } else { -1.0 };
            (taken.iter().map(sign).collect(), Task::Binary { negative: None, positive })
        }
    };
    let targets = Array2::from_shape_vec((1, taken.len()), targets).unwrap();
    Problem::new(columns, names, targets, vec!["y".into()], task).unwrap()
}

#[test]
fn real_data() {
    let diabetes = real("diabetes.csv", "target", 40);
    for lambda in [1e-6, 1.0, 1e6] {
        check(&diabetes, Rls { lambda: Lambda::from(lambda), intercept: true }, Squared.into(), 4, "diabetes");
    }
    let cancer = real("breast_cancer.csv", "diagnosis", 30);
    for lambda in [1e-6, 1e-2, 1e4] {
        let learner = || Rls { lambda: Lambda::from(lambda), intercept: true };
        check(&cancer, learner(), ZeroOne.into(), 2, "breast cancer, zero-one");
        check(&cancer, learner(), Squared.into(), 3, "breast cancer");
    }
}

#[test]
fn the_order_of_columns_changes_no_bit() {
    for seed in 0..20 {
        let design = data::regression(18, 7, seed).design(&[0.1], true);
        let order: Vec<Feature> = (0..7).map(|k| (k + 1 + seed as usize % 6) % 7).collect();
        let turned = design_copies::with_columns(&design, &order).unwrap();
        let steps = |design| greedy(&Loo::default(), design, 5).steps;
        for (a, b) in steps(&design).iter().zip(steps(&turned)) {
            assert_eq!((a.feature, a.score.loss.to_bits()), (order[b.feature], b.score.loss.to_bits()));
        }
    }
}
