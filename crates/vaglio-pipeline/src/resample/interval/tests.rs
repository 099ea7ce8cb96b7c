//! Intervals beside loops by hand.

use super::*;
use crate::resample::tally::{Compared, EVERY};
use ndarray::Array2;
use vaglio_core::Squared;
use vaglio_testkit::Random;

/// Of rows that are numbered from `first`, each a cluster of its own.
fn tally(first: u32, losses: &[f64]) -> Tally {
    let predictions = Array2::from_shape_fn((1, losses.len()), |(_, row)| losses[row].sqrt());
    let targets = Array2::zeros((1, losses.len()));
    let (targets, predictions) = (targets.view(), predictions.view());
    let clusters: Vec<u32> = (first..).take(losses.len()).collect();
    let clusters = Some(&clusters[..]);
    Tally::new(&Squared, Compared { targets, predictions, weights: None, units: None, clusters }, EVERY)
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// Squared losses of four folds of six rows, and of each fold by models without another, with the tallies of both.
fn losses(of_pairs: f64) -> (Vec<Vec<f64>>, Vec<Vec<Vec<f64>>>) {
    let mut random = Random::new(3);
    let mut fold = |scale: f64| (0..6).map(|_| scale * random.normal().powi(2)).collect::<Vec<f64>>();
    let outer: Vec<Vec<f64>> = [1.0, 4.0, 1.0, 9.0].map(&mut fold).into();
    let inner = (0..4).map(|_| (0..3).map(|_| fold(of_pairs)).collect()).collect();
    (outer, inner)
}

#[test]
fn the_squared_error_is_that_of_the_paper() {
    bounds_are_by_hand(2.0, false);
}

#[test]
fn what_models_of_more_rows_lose_less_moves_the_lower_bound() {
    bounds_are_by_hand(5.0, true);
}

fn bounds_are_by_hand(of_pairs: f64, pairs_lose_more: bool) {
    let (outer, inner) = losses(of_pairs);
    // a_j − b_j over the folds, by plain loops.
    let of_fold = |j: usize| {
        let all: Vec<f64> = inner[j].iter().flatten().copied().collect();
        let own = mean(&outer[j]);
        let squares: f64 = outer[j].iter().map(|loss| (loss - own).powi(2)).sum();
        (mean(&all) - own).powi(2) - squares / (6.0 * 5.0)
    };
    let expected = 0.75 * mean(&(0..4).map(of_fold).collect::<Vec<_>>());
    let tallies: Vec<Tally> = (0..).step_by(6).zip(&outer).map(|(first, losses)| tally(first, losses)).collect();
    let others: Vec<Vec<Tally>> = inner.iter().map(|all| all.iter().map(|losses| tally(0, losses)).collect()).collect();
    let judged = Judged { inner: others.iter().map(|all| all.iter().collect()).collect(), ..Judged::of(&tallies, 1) };
    let found = Of { loss: &Squared, own: &judged, less: None }.squared_error().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
    let rows: Vec<f64> = outer.iter().flatten().copied().collect();
    let centre = mean(&rows);
    let plain = rows.iter().map(|loss| (loss - centre).powi(2)).sum::<f64>() / (24.0 * 23.0);
    let expected = expected.max(4.0 / 3.0 * plain).min(4.0 * plain);
    let shape = StandardizedMoments::of(rows.iter().map(|loss| loss - centre));
    // Models without two folds lose more: those of all rows are expected to lose less by half of that, and no squared error is
    // below 0.
    let more = mean(&inner.iter().flatten().flatten().copied().collect::<Vec<_>>()) - centre;
    assert_eq!(more > 0.0, pairs_lose_more);
    let low = shape.interval(centre - (more / 2.0).clamp(0.0, expected.sqrt()), expected.sqrt(), 0.9)[0].max(0.0);
    let expected = [low, shape.interval(centre, expected.sqrt(), 0.9)[1]];
    let found = judged.bounded(&Squared, None, (0.0, 0.9)).unwrap();
    assert!((found.mean - centre).abs() < 1e-12);
    assert!((0..2).all(|side| (found.interval[side] - expected[side]).abs() < 1e-9), "{found:?}, not {expected:?}");
    // What choosing gained moves the upper bound alone.
    let moved = judged.bounded(&Squared, None, (0.5, 0.9)).unwrap();
    assert_eq!((moved.mean, moved.interval[0]), (found.mean, found.interval[0]));
    assert!((moved.interval[1] - found.interval[1] - 0.5).abs() < 1e-9);
    // Without pairs it is the plain error.
    let alone = Judged::of(&tallies, 1).bounded(&Squared, None, (0.0, 0.9)).unwrap();
    let expected = shape.interval(centre, (4.0 / 3.0 * plain).sqrt(), 0.9);
    assert!((alone.interval[1] - expected[1]).abs() < 1e-9);
}

#[test]
fn the_same_losses_differ_by_nothing() {
    let (outer, _) = losses(2.0);
    let tallies: Vec<Tally> = (0..).step_by(6).zip(&outer).map(|(first, losses)| tally(first, losses)).collect();
    let judged = Judged::of(&tallies, 1);
    let found = judged.bounded(&Squared, Some(&judged), (0.0, 0.95)).unwrap();
    assert_eq!((found.mean, found.interval), (0.0, [0.0, 0.0]));
}

#[test]
fn intervals_end_where_losses_do() {
    let tallies = [tally(0, &[0.0, 0.0, 0.0, 1.0]), tally(4, &[0.0, 0.0, 0.0, 1.0]), tally(8, &[0.0, 0.0, 0.0, 0.0])];
    let judged = Judged::of(&tallies, 1);
    let by = |loss: &dyn Loss| judged.bounded(loss, None, (0.0, 0.999)).unwrap().interval;
    let [low, high] = by(&vaglio_core::ZeroOne);
    assert_eq!(low, 0.0);
    assert!(high <= 1.0 && by(&Squared)[1] >= high);
    let all = [tally(0, &[1.0, 1.0, 0.0]), tally(3, &[1.0, 1.0, 1.0])];
    let [_, high] = Judged::of(&all, 1).bounded(&vaglio_core::ZeroOne, None, (0.5, 0.95)).unwrap().interval;
    assert_eq!(high, 1.0);
    // A difference goes to either side.
    let none = [0, 4, 8].map(|first| tally(first, &[0.0; 4]));
    let apart = Judged::of(&none, 1).bounded(&Squared, Some(&judged), (0.0, 0.95)).unwrap();
    assert!(apart.mean < 0.0 && apart.interval[0] < apart.mean);
}

#[test]
fn infinite_losses_have_no_interval() {
    let losses = |first: u32, of: [f64; 3]| tally(first, &of);
    let tallies = [losses(0, [1.0, 2.0, 0.5]), losses(3, [f64::INFINITY, 1.0, 3.0]), losses(6, [1.0, 0.2, 2.0])];
    assert_eq!(Judged::of(&tallies, 1).bounded(&Squared, None, (0.0, 0.95)), None);
}
