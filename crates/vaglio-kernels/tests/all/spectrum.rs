//! Every λ of one subset of many columns, against refitting.

use crate::sample::{Sample, bits, sums};
use vaglio_kernels::kfold::{Moments, losses_by_lambda};
use vaglio_kernels::linalg::{eigh, gram};
use vaglio_kernels::{Level, is_unreliable};
use vaglio_testkit::SplitMix64;

const ROWS: usize = 240;
const COLUMNS: usize = 75;
const FOLDS: usize = 4;

/// Generates noise with a nonzero mean, correlated neighbours and three outputs; the last column equals column 20.
fn sample() -> Sample {
    let mut random = SplitMix64::new(17);
    let mut next = || random.uniform() - 0.4;
    let mut x: Vec<Vec<f64>> = (0..COLUMNS).map(|_| (0..ROWS).map(|_| next()).collect()).collect();
    for k in 1..COLUMNS {
        (0..ROWS).for_each(|j| x[k][j] += 0.5 * x[k - 1][j]);
    }
    x[COLUMNS - 1] = x[20].clone();
    let y = (0..3).map(|o| (0..ROWS).map(|j| x[7 * o][j] - x[7 * o + 30][j] + next()).collect()).collect();
    Sample::new(x, y)
}

fn fold(row: usize) -> usize {
    (5 * row + row / 7) % 9 % FOLDS
}

fn moments(sample: &Sample, intercept: bool) -> Moments {
    let folds: Vec<u32> = (0..ROWS).map(|j| fold(j) as u32).collect();
    Moments::new(&sample.rows(&folds, false, intercept, false)).unwrap()
}

/// Computes a fold's sum of squared errors for a fit on the other rows.
fn refit(sample: &Sample, subset: &[usize], intercept: bool, held: usize, lambda: f64) -> f64 {
    let (inside, training): (Vec<usize>, Vec<usize>) = (0..ROWS).partition(|&j| fold(j) == held);
    sample.residuals(&training, &inside, subset, lambda, false, intercept).mapv(|e| e * e).sum()
}

fn lambdas(count: usize) -> Vec<f64> {
    (0..count).map(|k| 10f64.powf(k as f64 / 2.0 - 4.0)).collect()
}

#[test]
fn every_fold_and_lambda_equals_refitting() {
    let sample = sample();
    let mut worst = 0.0f64;
    for intercept in [false, true] {
        let moments = moments(&sample, intercept);
        for size in [1, 2, 8, 33, 74] {
            let subset: Vec<usize> = (0..size).map(|k| (k * 29 + 3) % (COLUMNS - 1)).collect();
            let losses = sums(&losses_by_lambda(&moments, &subset, &lambdas(13)).unwrap()).0;
            for (lambda, loss) in lambdas(13).into_iter().zip(losses) {
                let (fold_losses, conditioning) = losses_by_lambda(&moments, &subset, &[lambda]).unwrap().remove(0);
                assert!(!is_unreliable(conditioning));
                assert_eq!(fold_losses.iter().sum::<f64>().to_bits(), loss.to_bits());
                assert_eq!(fold_losses.len(), FOLDS);
                for (held, loss) in fold_losses.into_iter().enumerate() {
                    let error = (loss / refit(&sample, &subset, intercept, held, lambda) - 1.0).abs();
                    assert!(error <= 1e-12, "{size} columns, λ {lambda}: {error}");
                    worst = worst.max(error);
                }
            }
        }
    }
    println!("worst {worst:.1e}");
}

#[test]
fn no_lambda_depends_on_which_others_come_along() {
    let moments = moments(&sample(), true);
    for size in [3, 40, 74] {
        let subset: Vec<usize> = (0..size).collect();
        let losses = |lambdas: &[f64]| sums(&losses_by_lambda(&moments, &subset, lambdas).unwrap()).0;
        let (all, values) = (lambdas(21), losses(&lambdas(21)));
        for first in 0..all.len() {
            let (some, now) = (&all[first..], losses(&all[first..]));
            assert_eq!(bits(&now), bits(&values[first..]), "{size}: {some:?}");
            assert_eq!(bits(&losses(&some[..1])), bits(&values[first..=first]));
        }
        let backward: Vec<f64> = all.iter().rev().copied().collect();
        let mut now = losses(&backward);
        now.reverse();
        assert_eq!(bits(&now), bits(&values));
    }
}

#[test]
fn threads_levels_and_copies_leave_the_bits() {
    let sample = sample();
    let subset: Vec<usize> = (0..COLUMNS - 1).collect();
    let copies: Vec<usize> = subset.iter().map(|&k| if k == 20 { COLUMNS - 1 } else { k }).collect();
    let mut first = None;
    for level in Level::available() {
        level.within(|| {
            for threads in 1..=3 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                for subset in [&subset, &copies] {
                    let now = pool.install(|| {
                        let losses = losses_by_lambda(&moments(&sample, true), subset, &lambdas(11)).unwrap();
                        let (losses, conditioning) = sums(&losses);
                        bits(&[losses, conditioning].concat())
                    });
                    assert_eq!(*first.get_or_insert_with(|| now.clone()), now, "{} {threads}", level.name());
                }
            }
        });
    }
}

#[test]
fn low_is_the_share_of_the_least_eigenvalue() {
    let sample = sample();
    let moments = moments(&sample, false);
    let subset: Vec<usize> = (0..COLUMNS - 1).collect();
    let conditioning = |subset: &[usize], lambda: f64| losses_by_lambda(&moments, subset, &[lambda]).unwrap()[0].1;
    // Products of the training rows are differences from those of all rows.
    let all = gram(sample.matrix(&subset, &(0..ROWS).collect::<Vec<_>>()).view());
    let scale = all.diag().fold(0.0f64, |m, d| m.max(*d));
    for lambda in [0.0, 1e-3, 1.0, 1e6] {
        let fold_loss = |held: usize| {
            let training: Vec<usize> = (0..ROWS).filter(|&j| fold(j) != held).collect();
            let a = gram(sample.matrix(&subset, &training).view());
            (eigh(a.view()).unwrap().0[0] + lambda) / (scale + lambda)
        };
        let defined = (0..FOLDS).map(fold_loss).fold(f64::INFINITY, f64::min);
        let found = conditioning(&subset, lambda);
        assert!((found - defined).abs() <= 1e-10, "{lambda}: {found} is not {defined}");
    }
    // With equal columns, λ = 0 is unreliable.
    let with_copy = [20, 3, COLUMNS - 1];
    assert!(is_unreliable(conditioning(&with_copy, 0.0)) && !is_unreliable(conditioning(&with_copy, 0.1)));
    assert_eq!(conditioning(&with_copy, -1.0), 0.0, "A_t + λ is not positive definite");
    let empty = losses_by_lambda(&moments, &[], &[0.0]).unwrap();
    let (losses, conditioning) = sums(&empty);
    assert_eq!(moments.trial(losses[0], 1.0).loss, moments.empty);
    assert_eq!(conditioning, [1.0]);
}
