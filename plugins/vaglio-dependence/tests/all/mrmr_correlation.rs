//! mRMR by correlations matches values worked out by hand.

use crate::{regression, score};
use vaglio_core::{Problem, Task};
use vaglio_dependence::{Mrmr, Scheme};
use vaglio_testkit::{Tolerance, data};

pub const SCHEMES: [Mrmr; 2] = [Mrmr { scheme: Scheme::Difference }, Mrmr { scheme: Scheme::Quotient }];

#[track_caller]
fn near(found: f64, expected: f64) {
    Tolerance { tolerance: 1e-14, least: 1.0 }.assert(expected, found, "a score");
}

/// With y = (3, 1, −1, −3): ρ(x₀, y) = 4/√80, ρ(x₁, y) = 8/√80 and ρ(x₀, x₁) = 0; x₂ = 7 − 2x₁, so |ρ(x₁, x₂)| = 1.
fn by_hand() -> Problem {
    let columns: [&[f64]; 4] = [&[1., -1., 1., -1.], &[1., 1., -1., -1.], &[5., 5., 9., 9.], &[4., 4., 4., 4.]];
    regression(&columns, &[3., 1., -1., -3.])
}

#[test]
fn the_values_are_those_worked_out_by_hand() {
    let (problem, root) = (by_hand(), 80f64.sqrt());
    let [difference, quotient] = SCHEMES;
    for (subset, relevance, redundancy) in [
        (&[0][..], 4.0 / root, 1.0),
        (&[1], 8.0 / root, 1.0),
        (&[0, 1], 6.0 / root, 0.5),
        (&[1, 2], 8.0 / root, 1.0),
        (&[2, 0, 1], 20.0 / (3.0 * root), 5.0 / 9.0),
        // The constant column has correlation 0 with everything, itself included.
        (&[1, 3], 4.0 / root, 0.25),
    ] {
        near(score(&difference, &problem, subset), redundancy - relevance);
        near(score(&quotient, &problem, subset), -relevance / redundancy);
    }
    for mrmr in SCHEMES {
        near(score(&mrmr, &problem, &[]), 0.0);
        near(score(&mrmr, &problem, &[3]), 0.0);
    }
}

#[test]
fn outputs_count_by_their_mean() {
    let (y, opposite) = ([3., 1., -1., -3.], [-3., 3., 3., -3.]);
    let x = [1., 1., -1., -1.];
    let problem = data::given(&[&x], &[&y, &opposite], Task::Regression).unwrap();
    // ρ(x, y) = 8/√80, and the other correlation is 0.
    near(score(&Mrmr::default(), &problem, &[0]), 1.0 - 4.0 / 80f64.sqrt());
}

#[test]
fn huge_and_tiny_columns_count_like_any_other() {
    let scaled = |factor: f64| {
        let columns: Vec<Vec<f64>> =
            [[1., 5., 2., 8.], [4., 1., 3., 3.]].iter().map(|c| c.iter().map(|v| factor * v).collect()).collect();
        regression(&columns, &[1., 2., 3., 5.])
    };
    for mrmr in SCHEMES {
        let expected = score(&mrmr, &scaled(1.0), &[0, 1]);
        near(score(&mrmr, &scaled(1e300), &[0, 1]), expected);
        near(score(&mrmr, &scaled(1e-300), &[0, 1]), expected);
    }
}

#[test]
fn a_redundant_column_loses_to_a_weaker_one_of_its_own() {
    let problem = by_hand();
    assert!(score(&Mrmr::default(), &problem, &[1, 0]) < score(&Mrmr::default(), &problem, &[1, 2]));
}
