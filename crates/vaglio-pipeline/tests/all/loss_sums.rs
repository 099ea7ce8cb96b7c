//! Losses of folds, pooled, with their standard errors.

use ndarray::{Array2, Axis, s};
use vaglio_core::{Absolute, Auc, BalancedError, Loss, Part, Squared, ZeroOne, jackknife_variance};
use vaglio_pipeline::resampling::{EVERY, FoldLosses, LossSums, TargetsAndPredictions};
use vaglio_report::MeanVariances;

const ROWS: usize = 40;

struct Losses {
    targets: Array2<f64>,
    predictions: Array2<f64>,
    weights: Vec<f64>,
}

fn table(shift: usize) -> Losses {
    let value = |o: usize, j: usize| ((31 * j + 17 * o + shift * j * j) % 23) as f64 / 7.0 - 1.4;
    Losses {
        predictions: Array2::from_shape_fn((1, ROWS), |(o, j)| value(o, j)),
        targets: Array2::from_shape_fn((1, ROWS), |(_, j)| if (j * j) % 5 < 2 { 1.0 } else { -1.0 }),
        weights: (0..ROWS).map(|j| 0.5 + (j % 3) as f64).collect(),
    }
}

impl Losses {
    /// Tallies of folds that end at these rows.
    fn tallies(&self, loss: &dyn Loss, ends: &[usize], clusters: Option<&[u32]>, most: u32) -> Vec<LossSums> {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let own: Vec<u32> = (0..ROWS as u32).collect();
        let of = |(from, to): (usize, usize)| {
            let of = TargetsAndPredictions {
                targets: self.targets.slice(s![.., from..to]),
                predictions: self.predictions.slice(s![.., from..to]),
                weights: Some(&self.weights[from..to]),
                units: None,
                clusters: Some(&clusters.unwrap_or(&own)[from..to]),
            };
            LossSums::new(loss, of, most)
        };
        starts.zip(ends.iter().copied()).map(of).collect()
    }

    /// Loss of the selected rows.
    fn mean(&self, loss: &dyn Loss, keeps: impl Fn(usize) -> bool) -> f64 {
        let rows: Vec<usize> = (0..ROWS).filter(|&row| keeps(row)).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| self.weights[row]).collect();
        let (y, p) = (self.targets.select(Axis(1), &rows), self.predictions.select(Axis(1), &rows));
        loss.mean(y.view(), p.view(), Some(&weights))
    }

    fn row_losses(&self, loss: &dyn Loss) -> Vec<f64> {
        (0..ROWS).map(|row| self.mean(loss, |other| other == row)).collect()
    }
}

fn once(tallies: &[LossSums]) -> FoldLosses<'_> {
    FoldLosses::new(tallies, 1)
}

/// G/(G − 1)·Σ (Σ w(ℓ − mean))²/(Σw)² over labels, by the plain formula.
fn plain(losses: &[f64], weights: &[f64], label: impl Fn(usize) -> usize) -> f64 {
    let total: f64 = weights.iter().sum();
    let mean = losses.iter().zip(weights).map(|(l, w)| l * w).sum::<f64>() / total;
    let count = (0..ROWS).map(&label).max().unwrap() + 1;
    let deviation =
        |g: usize| (0..ROWS).filter(|&j| label(j) == g).map(|j| weights[j] * (losses[j] - mean)).sum::<f64>();
    let squares: f64 = (0..count).map(|g| deviation(g).powi(2)).sum();
    count as f64 / (count as f64 - 1.0) * squares / (total * total)
}

fn near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{what}: {found} is not {expected}");
}

const ENDS: [usize; 3] = [13, 27, 40];

fn fold(row: usize) -> usize {
    ENDS.iter().position(|end| row < *end).unwrap()
}

#[test]
fn tallies_of_parts_pool_to_the_loss_of_all_rows() {
    let table = table(0);
    for loss in [Part::<dyn Loss>::from(Squared), Absolute.into(), ZeroOne.into(), BalancedError.into(), Auc.into()] {
        let tallies = table.tallies(&*loss, &[13, 14, 40], None, EVERY);
        near(once(&tallies).mean(&*loss).unwrap(), table.mean(&*loss, |_| true), "mean");
    }
}

#[test]
fn clusters_that_are_added_up_in_place_are_those_that_are_joined_later() {
    let (table, labels) = (table(1), (0..ROWS as u32).map(|row| (row * row) % 29).collect::<Vec<u32>>());
    for loss in [Part::<dyn Loss>::from(Squared), Absolute.into()] {
        for clusters in [None, Some(&labels[..])] {
            let [few, every] = [4, EVERY].map(|most| table.tallies(&*loss, &[17, 40], clusters, most));
            for (few, every) in few.iter().zip(&every) {
                let [(weight, mean, clusters), (w, m, all)] = [few, every].map(|sums| match sums {
                    LossSums::Mean { weight, mean, clusters, .. } => (weight, mean, clusters),
                    LossSums::Rows(_) => panic!("a mean over rows"),
                });
                assert_eq!((weight, mean), (w, m));
                assert_eq!(clusters.iter().map(|found| found.cluster).collect::<Vec<_>>(), [0, 1, 2, 3]);
                for found in clusters {
                    let joined = || all.iter().filter(|own| own.cluster % 4 == found.cluster);
                    assert_eq!(found.weight, joined().map(|own| own.weight).sum::<f64>());
                    near(found.sum, joined().map(|own| own.sum).sum(), "sum");
                }
            }
        }
    }
}

