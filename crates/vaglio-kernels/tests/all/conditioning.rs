//! Ill-conditioned folds: errors of unreliable losses.

use super::sample::Sample;
use ndarray::{Array2, Axis};
use std::sync::Arc;
use vaglio_kernels::kfold::{
    BackwardMoments, Decomposition, FoldedRows, ForwardMoments, Moments, SubsetRefit, losses_by_lambda,
};
use vaglio_kernels::linalg::{eigh, gram, inverse};
use vaglio_testkit::SplitMix64;

/// More rows than one chunk, so that chunks are merged.
const ROWS: usize = 1100;
const FOLDS: usize = 3;
const COLUMNS: usize = 14;

/// Generates mixtures of random columns of decreasing size.
fn sample(random: &mut SplitMix64, condition: f64) -> Sample {
    let parts: Vec<Vec<f64>> = (0..COLUMNS).map(|_| (0..ROWS).map(|_| random.normal()).collect()).collect();
    let column = |random: &mut SplitMix64| {
        let shares: Vec<f64> =
            (0..COLUMNS).map(|l| random.normal() * condition.powf(-(l as f64) / (COLUMNS - 1) as f64)).collect();
        (0..ROWS).map(|j| parts.iter().zip(&shares).map(|(part, share)| share * part[j]).sum()).collect()
    };
    let doubles: Vec<Vec<f64>> = (0..COLUMNS).map(|_| column(random)).collect();
    let noise = [1e-3, 1.0][random.below(2)];
    let target = |j: usize, o: usize| doubles[o][j] - doubles[o + 3][j];
    let targets = (0..2).map(|o| (0..ROWS).map(|j| target(j, o) + noise * random.normal()).collect()).collect();
    let weights = (0..ROWS).map(|_| 0.5 + random.uniform()).collect();
    Sample { doubles, bytes: Vec::new(), targets, weights }
}

fn rows<'s>(sample: &'s Sample, weighted: bool, intercept: bool) -> FoldedRows<'s> {
    let folds: Vec<u32> = (0..ROWS).map(|j| (j % FOLDS) as u32).collect();
    sample.rows(&folds, weighted, intercept, false)
}

fn squares(residuals: &[Vec<f64>]) -> f64 {
    residuals.iter().flatten().map(|e| e * e).sum()
}

fn sum_of_refitted(rows: &FoldedRows<'_>, subset: &[usize], lambda: f64) -> f64 {
    squares(&SubsetRefit::new(rows, subset).unwrap().residuals(lambda).unwrap())
}

/// Tests the error of a loss times its conditioning, relative to the loss and the squared targets.
#[test]
fn errors_of_unreliable_losses_are_within_their_bound() {
    let mut random = SplitMix64::new(std::env::var("VAGLIO_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1));
    let count: usize = std::env::var("VAGLIO_PROBLEMS").ok().and_then(|count| count.parse().ok()).unwrap_or(25);
    let mut worst = [0.0f64; 4];
    let mut met = 0;
    for _ in 0..count {
        let condition = 10f64.powf(2.0 + 5.0 * random.uniform());
        let sample = sample(&mut random, condition);
        let rows = rows(&sample, random.below(2) == 0, random.below(2) == 0);
        let moments = Arc::new(Moments::new(&rows).unwrap());
        let lambda = 10f64.powf(-13.0 * random.uniform());
        let subset: Vec<usize> = (0..4 + random.below(COLUMNS - 4)).collect();
        let mean = |sum: f64| moments.trial(sum, 1.0).loss;
        let mut note = |kind: usize, loss: f64, conditioning: f64, subset: &[usize]| {
            if !(1e-12..=1e-4).contains(&conditioning) {
                return;
            }
            met += 1;
            let truth = mean(sum_of_refitted(&rows, subset, lambda));
            worst[kind] = worst[kind].max((loss - truth).abs() * conditioning / (loss.abs() + moments.empty));
        };
        let (fold_losses, conditioning) = losses_by_lambda(&moments, &subset, &[lambda]).unwrap().remove(0);
        note(0, mean(fold_losses.iter().sum()), conditioning, &subset);
        let open: Vec<usize> = (subset.len()..COLUMNS).take(3).collect();
        let trials = ForwardMoments::new(&moments, &[lambda], &subset).trials(&open);
        for (trial, &feature) in trials[0].iter().zip(&open) {
            let larger: Vec<usize> = subset.iter().copied().chain([feature]).collect();
            note(1, trial.loss, trial.conditioning, &larger);
        }
        let trials = BackwardMoments::new(&moments, &[lambda], &subset).trials(&subset[..3]);
        for (trial, feature) in trials[0].iter().zip(&subset) {
            let smaller: Vec<usize> = subset.iter().copied().filter(|f| f != feature).collect();
            note(2, trial.loss, trial.conditioning, &smaller);
        }
        let (residuals, conditioning) =
            Decomposition::new(&rows, &subset).unwrap().residuals(lambda, &(0..FOLDS).collect::<Vec<_>>());
        note(3, mean(squares(&residuals)), conditioning, &subset);
    }
    println!("{met} losses, {worst:?}");
    assert!(met > 2 * count, "{met} unreliable losses");
    // Bounds allow 1e-11. Among 14000 losses the worst, by update recurrences, had 1.4e-14, all others below 1e-16.
    assert!(worst.iter().all(|error| *error < 1e-12), "{worst:?}");
}

/// The folds' residuals are solutions of small systems, whose least eigenvalue may be far below every pivot.
#[test]
fn the_least_eigenvalue_of_held_out_rows_is_estimated_from_above() {
    let mut random = SplitMix64::new(11);
    for size in [2, 5, 12, 20] {
        let doubles: Vec<Vec<f64>> = (0..size).map(|_| (0..40).map(|_| random.normal()).collect()).collect();
        let sample = Sample::new(doubles, vec![(0..40).map(|_| random.normal()).collect()]);
        let folds: Vec<u32> = (0..40).map(|row| row % 4).collect();
        let (rows, subset, lambda) = (sample.rows(&folds, false, false, false), (0..size).collect::<Vec<_>>(), 1e-3);
        let x = sample.matrix(&subset, &(0..40).collect::<Vec<_>>());
        let h = inverse((gram(x.view()) + Array2::<f64>::eye(size) * lambda).view()).unwrap();
        let least = |fold: usize| {
            let own = x.select(Axis(0), rows.folds.held_out(fold));
            eigh((Array2::<f64>::eye(10) - own.dot(&h).dot(&own.t())).view()).unwrap().0[0]
        };
        let exact = (0..4).map(least).fold(1.0, f64::min);
        let (_, found) = Decomposition::new(&rows, &subset).unwrap().residuals(lambda, &[0, 1, 2, 3]);
        assert!(found >= exact * (1.0 - 1e-6) && found < 10.0 * exact, "{found:e} is not about {exact:e} of {size}");
    }
}
