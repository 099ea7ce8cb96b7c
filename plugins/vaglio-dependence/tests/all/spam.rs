//! The penalties at which functions enter.

use crate::{design, weights};
use vaglio_core::{Criterion, Task};
use vaglio_dependence::Spam;
use vaglio_testkit::{SplitMix64, check_criterion_on_standard_data, data};

#[test]
fn every_law_holds_on_the_standard_data() {
    for criterion in [Spam { penalties: 20, ..Spam::default() }, Spam { knots: 0, penalties: 12, least: 0.2 }] {
        check_criterion_on_standard_data(&criterion, 1e-5).unwrap();
    }
}

/// Smooths values by least squares on 1, x, x² and x³, by elimination.
fn smooth(x: &[f64], values: &[f64]) -> Vec<f64> {
    let powers: Vec<Vec<f64>> = (0..4).map(|k| x.iter().map(|v| v.powi(k)).collect()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut matrix: Vec<Vec<f64>> = (0..4)
        .map(|i| (0..4).map(|k| dot(&powers[i], &powers[k])).chain([dot(&powers[i], values)]).collect())
        .collect();
    for k in 0..4 {
        for i in (0..4).filter(|i| *i != k) {
            let by = matrix[i][k] / matrix[k][k];
            (0..5).for_each(|l| matrix[i][l] -= by * matrix[k][l]);
        }
    }
    (0..x.len()).map(|row| (0..4).map(|k| matrix[k][4] / matrix[k][k] * powers[k][row]).sum()).collect()
}

/// Backfitting as printed, for many rounds: smooth the partial residuals, shrink, center. Returns which columns have a
/// nonzero function.
fn printed(columns: &[Vec<f64>], y: &[f64], penalty: f64) -> Vec<bool> {
    let rows = y.len();
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut functions = vec![vec![0.0; rows]; columns.len()];
    for _ in 0..3000 {
        for x in 0..columns.len() {
            let rest: Vec<f64> = (0..rows)
                .map(|row| y[row] - (0..columns.len()).filter(|k| *k != x).map(|k| functions[k][row]).sum::<f64>())
                .collect();
            let smooth = smooth(&columns[x], &rest);
            let share = (1.0 - penalty / norm(&smooth)).max(0.0);
            let mean = smooth.iter().sum::<f64>() / rows as f64;
            functions[x] = smooth.iter().map(|v| share * (v - mean)).collect();
        }
    }
    functions.iter().map(|f| norm(f) > 1e-6).collect()
}

#[test]
fn functions_enter_at_the_penalties_of_the_printed_algorithm() {
    let mut random = SplitMix64::new(2);
    let columns: Vec<Vec<f64>> = (0..5).map(|_| (0..50).map(|_| random.normal()).collect()).collect();
    let y: Vec<f64> =
        (0..50).map(|row| columns[0][row].powi(2) + (1.5 * columns[1][row]).sin() + 0.5 * random.normal()).collect();
    let all: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let problem = data::given(&all, &[&y], Task::Regression).unwrap();
    let spam = Spam { knots: 0, penalties: 60, least: 0.05 };
    let found = weights(&spam, &problem);
    assert!(found[0] > 0.5 && found[1] > 0.5 && found[2..].iter().all(|w| *w < 0.5), "{found:?}");
    assert_eq!(found.iter().fold(0.0, |most: f64, w| most.max(*w)), 1.0);
    // y is centered and scaled to length 1; the first penalty is the largest norm of a smoothed target.
    let mean = y.iter().sum::<f64>() / 50.0;
    let length = y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>().sqrt();
    let unit: Vec<f64> = y.iter().map(|y| (y - mean) / length).collect();
    let along = |x: &Vec<f64>| smooth(x, &unit).iter().map(|v| v * v).sum::<f64>().sqrt();
    let first = columns.iter().map(along).fold(0.0, f64::max);
    // Successive penalties have ratio 0.95, with linear interpolation of entries between them.
    for (column, weight) in found.iter().enumerate().filter(|(_, weight)| **weight > 0.1) {
        let is_in = |by: f64| printed(&columns, &unit, first * weight * by)[column];
        assert!(!is_in(1.03) && is_in(0.97), "column {column} at {weight}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = data::regression(12, 3, 3).problem();
    let refused = |criterion: Spam| criterion.check(&design(&problem)).unwrap_err().to_string();
    for (criterion, words) in [
        (Spam { knots: 21, ..Spam::default() }, "`knots`: 21 is not between 0 and 20"),
        (Spam { penalties: 0, ..Spam::default() }, "`penalties`: 0 is not between 1 and 10000"),
        (Spam { least: 1.0, ..Spam::default() }, "`least`: 1 does not lie between 0 and 1"),
    ] {
        let found = refused(criterion);
        assert!(found.contains(words), "{found}");
    }
}