#[test]
fn the_standard_error_is_the_larger_of_clusters_and_folds() {
    let (table, groups) = (table(0), |row: usize| row % 7);
    let labels: Vec<u32> = (0..ROWS).map(|row| groups(row) as u32).collect();
    for loss in [Part::<dyn Loss>::from(Squared), ZeroOne.into()] {
        let losses = table.row_losses(&*loss);
        for clusters in [None, Some(&labels[..])] {
            let tallies = table.tallies(&*loss, &ENDS, clusters, EVERY);
            let label = |row: usize| if clusters.is_some() { groups(row) } else { row };
            let spread = MeanVariances {
                clusters: Some((plain(&losses, &table.weights, label), if clusters.is_some() { 7 } else { ROWS })),
                folds: Some((plain(&losses, &table.weights, fold), 3)),
            };
            let (_, error) = once(&tallies).pooled_mean(&*loss).unwrap();
            near(error.unwrap(), spread.error().unwrap(), "level");
        }
    }
}

#[test]
fn of_two_the_standard_error_is_that_of_their_paired_difference() {
    let (a, b) = (table(0), table(1));
    let losses: Vec<f64> = a.row_losses(&Squared).iter().zip(b.row_losses(&Squared)).map(|(a, b)| a - b).collect();
    let (one, other) = (a.tallies(&Squared, &ENDS, None, EVERY), b.tallies(&Squared, &ENDS, None, EVERY));
    let expected = plain(&losses, &a.weights, |row| row).sqrt();
    near(once(&one).difference(&Squared, &once(&other)).unwrap(), expected, "difference");
    assert_eq!(once(&one).difference(&Squared, &once(&one)), Some(0.0));
    // Clusters beyond the largest number are joined in turn, equally in both.
    let few = b.tallies(&Squared, &ENDS, None, 8);
    let expected = plain(&losses, &a.weights, |row| row % 8).sqrt();
    near(once(&one).difference(&Squared, &once(&few)).unwrap(), expected, "joined");
}

#[test]
fn a_loss_of_all_rows_leaves_out_clusters_and_folds() {
    let (table, groups) = (table(0), |row: usize| row % 7);
    let labels: Vec<u32> = (0..ROWS).map(|row| groups(row) as u32).collect();
    for loss in [Part::<dyn Loss>::from(Auc), BalancedError.into()] {
        let left_out = |count: usize, label: &dyn Fn(usize) -> usize| {
            let without: Vec<f64> = (0..count).map(|part| table.mean(&*loss, |row| label(row) != part)).collect();
            (jackknife_variance(&without).unwrap(), count)
        };
        let tallies = table.tallies(&*loss, &ENDS, Some(&labels), EVERY);
        let spread = MeanVariances { clusters: Some(left_out(7, &groups)), folds: Some(left_out(3, &fold)) };
        let (_, error) = once(&tallies).pooled_mean(&*loss).unwrap();
        near(error.unwrap(), spread.error().unwrap(), "groups");
        let tallies = table.tallies(&*loss, &ENDS, None, EVERY);
        let spread = MeanVariances { clusters: Some(left_out(ROWS, &|row| row)), ..spread };
        let (_, error) = once(&tallies).pooled_mean(&*loss).unwrap();
        assert!((error.unwrap() - spread.error().unwrap()).abs() < 1e-12);
    }
}

#[test]
fn rows_held_out_again_are_no_more_of_them() {
    let table = table(0);
    for loss in [Part::<dyn Loss>::from(Squared), BalancedError.into()] {
        let labels: Vec<u32> = (0..ROWS as u32).map(|row| row / 2).collect();
        let tallies = table.tallies(&*loss, &ENDS, Some(&labels), EVERY);
        let twice = FoldLosses::new(tallies.iter().chain(&tallies), 2);
        let (of_once, of_twice) = (once(&tallies).pooled_mean(&*loss).unwrap(), twice.pooled_mean(&*loss).unwrap());
        near(of_twice.0, of_once.0, "loss");
        near(of_twice.1.unwrap(), of_once.1.unwrap(), "error");
    }
}

#[test]
fn rows_of_a_unit_are_one_observation() {
    let targets = Array2::zeros((1, 6));
    let predictions = Array2::from_shape_vec((1, 6), vec![1.0, 3.0, 2.0, 2.0, 5.0, 5.0]).unwrap();
    let units = [0, 0, 1, 1, 2, 2];
    let compared = TargetsAndPredictions {
        targets: targets.view(),
        predictions: predictions.view(),
        weights: None,
        units: Some(&units),
        clusters: Some(&units),
    };
    let (mean, error) = once(&[LossSums::new(&Absolute, compared, EVERY)]).pooled_mean(&Absolute).unwrap();
    assert!((mean - 3.0).abs() < 1e-15);
    // The variance of 2, 2, 5 is 3.
    let expected = MeanVariances { clusters: Some((1.0, 3)), folds: None }.error().unwrap();
    near(error.unwrap(), expected, "error");
}
