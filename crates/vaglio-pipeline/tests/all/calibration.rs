//! Class probabilities.

use ndarray::Array2;
use serde_json::json;
use vaglio_pipeline::pipeline::Calibration;
use vaglio_testkit::SplitMix64;

/// Returns slope and intercept of the map of one output.
fn fit(predictions: &[f64], is_of_class: &[bool], weights: &[f64]) -> [f64; 2] {
    let row = |values: Vec<f64>| Array2::from_shape_vec((1, values.len()), values).unwrap();
    let targets = row(is_of_class.iter().map(|c| if *c { 1.0 } else { -1.0 }).collect());
    let predictions = row(predictions.to_vec());
    let found = Calibration::new(targets.view(), predictions.view(), weights).unwrap();
    assert_eq!((found.rows, found.maps.len()), (weights.len(), 1));
    [found.maps[0].slope, found.maps[0].intercept]
}

fn probability([slope, intercept]: [f64; 2], prediction: f64) -> f64 {
    1.0 / (1.0 + (-(slope * prediction + intercept)).exp())
}

fn loss(map: [f64; 2], predictions: &[f64], is_of_class: &[bool], weights: &[f64]) -> f64 {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let weights: &[f64] = &weights.iter().map(|weight| weight / mean).collect::<Vec<f64>>();
    let side_weight =
        |side: bool| is_of_class.iter().zip(weights).filter(|(c, _)| **c == side).map(|(_, w)| w).sum::<f64>();
    let (high, low) = ((side_weight(true) + 1.0) / (side_weight(true) + 2.0), 1.0 / (side_weight(false) + 2.0));
    (0..predictions.len())
        .map(|row| {
            let (t, p) = (if is_of_class[row] { high } else { low }, probability(map, predictions[row]));
            -weights[row] * (t * p.ln() + (1.0 - t) * (1.0 - p).ln())
        })
        .sum()
}

#[test]
fn the_fit_is_the_lowest_of_a_grid_that_closes_in() {
    let mut random = SplitMix64::new(9);
    for (rows, shift, spread) in [(40, 0.0, 1.0), (200, 0.4, 0.3), (30, -2.0, 5.0), (12, 3.0, 0.0)] {
        let is_of_class: Vec<bool> = (0..rows).map(|_| random.uniform() < 0.4).collect();
        let signal = |of_class: bool| if of_class { 1.0 } else { -1.0 };
        let predictions: Vec<f64> =
            is_of_class.iter().map(|&c| shift + spread * (0.7 * signal(c) + random.normal())).collect();
        let weights: Vec<f64> = (0..rows).map(|_| 0.5 + random.uniform()).collect();
        let map = fit(&predictions, &is_of_class, &weights);
        let map_loss = |map: [f64; 2]| loss(map, &predictions, &is_of_class, &weights);
        // Grid descent around the best point so far; the grid is halved if no point on it improves.
        let (mut best, mut width) = ([0.0, 0.0], 4.0);
        while width > 1e-9 {
            let around = (-2..=2).flat_map(|i| (-2..=2).map(move |j| (f64::from(i), f64::from(j))));
            let tried = around.map(|(i, j)| [best[0] + i * width, best[1] + j * width]);
            let lowest = tried.min_by(|a, b| map_loss(*a).total_cmp(&map_loss(*b))).unwrap();
            if map_loss(lowest) < map_loss(best) { best = lowest } else { width /= 2.0 }
        }
        assert!(map_loss(map) <= map_loss(best) + 1e-11, "{rows}: {map:?} {best:?}");
        if spread > 0.0 {
            assert!((map[0] - best[0]).abs() < 1e-5 && (map[1] - best[1]).abs() < 1e-5);
        }
    }
}

#[test]
fn classes_that_are_parted_keep_finite_maps() {
    let predictions = [-1.0, -0.9, -1.1, 1.0, 0.8];
    let is_of_class = [false, false, false, true, true];
    let [slope, _] = fit(&predictions, &is_of_class, &[1.0; 5]);
    assert!(slope > 0.5 && slope.is_finite());
    // Two rows at each end reach their smoothed targets there.
    let map = fit(&[-1.0, -1.0, 1.0], &[false, false, true], &[1.0; 3]);
    let [low, high] = [-1.0, 1.0].map(|prediction| probability(map, prediction));
    assert!((low - 0.25).abs() < 1e-6 && (high - 2.0 / 3.0).abs() < 1e-6, "{map:?}");
}

#[test]
fn probabilities_add_up() {
    let maps = json!([{"slope": 2.0, "intercept": 0.1}, {"slope": 1.0, "intercept": -1.0}, {"slope": 900.0, "intercept": 0.0}]);
    let several: Calibration = serde_json::from_value(json!({"from": "nested", "rows": 9, "maps": maps})).unwrap();
    let predictions = Array2::from_shape_fn((3, 4), |(o, row)| o as f64 - row as f64);
    for of_row in several.probabilities(predictions.view()).columns() {
        assert!((of_row.sum() - 1.0).abs() < 1e-15 && of_row.iter().all(|p| (0.0..=1.0).contains(p)));
    }
    let two = Calibration { maps: several.maps[..1].to_vec(), ..several };
    let found = two.probabilities(ndarray::array![[0.3]].view());
    assert!((found[[1, 0]] - 1.0 / (1.0 + (-0.7f64).exp())).abs() < 1e-15);
    assert!((found[[0, 0]] + found[[1, 0]] - 1.0).abs() < 1e-15);
}
