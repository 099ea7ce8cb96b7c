//! Standard errors, intervals, and figures of records.

use ndarray::{Array2, array};
use vaglio_core::{Feature, normal_quantile};
use vaglio_report::record::{Cell, LossTable, PredictionRows, ReliabilityRecord, WorthRecord, brier};
use vaglio_report::{ClusterSum, MeanVariances, StandardizedMoments};
use vaglio_search::{CrossValidation, Rule};

#[test]
fn moments_are_the_same_in_any_unit() {
    let moments =
        |unit: f64| StandardizedMoments::from_deviations([-2.0, -1.5, -1.0, 0.25, 4.25].map(|d| d * unit).into_iter());
    let [low, high] = moments(1.0).interval(0.0, 1.0, 0.95);
    assert!(high > -1.5 * low, "it is skewed");
    for power in [-1000, -400, 400, 1000] {
        assert_eq!(moments(2.0_f64.powi(power)), moments(1.0), "2^{power}");
    }
}

#[test]
fn without_skewness_it_is_students() {
    let [low, high] = StandardizedMoments::normal(10).interval(2.0, 0.5, 0.95);
    assert!((low - (2.0 - 0.5 * 2.262_16)).abs() < 1e-4 && (low + high - 4.0).abs() < 1e-12);
}

/// Deviations −1, −1 and 2 have skewness 2/2^1.5 and kurtosis 1.5. Of three observations there are 2 degrees of freedom.
#[test]
fn the_transformed_quantile_is_the_quantile() {
    let skewed = |times: usize, sign: f64| {
        StandardizedMoments::from_deviations([-1.0, -1.0, 2.0].repeat(times).into_iter().map(|d| sign * d))
    };
    let g = 2.0 / 2.0_f64.powf(1.5);
    for times in [1, 4, 14] {
        let shape = skewed(times, 1.0);
        assert!((shape.kurtosis - 1.5).abs() < 1e-12 && shape.count == 3 * times);
        let n = shape.count as f64;
        let transform =
            |t: f64| t + g * t * t / (3.0 * n.sqrt()) + g * g * t.powi(3) / (27.0 * n) + g / (6.0 * n.sqrt());
        let [low, high] = shape.interval(0.0, 1.0, 0.95);
        let ends = [transform(-low), transform(-high)];
        assert!(ends[0] > 0.0 && (ends[0] + ends[1]).abs() < 1e-9, "{ends:?}");
        assert!(times > 1 || (ends[0] - 4.30265).abs() < 1e-4, "{ends:?}");
        // The side of the long tail is farther out.
        let [low, high] = shape.interval(1.0, 0.1, 0.95);
        assert!(high - 1.0 > 1.0 - low);
        let mirrored = skewed(times, -1.0).interval(-1.0, 0.1, 0.95);
        assert!((mirrored[0] + high).abs() < 1e-12 && (mirrored[1] + low).abs() < 1e-12);
    }
}

#[test]
fn moments_of_equal_observations_are_normal() {
    assert_eq!(StandardizedMoments::from_deviations([0.0, 0.0].into_iter()), StandardizedMoments::normal(2));
}

/// Without skewness there is a degree of freedom fewer than observations, or by their kurtosis fewer still.
#[test]
fn quantiles_are_those_of_the_tables() {
    for (freedom, level, expected) in [
        (1, 0.95, 12.7062),
        (2, 0.95, 4.30265),
        (3, 0.95, 3.18245),
        (4, 0.95, 2.77645),
        (5, 0.95, 2.57058),
        (9, 0.95, 2.26216),
        (19, 0.95, 2.09302),
        (99, 0.95, 1.98422),
        (100_000, 0.95, 1.95999),
        (4, 0.9, 2.13185),
        (4, 0.99, 4.60409),
        (30, 0.9, 1.69726),
        (1, 0.9, 6.31375),
        (2, 0.99, 9.92484),
    ] {
        let [low, high] = StandardizedMoments::normal(freedom + 1).interval(0.0, 1.0, level);
        assert!((high / expected - 1.0).abs() < 2e-4 && low == -high, "{freedom}, {level}: {high}");
    }
    let [below, at, above] = [2.0, 2.5, 3.0].map(|freedom| {
        let mut moments = StandardizedMoments::normal(300);
        moments.kurtosis = 600.0 / freedom + 1.0;
        moments.interval(0.0, 1.0, 0.95)[1]
    });
    assert!(below > at && at > above);
}

