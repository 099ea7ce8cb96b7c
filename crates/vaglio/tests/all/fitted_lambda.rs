//! `lambda: {grid: auto}`: a grid that is fitted to the design, and goes on where its end wins.

use linfa::ParamGuard;
use serde_json::json;
use vaglio::core::{Criterion, Design, Lambda, Problem, Task};
use vaglio::criteria::Loo;
use vaglio::learners::{Crrr, Rls};
use vaglio::search::{All, Silent};
use vaglio::{Selection, Selector};
use vaglio_testkit::{SplitMix64, data};

fn design(problem: &Problem, learner: Rls) -> Design {
    Selector::params(Loo::default(), All::default(), learner).check().unwrap().design(problem).unwrap()
}

fn selection(problem: &Problem, lambda: Lambda) -> Selection {
    let selector = Selector::params(Loo::default(), All::default(), Rls::new(lambda)).check().unwrap();
    selector.select(problem, &mut Silent).unwrap()
}

/// Two columns about 0 that are orthogonal, with these sums of squares.
fn orthogonal(squares: [f64; 2]) -> Problem {
    let [a, b] = squares.map(|square| (square / 4.0).sqrt());
    data::given(&[&[a, a, -a, -a], &[b, -b, b, -b]], &[&[1.0, 2.0, 0.0, 1.5]], Task::Regression).unwrap()
}

#[test]
fn a_grid_goes_from_a_tenth_of_the_least_eigenvalue_to_ten_times_the_largest() {
    let lambdas = |squares| design(&orthogonal(squares), Rls::new(Lambda::auto())).readout().unwrap().lambdas.clone();
    let near = |found: Vec<f64>, expected: &[f64]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        found.iter().zip(expected).for_each(|(a, b)| assert!((a / b - 1.0).abs() < 1e-12, "{found:?}"));
    };
    let root = 10f64.sqrt();
    near(lambdas([2.0, 40.0]), &[0.1, 0.1 * root, 1.0, root, 10.0, 10.0 * root, 100.0, 100.0 * root, 1000.0]);
    // Of many powers of ten each has one value, and what is less than 1e-8 of the largest does not count.
    near(lambdas([2e-5, 40.0]), &[1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0]);
    near(lambdas([2e-9, 40.0]), &[root, 10.0, 10.0 * root, 100.0, 100.0 * root, 1000.0]);
    let few: Lambda = serde_json::from_value(json!({"grid": "auto", "points": 3})).unwrap();
    near(design(&orthogonal([2.0, 40.0]), Rls::new(few)).readout().unwrap().lambdas.clone(), &[0.1, 10.0, 1000.0]);
}

#[test]
fn the_eigenvalues_are_those_of_the_smaller_side_with_weights() {
    for (rows, columns) in [(30, 6), (6, 30)] {
        for weighted in [false, true] {
            let recipe = data::regression(rows, columns, 4);
            let problem = if weighted { recipe.weighted() } else { recipe }.problem();
            let found = design(&problem, Rls::new(Lambda::auto()));
            let x = problem.columns();
            let weight = |row: usize| problem.weights().map_or(1.0, |w| w[row]);
            let total: f64 = (0..rows).map(weight).sum();
            let mean = |k: usize| (0..rows).map(|row| weight(row) * x.column(k).get(row)).sum::<f64>() / total;
            // The largest eigenvalue by power iteration on the columns, in plain loops.
            let means: Vec<f64> = (0..columns).map(mean).collect();
            let (mut v, mut largest) = (vec![1.0; columns], 0.0);
            for _ in 0..2000 {
                let of_row = |row: usize| -> f64 {
                    weight(row) * (0..columns).map(|k| (x.column(k).get(row) - means[k]) * v[k]).sum::<f64>()
                };
                let along: Vec<f64> = (0..rows).map(of_row).collect();
                let back = |k: usize| (0..rows).map(|row| (x.column(k).get(row) - means[k]) * along[row]).sum();
                v = (0..columns).map(back).collect();
                largest = v.iter().map(|v| v * v).sum::<f64>().sqrt();
                v.iter_mut().for_each(|v| *v /= largest);
            }
            let last = *found.readout().unwrap().lambdas.last().unwrap();
            assert!(last >= 10.0 * largest && last < 10.0 * 10.0 * largest, "{last} for {largest}");
        }
    }
}

