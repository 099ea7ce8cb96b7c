//! Pairs in the wrong order (1 − AUC), against the definition.

use std::sync::Arc;
use vaglio_columns::Measure;
use vaglio_kernels::{Data, Scorer, Targets};

/// Width of a tie.
const TIED: f64 = 1e-12;

/// The definition: ties start at the lowest value; every pair of rows in two ties counts.
fn plain(predictions: &[f64], targets: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let mut order: Vec<usize> = (0..predictions.len()).collect();
    order.sort_by(|&a, &b| predictions[a].total_cmp(&predictions[b]));
    let (mut rank, mut first) = (vec![0; order.len()], 0);
    for (place, &row) in order.iter().enumerate() {
        if predictions[row] > predictions[order[first]] + TIED {
            first = place;
        }
        rank[row] = first;
    }
    let rows_in_class = |positive: bool| order.iter().copied().filter(move |&row| (targets[row] > 0.0) == positive);
    let (mut pairs, mut all) = (0.0, 0.0);
    for plus in rows_in_class(true) {
        for minus in rows_in_class(false) {
            let product = weight(plus) * weight(minus);
            all += product;
            pairs += match rank[plus].cmp(&rank[minus]) {
                std::cmp::Ordering::Less => product,
                std::cmp::Ordering::Equal => 0.5 * product,
                std::cmp::Ordering::Greater => 0.0,
            };
        }
    }
    pairs / all
}

/// Returns a reproducible number between −1 and 1.
fn noise(j: usize) -> f64 {
    (j as f64 * 78.233 + 12.9898).sin() * 43758.5453 % 1.0
}

fn targets(y: &[f64], weights: Option<&[f64]>) -> Arc<Targets> {
    Data::new([].into_iter().collect(), &[y], weights, false, None).unwrap().targets
}

#[test]
fn pairs_are_those_of_the_definition_whatever_is_tied() {
    let kinds: [fn(usize) -> f64; 13] = [
        noise,
        |_| 0.5,
        // Clustered ties: exact, within rounding, and in chains longer than the tie width.
        |j| (3.0 * noise(j)).round(),
        |j| (3.0 * noise(j)).round() + 1e-15 * noise(j + 3),
        |j| (3.0 * noise(j)).round() + 3e-12 * noise(j + 3),
        |j| 5e-11 * noise(j),
        |j| if j == 9 { 1e6 } else { (20.0 * noise(j)).round() + 0.8e-12 * (j % 5) as f64 },
        // Ranges that are hard to sort by digits.
        |j| j as f64,
        |j| -(j as f64),
        |j| if j == 5 { 1e9 } else { noise(j) },
        |j| noise(j).powi(101),
        |j| noise(j) * f64::MAX,
        |j| 2f64.powi((j % 2000) as i32 - 1000) * noise(j),
    ];
    for kind in kinds {
        for rows in [2, 3, 10, 100, 1500, 5000] {
            let y: Vec<f64> = (0..rows).map(|j| if j == 0 || noise(7 * j + 2) > 0.1 { 1.0 } else { -1.0 }).collect();
            let y = if y.iter().all(|y| *y > 0.0) { [&y[1..], &[-1.0]].concat() } else { y };
            for is_weighted in [false, true] {
                // Rows of weight 0 have the prediction 0.
                let root: Vec<f64> =
                    (0..rows).map(|j| [1.0, 0.5, 2.0, 0.0][j % 4 * usize::from(is_weighted)]).collect();
                let weights: Vec<f64> = root.iter().map(|root| if *root > 0.0 { root * root } else { 1.0 }).collect();
                let targets = match is_weighted {
                    true => Arc::new(targets(&y, Some(&weights)).restrict(|row| root[row] > 0.0)),
                    false => targets(&y, None),
                };
                let residuals: Vec<f64> = (0..rows).map(|row| root[row] * (y[row] - kind(row))).collect();
                let prediction = |row: usize| if root[row] > 0.0 { y[row] - residuals[row] / root[row] } else { 0.0 };
                let predictions: Vec<f64> = (0..rows).map(prediction).collect();
                let found = Scorer::new(targets, Measure::Auc).loss(&[residuals]);
                let expected = plain(&predictions, &y, |row| root[row] * root[row]);
                // All terms are multiples of one sixteenth, so sums are exact.
                // NaN if all rows of a class have weight 0.
                let is_equal = found == expected || (found.is_nan() && expected.is_nan());
                assert!(is_equal, "{rows} rows: {found} is not {expected}");
            }
        }
    }
}

#[test]
fn a_prediction_that_is_no_number_gives_none() {
    for rows in [3, 500] {
        let y: Vec<f64> = (0..rows).map(|j| if j == 1 { -1.0 } else { 1.0 }).collect();
        let scorer = Scorer::new(targets(&y, None), Measure::Auc);
        for odd in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let residuals: Vec<f64> = (0..rows).map(|j| if j == 1 { odd } else { noise(j) }).collect();
            let found = scorer.loss(&[residuals]);
            // The prediction of the negative row is above or below all others.
            let expected = if odd.is_nan() { f64::NAN } else { f64::from(u8::from(odd < 0.0)) };
            assert!(found == expected || (found.is_nan() && expected.is_nan()), "{odd}: {found}");
        }
    }
}