#[test]
fn normal_quantiles_are_those_of_the_tables() {
    for (probability, expected) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (1e-10, -6.361_340_902_404_056)] {
        assert!((normal_quantile(probability) - expected).abs() < 1e-12, "{probability}");
    }
}

fn sums(parts: &[(u32, f64, f64)]) -> Vec<ClusterSum> {
    parts.iter().map(|&(cluster, weight, sum)| ClusterSum { cluster, weight, sum }).collect()
}

#[test]
fn variances_are_those_between_clusters_and_between_folds() {
    // Losses 1, 2, 6 and 3, 8, of clusters 0, 0, 1 and 2, 2.
    let folds = [sums(&[(0, 2.0, 3.0), (1, 1.0, 6.0)]), sums(&[(2, 2.0, 11.0)])];
    let found = MeanVariances::from_folds(&[&folds[0], &folds[1]], 1);
    let squares = |apart: &[f64]| apart.iter().map(|a| a * a).sum::<f64>() / 25.0;
    let is = |found: Option<(f64, usize)>, expected: f64, count: usize| {
        assert!(matches!(found, Some((v, n)) if n == count && (v - expected).abs() < 1e-12), "{found:?}");
    };
    is(found.clusters, 1.5 * squares(&[3.0 - 8.0, 6.0 - 4.0, 11.0 - 8.0]), 3);
    is(found.folds, 2.0 * squares(&[9.0 - 12.0, 11.0 - 8.0]), 2);
}

#[test]
fn what_is_repeated_is_the_same() {
    let folds = [sums(&[(0, 1.0, 3.0), (1, 1.0, 6.0)]), sums(&[(2, 1.0, 11.0), (3, 1.0, 2.0)])];
    let once = MeanVariances::from_folds(&[&folds[0], &folds[1]], 1);
    let twice = MeanVariances::from_folds(&[&folds[0], &folds[1], &folds[0], &folds[1]], 2);
    assert_eq!(once, twice);
    // A row of weight 2 is the row twice.
    let weighted = [sums(&[(0, 2.0, 6.0), (1, 1.0, 6.0)])];
    let twice = [sums(&[(0, 1.0, 3.0), (0, 1.0, 3.0), (1, 1.0, 6.0)])];
    assert_eq!(MeanVariances::from_folds(&[&weighted[0]], 1), MeanVariances::from_folds(&[&twice[0]], 1));
}

#[test]
fn weights_of_any_unit_have_the_same_variances() {
    let folds = |unit: f64| {
        let sums = |parts: &[(u32, f64, f64)]| {
            sums(&parts.iter().map(|(c, w, s)| (*c, w * unit, s * unit)).collect::<Vec<_>>())
        };
        MeanVariances::from_folds(&[&sums(&[(0, 2.0, 3.0), (1, 1.0, 6.0)]), &sums(&[(2, 1.5, 11.0), (3, 1.0, 0.7)])], 1)
    };
    for power in [-1000, -600, -101, -100, -1, 100, 101, 600, 1000] {
        assert_eq!(folds(2.0_f64.powi(power)), folds(1.0), "2^{power}");
    }
}

#[test]
fn few_observations_give_a_wider_interval() {
    let spread = |clusters, folds| MeanVariances { clusters: Some((1.0, clusters)), folds };
    assert!((spread(2, None).error().unwrap() - 12.7062 / 1.96).abs() < 1e-3);
    assert!((spread(100_000, None).error().unwrap() - 1.0).abs() < 1e-3);
    let by_folds = spread(100_000, Some((4.0, 5))).error().unwrap();
    assert!((by_folds - 2.0 * 2.77645 / 1.96 * 1.25_f64.sqrt()).abs() < 1e-3);
    assert_eq!(spread(100, Some((4.0, 5))).root(), Some(1.0));
    assert_eq!(spread(1, None).error(), None, "quantiles of no degree of freedom are infinite");
    let one = sums(&[(0, 3.0, 2.0)]);
    assert_eq!(MeanVariances::from_folds(&[&one], 1).error(), None);
    let infinite = sums(&[(0, 3.0, 2.0), (1, 1.0, f64::INFINITY)]);
    assert_eq!(MeanVariances::from_folds(&[&infinite], 1).error(), None);
}

