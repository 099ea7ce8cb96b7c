//! The penalties at which functions enter.

use crate::{design, fit, regression, weights};
use vaglio_core::{Criterion, Task};
use vaglio_dependence::Spam;
use vaglio_testkit::{SplitMix64, data};

/// Functions of a column times the roots of the row weights: 1, x, x², x³ and (x − κ)³₊ of each knot κ.
fn functions(x: &[f64], weights: &[f64], knots: usize) -> Vec<Vec<f64>> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let total: f64 = weights.iter().sum();
    let below = |last: usize| order[..=last].iter().map(|&row| weights[row]).sum::<f64>() / total;
    let quantile = |share: f64| x[order[(0..order.len()).find(|&last| below(last) >= share).unwrap()]];
    let powers = (0..4).map(|k| x.iter().map(|v| v.powi(k)).collect::<Vec<f64>>());
    let knots = (1..=knots).map(|k| quantile(k as f64 / (knots + 1) as f64));
    let splines = knots.map(|knot| x.iter().map(|v| (v - knot).max(0.0).powi(3)).collect());
    let scaled = |function: Vec<f64>| function.iter().zip(weights).map(|(v, r)| r.sqrt() * v).collect();
    powers.chain(splines).map(scaled).collect()
}

fn norm(rows: &[Vec<f64>]) -> f64 {
    rows.iter().flatten().map(|v| v * v).sum::<f64>().sqrt()
}

/// Backfitting as printed, with a ridge term of a hundredth, for many rounds: smooth the partial residuals, shrink.
/// Returns which columns have a nonzero function. Outputs are centered, and so are functions of residuals.
fn printed(columns: &[Vec<Vec<f64>>], outputs: &[Vec<f64>], penalty: f64) -> Vec<bool> {
    let mut fits: Vec<Vec<Vec<f64>>> = vec![outputs.iter().map(|y| vec![0.0; y.len()]).collect(); columns.len()];
    for _ in 0..500 {
        for (x, functions) in columns.iter().enumerate() {
            let rest = |(output, y): (usize, &Vec<f64>)| -> Vec<f64> {
                let others =
                    |row: usize| (0..fits.len()).filter(|k| *k != x).map(|k| fits[k][output][row]).sum::<f64>();
                (0..y.len()).map(|row| y[row] - others(row)).collect()
            };
            let mut fitted: Vec<Vec<f64>> =
                outputs.iter().enumerate().map(|output| fit(functions, &rest(output))).collect();
            let share = (1.0 - penalty / norm(&fitted)).max(0.0) / 1.01;
            fitted.iter_mut().flatten().for_each(|v| *v *= share);
            fits[x] = fitted;
        }
    }
    fits.iter().map(|fit| norm(fit) > 1e-6).collect()
}

/// Computes the weights of columns far from 0. Each function enters at its penalty in the printed algorithm.
fn checked_weights(columns: &[Vec<f64>], outputs: &[Vec<f64>], row_weights: &[f64], knots: usize) -> Vec<f64> {
    let moved: Vec<Vec<f64>> = columns.iter().map(|x| x.iter().map(|v| 1e6 + 10.0 * v).collect()).collect();
    let [x, y] = [&moved[..], outputs].map(|lists| lists.iter().map(Vec::as_slice).collect::<Vec<&[f64]>>());
    let problem = data::given(&x, &y, Task::Regression).unwrap().with_weights(row_weights.to_vec()).unwrap();
    let found = weights(&Spam { knots, penalties: 600, least: 0.05 }, &problem);
    assert_eq!(found.iter().fold(0.0, |most: f64, w| most.max(*w)), 1.0);
    // Outputs are centered and scaled to length 1; the first penalty is the largest norm of a smoothed target.
    let unit = |y: &Vec<f64>| -> Vec<f64> {
        let mean = y.iter().zip(row_weights).map(|(y, r)| r * y).sum::<f64>() / row_weights.iter().sum::<f64>();
        let scaled: Vec<f64> = y.iter().zip(row_weights).map(|(y, r)| r.sqrt() * (y - mean)).collect();
        let length = norm(std::slice::from_ref(&scaled));
        scaled.iter().map(|v| v / length).collect()
    };
    let outputs: Vec<Vec<f64>> = outputs.iter().map(unit).collect();
    let functions: Vec<Vec<Vec<f64>>> = columns.iter().map(|x| functions(x, row_weights, knots)).collect();
    let along = |f: &Vec<Vec<f64>>| norm(&outputs.iter().map(|y| fit(f, y)).collect::<Vec<_>>());
    let first = functions.iter().map(along).fold(0.0, f64::max);
    // Successive penalties have ratio 0.995, with linear interpolation of entries between them.
    for (column, weight) in found.iter().enumerate().filter(|(_, weight)| **weight > 0.1) {
        let is_in = |by: f64| printed(&functions, &outputs, first * weight * by)[column];
        assert!(!is_in(1.006) && is_in(0.994), "column {column} at {weight}");
    }
    found
}