#[test]
fn an_end_that_wins_is_extended_to_what_a_written_grid_would_find() {
    // A target that no column tells: λ without bound is best.
    let mut random = SplitMix64::new(5);
    let columns: Vec<Vec<f64>> = (0..6).map(|_| (0..40).map(|_| random.normal()).collect()).collect();
    let y: Vec<f64> = columns.iter().fold(vec![0.0; 40], |y, x| y.iter().zip(x).map(|(y, x)| y + 0.01 * x).collect());
    let noise: Vec<f64> = y.iter().map(|y| y + random.normal()).collect();
    let views: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    for target in [y, noise] {
        let problem = data::given(&views, &[&target], Task::Regression).unwrap();
        let fixed = json!({"grid": "auto", "points": 3, "extend": false});
        let fixed: Lambda = serde_json::from_value(fixed).unwrap();
        let (fixed, extended) = (selection(&problem, fixed), selection(&problem, Lambda::auto()));
        assert_eq!(fixed.chosen.table.as_ref().unwrap().lambdas.len(), 3);
        let table = extended.chosen.table.clone().unwrap();
        let lambdas: Vec<f64> = table.lambdas.iter().map(|lambda| lambda.unwrap()).collect();
        assert!(lambdas.windows(2).all(|pair| pair[0] < pair[1]), "{lambdas:?}");
        let written = selection(&problem, Lambda::one_of(lambdas).per_path());
        assert_eq!(written.chosen.table.unwrap().cells, table.cells);
        // Of all columns the score of all rows chooses, and folds say what that is worth.
        let score = |lambda: Option<f64>| {
            let one = design(&problem, Rls::new(lambda.unwrap()));
            Loo::default().evaluate(&one, &one.candidates()).unwrap().loss
        };
        let scores: Vec<f64> = table.lambdas.iter().map(|lambda| score(*lambda)).collect();
        let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let place = table.lambdas.iter().position(|lambda| *lambda == extended.chosen.lambda).unwrap();
        assert!(scores[place] <= lowest * (1.0 + 1e-9), "{:?} of {scores:?}", extended.chosen.lambda);
        assert_eq!(extended.chosen.cell.as_ref(), table.cells[place].last());
    }
}

#[test]
fn a_target_without_noise_takes_the_grid_down() {
    let recipe = data::regression(40, 4, 8);
    let x = recipe.problem();
    let columns: Vec<Vec<f64>> = x.columns().iter().map(|column| column.values().into_owned()).collect();
    let y: Vec<f64> = (0..40).map(|row| 3.0 * columns[0][row] - columns[1][row] + 0.5 * columns[3][row]).collect();
    let views: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let problem = data::given(&views, &[&y], Task::Regression).unwrap();
    let first = design(&problem, Rls::new(Lambda::auto())).readout().unwrap().lambdas[0];
    let found = selection(&problem, Lambda::auto());
    assert!(found.chosen.lambda.unwrap() < 1e-3 * first, "{:?} from {first}", found.chosen.lambda);
}

#[test]
fn classes_that_count_alike_have_a_grid_of_their_weights() {
    let problem = data::binary(60, 5, 3).problem();
    let of = |learner: Selector| learner.check().unwrap().design(&problem).unwrap().readout().unwrap().lambdas[0];
    let plain = of(Selector::params(Loo::default(), All::default(), Rls::new(Lambda::auto())));
    let balanced = of(Selector::params(Loo::default(), All::default(), Crrr::new(Lambda::auto())));
    // Weights of each class add up to 1 in place of 30.
    assert!(balanced < 0.2 * plain, "{balanced} and {plain}");
}
