//! Intervals of losses agree with plain loops.

use ndarray::Array2;
use vaglio_core::{Loss, Squared};
use vaglio_pipeline::resampling::{EVERY, FoldLosses, LossSums, TargetsAndPredictions};
use vaglio_report::StandardizedMoments;
use vaglio_testkit::SplitMix64;

/// Rows numbered from `first`, each a cluster of its own.
fn tally(first: u32, losses: &[f64]) -> LossSums {
    let predictions = Array2::from_shape_fn((1, losses.len()), |(_, row)| losses[row].sqrt());
    let targets = Array2::zeros((1, losses.len()));
    let (targets, predictions) = (targets.view(), predictions.view());
    let clusters: Vec<u32> = (first..).take(losses.len()).collect();
    let clusters = Some(&clusters[..]);
    LossSums::new(&Squared, TargetsAndPredictions { targets, predictions, weights: None, units: None, clusters }, EVERY)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Squared losses of four folds with six rows each.
fn losses() -> Vec<Vec<f64>> {
    let mut random = SplitMix64::new(3);
    let mut fold = |scale: f64| (0..6).map(|_| scale * random.normal().powi(2)).collect::<Vec<f64>>();
    [1.0, 4.0, 1.0, 9.0].map(&mut fold).into()
}

fn tallies(losses: &[Vec<f64>]) -> Vec<LossSums> {
    (0..).step_by(6).zip(losses).map(|(first, losses)| tally(first, losses)).collect()
}

#[test]
fn bounds_are_by_hand() {
    let losses = losses();
    let tallies = tallies(&losses);
    let rows: Vec<f64> = losses.iter().flatten().copied().collect();
    let centre = mean(&rows);
    let plain = rows.iter().map(|loss| (loss - centre).powi(2)).sum::<f64>() / (24.0 * 23.0);
    let shape = StandardizedMoments::from_deviations(rows.iter().map(|loss| loss - centre));
    let [low, high] = shape.interval(centre, (4.0 / 3.0 * plain).sqrt(), 0.9);
    let found = FoldLosses::new(&tallies, 1).mean_with_interval(&Squared, None, 0.0, 0.9).unwrap();
    assert!((found.0 - centre).abs() < 1e-12);
    assert!((found.1[0] - low.max(0.0)).abs() < 1e-9 && (found.1[1] - high).abs() < 1e-9, "{found:?}");
    // The optimism of the choice moves only the upper bound.
    let moved = FoldLosses::new(&tallies, 1).mean_with_interval(&Squared, None, 0.5, 0.9).unwrap();
    assert_eq!((moved.0, moved.1[0]), (found.0, found.1[0]));
    assert!((moved.1[1] - found.1[1] - 0.5).abs() < 1e-9);
}

#[test]
fn the_same_losses_differ_by_nothing() {
    let tallies = tallies(&losses());
    let judged = FoldLosses::new(&tallies, 1);
    let found = judged.mean_with_interval(&Squared, Some(&judged), 0.0, 0.95).unwrap();
    assert_eq!(found, (0.0, [0.0, 0.0]));
}

#[test]
fn intervals_end_where_losses_do() {
    let tallies = [tally(0, &[0.0, 0.0, 0.0, 1.0]), tally(4, &[0.0, 0.0, 0.0, 1.0]), tally(8, &[0.0, 0.0, 0.0, 0.0])];
    let judged = FoldLosses::new(&tallies, 1);
    let by = |loss: &dyn Loss| judged.mean_with_interval(loss, None, 0.0, 0.999).unwrap().1;
    let [low, high] = by(&vaglio_core::ZeroOne);
    assert_eq!(low, 0.0);
    assert!(high <= 1.0 && by(&Squared)[1] >= high);
    let all = [tally(0, &[1.0, 1.0, 0.0]), tally(3, &[1.0, 1.0, 1.0])];
    let [_, high] = FoldLosses::new(&all, 1).mean_with_interval(&vaglio_core::ZeroOne, None, 0.5, 0.95).unwrap().1;
    assert_eq!(high, 1.0);
    // A difference may have either sign.
    let none = [0, 4, 8].map(|first| tally(first, &[0.0; 4]));
    let apart = FoldLosses::new(&none, 1).mean_with_interval(&Squared, Some(&judged), 0.0, 0.95).unwrap();
    assert!(apart.0 < 0.0 && apart.1[0] < apart.0);
}

#[test]
fn infinite_losses_have_no_interval() {
    let losses = |first: u32, values: [f64; 3]| tally(first, &values);
    let tallies = [losses(0, [1.0, 2.0, 0.5]), losses(3, [f64::INFINITY, 1.0, 3.0]), losses(6, [1.0, 0.2, 2.0])];
    assert_eq!(FoldLosses::new(&tallies, 1).mean_with_interval(&Squared, None, 0.0, 0.95), None);
}
