//! Properties over random shapes, settings and data, with shrinking.

use proptest::prelude::*;
use std::sync::Arc;
use vaglio::core::{Absolute, AnyLoss, Columns, Criterion, Design, Path, Problem, SearchExtent, Silent, Squared};
use vaglio::criteria::Loo;
use vaglio::learners::{Lambda, Rls};
use vaglio::search::{Greedy, SearchContext, SubsetScorer};
use vaglio_testkit::{Tolerance, data};

fn greedy(problem: &Problem, lambda: f64, intercept: bool, loss: AnyLoss) -> (Design, Path) {
    let design = Design::from_problem(problem, Arc::new(Rls { lambda: Lambda::Fixed(lambda), intercept })).unwrap();
    let criterion = Loo { loss: loss.clone(), ..Loo::default() };
    let subset =
        SubsetScorer::open(&criterion, &design, &SearchExtent::forward(design.features(), design.features())).unwrap();
    let mut observer = Silent;
    let steps = design.features().min(5);
    let path = Greedy::new(steps).run(&mut SearchContext::new(&criterion, &design, subset, &mut observer, 0)).unwrap();
    (design, path)
}

/// Trials count down to a conditioning of 1e-5, where errors are about 1e-10 of the targets; the worst of 140 000 problems
/// as small as these, at λ = 1e-6, was 1.1e-9.
const NEAR: Tolerance = Tolerance::relative(3e-9);

/// The problem with its columns in another order, and with every column times a power of two.
fn changed(problem: &Problem, order: &[usize], factor: f64) -> Problem {
    let mut columns = Columns::new(problem.rows());
    for &feature in order {
        let values = problem.columns().column(feature).values();
        columns.push(values.iter().map(|v| v * factor).collect::<Vec<_>>());
    }
    let names = order.iter().map(|&f| problem.names()[f].clone()).collect();
    let targets = problem.targets().as_ref().clone();
    let other = Problem::new(columns, names, targets, problem.target_names().to_vec(), problem.task().clone()).unwrap();
    match problem.weights() {
        Some(weights) => other.with_weights(weights.to_vec()).unwrap(),
        None => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scores_are_the_definition(
        rows in 3usize..20, columns in 1usize..8, seed in 0u64..1000,
        exponent in -6i32..=6, intercept: bool, weighted: bool, absolute: bool,
    ) {
        let maker = data::regression(rows, columns, seed);
        let problem = if weighted { maker.weighted().problem() } else { maker.problem() };
        let loss: AnyLoss = if absolute { Absolute.into() } else { Squared.into() };
        let (design, path) = greedy(&problem, 10f64.powi(exponent), intercept, loss.clone());
        let criterion = Loo { loss: loss.clone(), ..Loo::default() };
        let empty = criterion.evaluate(&design, &[]).unwrap().loss;
        for entry in &path.entries {
            let defined = criterion.evaluate(&design, &entry.subset).unwrap().loss;
            // A residual is a difference from a target: its digits are those of the target, and its square moves by
            // twice that.
            let least = if absolute { empty } else { 2.0 * (defined * empty).sqrt() };
            let near = Tolerance { least, ..NEAR };
            prop_assert!(near.holds(entry.score.loss, defined), "{} is not {defined}", entry.score.loss);
        }
    }

    #[test]
    fn the_order_of_columns_changes_nothing_but_their_numbers(seed in 0u64..1000, turn in 1usize..7) {
        let problem = data::regression(18, 7, seed).problem();
        let order: Vec<usize> = (0..7).map(|k| (k + turn) % 7).collect();
        let (_, path) = greedy(&problem, 0.1, true, Squared.into());
        let (_, turned) = greedy(&changed(&problem, &order, 1.0), 0.1, true, Squared.into());
        for (a, b) in path.steps.iter().zip(&turned.steps) {
            prop_assert_eq!(a.feature, order[b.feature]);
            prop_assert_eq!(a.score.loss, b.score.loss);
        }
    }

    #[test]
    fn columns_times_c_are_lambda_times_c_squared(seed in 0u64..1000, power in -20i32..20) {
        let problem = data::regression(18, 6, seed).weighted().problem();
        let order: Vec<usize> = (0..6).collect();
        let factor = 2f64.powi(power);
        let (_, path) = greedy(&problem, 0.25, true, Squared.into());
        let (_, scaled) = greedy(&changed(&problem, &order, factor), 0.25 * factor * factor, true, Squared.into());
        for (a, b) in path.steps.iter().zip(&scaled.steps) {
            prop_assert_eq!(a.feature, b.feature);
            prop_assert!(NEAR.holds(a.score.loss, b.score.loss));
        }
    }

    #[test]
    fn a_duplicate_of_the_first_winner_ties_with_it_bit_for_bit(seed in 0u64..1000) {
        let problem = data::regression(18, 5, seed).problem();
        let (_, path) = greedy(&problem, 1.0, true, Squared.into());
        let first = path.steps[0].feature;
        let mut columns = problem.columns().as_ref().clone();
        columns.push(problem.columns().column(first).values().into_owned());
        let names = problem.names().iter().cloned().chain(["copy".to_owned()]).collect();
        let targets = problem.targets().as_ref().clone();
        let larger = Problem::new(columns, names, targets, vec!["y".into()], problem.task().clone()).unwrap();
        let (_, with_copy) = greedy(&larger, 1.0, true, Squared.into());
        prop_assert_eq!(with_copy.steps[0].feature, first);
        prop_assert_eq!(&with_copy.steps[0].tied, &vec![5]);
        prop_assert_eq!(with_copy.steps[0].score, path.steps[0].score);
    }
}