#[test]
fn functions_enter_at_the_penalties_of_the_printed_algorithm() {
    let mut random = SplitMix64::new(2);
    let columns: Vec<Vec<f64>> = (0..5).map(|_| (0..50).map(|_| random.normal()).collect()).collect();
    let mut target = |signal: fn(f64, f64, f64) -> f64| -> Vec<f64> {
        let signal = |row: usize| signal(columns[0][row], columns[1][row], columns[2][row]);
        (0..50).map(|row| signal(row) + 0.5 * random.normal()).collect()
    };
    let y = target(|a, b, _| a.powi(2) + (1.5 * b).sin());
    let others = [target(|_, b, c| b - 0.3 * c.powi(3)), target(|a, _, _| a.exp())];
    let found = checked_weights(&columns, std::slice::from_ref(&y), &[1.0; 50], 0);
    assert!(found[2..].iter().all(|w| *w < found[0].min(found[1])), "{found:?}");

    let row_weights: Vec<f64> = (0..50).map(|_| 0.5 + random.uniform()).collect();
    let found = checked_weights(&columns, &[&[y], &others[..]].concat(), &row_weights, 3);
    assert!(found[..3].iter().all(|w| *w > 0.1), "{found:?}");
}

/// Splines of two values are one function, and of one value none: orthogonal columns weigh by their correlations.
#[test]
fn a_column_of_two_values_weighs_its_correlation() {
    let sign = |row: usize, bit: usize| if row >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let column = |bit: usize, values: [f64; 2]| -> Vec<f64> {
        (0..16).map(|row| values[usize::from(sign(row, bit) > 0.0)]).collect()
    };
    let y: Vec<f64> = (0..16).map(|row| 2.0 * sign(row, 0) + sign(row, 1) + sign(row, 2)).collect();
    let columns: [&[f64]; 3] = [&column(0, [0.3, 7.7]), &column(1, [-1.0, 4.0]), &[4.0; 16]];
    let found = weights(&Spam { knots: 5, ..Spam::default() }, &regression(&columns, &y));
    assert!(found[0] == 1.0 && (found[1] - 0.5).abs() < 1e-3 && found[2] == 0.0, "{found:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = data::regression(12, 3, 3).problem();
    let refused = |criterion: Spam| criterion.check(&design(&problem)).unwrap_err().to_string();
    for (criterion, words) in [
        (Spam { knots: 21, ..Spam::default() }, "`knots`: 21 is not between 0 and 20"),
        (Spam { penalties: 0, ..Spam::default() }, "`penalties`: 0 is not between 1 and 10000"),
        (Spam { least: 1.0, ..Spam::default() }, "`least`: 1 is not above 0 and below 1"),
    ] {
        let found = refused(criterion);
        assert!(found.contains(words), "{found}");
    }
}