fn table(losses: [[f64; 3]; 2]) -> LossTable {
    let cell = |(size, loss): (usize, f64)| Cell { size, loss, standard_error: Some(0.5), difference_error: Some(0.1) };
    let cells = losses.iter().map(|row| row.iter().copied().enumerate().map(cell).collect()).collect();
    LossTable { lambdas: vec![Some(1.0), Some(10.0)], cells }
}

#[test]
fn the_lowest_loss_or_the_simplest_near_it_is_taken() {
    let picked = |losses: &LossTable, rule| {
        losses.pick(&CrossValidation { rule, ..CrossValidation::default() }).map(|(l, cell)| (l, cell.size)).unwrap()
    };
    let losses = table([[1.0, 0.58, 0.5], [1.0, 0.59, 0.52]]);
    assert_eq!(picked(&losses, Rule::Best), (0, 2));
    assert_eq!(picked(&losses, Rule::OneSe), (1, 1));
    let rounded = table([[0.5 + 1e-15, 0.5, 0.5 - 1e-15], [0.6; 3]]);
    assert_eq!(picked(&rounded, Rule::Best), (0, 0));
    let flat = table([[0.5; 3]; 2]);
    assert_eq!(picked(&flat, Rule::Best), (0, 0));
    assert_eq!(picked(&flat, Rule::OneSe), (1, 0));
}

#[test]
fn the_brier_score_is_the_mean_of_squares() {
    let two = brier(array![[1.0, -1.0]].view(), array![[0.2, 0.7], [0.8, 0.3]].view(), None);
    assert!((two - (0.04 + 0.09) / 2.0).abs() < 1e-15);
    let three = array![[1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
    let probabilities = array![[0.5, 0.1], [0.3, 0.6], [0.2, 0.3]];
    let found = brier(three.view(), probabilities.view(), Some(&[3.0, 1.0]));
    let expected = (3.0 * (0.25 + 0.09 + 0.04) + (0.01 + 0.16 + 0.09)) / 4.0;
    assert!((found - expected).abs() < 1e-15);
}

#[test]
fn bins_hold_every_row_once_and_frequencies_are_the_base() {
    let rows = 57;
    let positive = |row: usize| row.is_multiple_of(3);
    let targets = Array2::from_shape_fn((1, rows), |(_, row)| if positive(row) { 1.0 } else { -1.0 });
    let p = |row: usize| (row as f64 + 0.5) / rows as f64;
    let probabilities = Array2::from_shape_fn((2, rows), |(c, row)| if c == 1 { p(row) } else { 1.0 - p(row) });
    let found = ReliabilityRecord::new(PredictionRows::Nested, targets.view(), probabilities.view(), &[1.0; 57]);
    assert_eq!((found.bins.len(), found.bins.iter().map(|bin| bin.rows).sum::<usize>()), (10, rows));
    let share = 19.0 / 57.0;
    assert!((found.base - share * (1.0 - share)).abs() < 1e-15);
    let first = found.bins[0];
    let members = 0..first.rows;
    let mean = members.clone().map(p).sum::<f64>() / first.rows as f64;
    let observed = members.filter(|row| positive(*row)).count() as f64 / first.rows as f64;
    assert!((first.predicted - mean).abs() < 1e-15 && (first.observed - observed).abs() < 1e-15);
}

#[test]
fn what_is_left_out_is_told_with_how_to_have_it() {
    let left_out = |no_without: &[Feature], no_substitutes: &[Feature]| WorthRecord {
        no_without: no_without.to_vec(),
        no_substitutes: no_substitutes.to_vec(),
    };
    assert_eq!(left_out(&[], &[]).sentence(), None);
    let told = |a: &[Feature], b: &[Feature]| left_out(a, b).sentence().unwrap();
    assert!(told(&[], &[1, 2]).contains(": substitutes of 2 chosen columns; `vaglio explain`"));
    assert!(told(&[3], &[3, 4]).contains(": the score without 1 chosen column and substitutes of 2 chosen columns; "));
}
