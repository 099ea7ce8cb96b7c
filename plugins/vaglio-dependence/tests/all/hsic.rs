//! Dependence of the whole subset.

use crate::{design, regression, score, two_classes};
use vaglio_core::{Action, Criterion, SearchExtent};
use vaglio_dependence::{Estimator, Hsic, HsicKernel, Output};
use vaglio_kernels::Level;
use vaglio_search::SubsetScorer;
use vaglio_testkit::{Tolerance, check_criterion, data};

fn with_kernel(bandwidth: f64, adapt: bool, estimator: Estimator) -> Hsic {
    Hsic { kernel: HsicKernel { bandwidth, adapt, output: Output::Auto }, estimator }
}

pub fn kinds() -> [Hsic; 3] {
    [Hsic::default(), with_kernel(1.5, false, Estimator::Biased), with_kernel(1.0, true, Estimator::Unbiased)]
}

#[test]
fn every_law_holds_for_every_kernel_of_classes() {
    for output in [Output::Gaussian, Output::Delta, Output::SameClass] {
        let kernel = HsicKernel { output, ..HsicKernel::default() };
        for recipe in [data::binary(25, 6, 1), data::multiclass(25, 6, 3, 2).weighted()] {
            let hsic = Hsic { kernel, ..Hsic::default() };
            check_criterion(&hsic, &recipe.design(&[1.0], true), 1e-9).unwrap();
        }
    }
}

/// Sums over pairs of rows are padded to eights.
#[test]
fn any_number_of_rows_scores_as_the_definition_says_with_the_same_bits_on_every_level() {
    for rows in [2, 8, 9, 17, 60] {
        let design = data::regression(rows, 4, rows as u64).weighted().design(&[1.0], true);
        for hsic in kinds().iter().filter(|hsic| rows > 3 || hsic.estimator == Estimator::Biased) {
            let steps = [[2, 0], [0, 3], [3, 1]];
            let walk = || {
                let mut subset = SubsetScorer::open(hsic, &design, &SearchExtent::forward(4, 4)).unwrap();
                steps.map(|[feature, next]| {
                    subset.add(feature).unwrap();
                    let current = subset.score().unwrap();
                    [
                        current,
                        subset.scores(Action::Add, &[next]).unwrap()[0],
                        subset.scores(Action::Remove, &[2]).unwrap()[0],
                    ]
                })
            };
            let first = Level::available()[0].within(walk);
            Level::available().into_iter().for_each(|level| assert_eq!(level.within(walk), first, "{rows} rows"));
            for (length, found) in (1..).zip(first) {
                let order = [2, 0, 3, 1];
                for (found, subset) in found.iter().zip([&order[..length], &order[..length + 1], &order[1..length]]) {
                    let expected = hsic.evaluate(&design, subset).unwrap().loss;
                    let on = format!("{rows} rows, {subset:?}");
                    Tolerance { tolerance: 1e-12, least: 1.0 }.assert(expected, found.loss, on);
                }
            }
        }
    }
}

/// x = ±1 and two classes of the same rows: K and L have two values, and HLH/4 is ±½ for the delta kernel.
#[test]
fn the_values_are_those_worked_out_by_hand() {
    let (x, other) = ([1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]);
    let problem = two_classes(&[x, other, [3.0; 4]], &x);
    let near = |found: f64, expected: f64| Tolerance::relative(1e-14).assert(expected, found, "a score");
    let far = |squared: f64, columns: f64| (-squared / (2.0 * columns)).exp();
    // 8 entries of each sign: Σ K∘HLH/16 = (8·1 − 8·e⁻²)·1/16, as HLH is ±1.
    let alone = (1.0 - far(4.0, 1.0)) / 2.0;
    let hsic = Hsic::default();
    near(score(&hsic, &problem, &[0]), -alone);
    near(score(&hsic, &problem, &[2, 0]), -alone);
    assert_eq!(score(&hsic, &problem, &[]), 0.0);
    assert_eq!(score(&hsic, &problem, &[2]), 0.0);
    assert!(score(&hsic, &problem, &[1]).abs() < 1e-16);
    let both = (1.0 + far(4.0, 2.0) - far(4.0, 2.0) - far(8.0, 2.0)) / 4.0;
    near(score(&hsic, &problem, &[0, 1]), -both);
    let fixed = (1.0 - far(8.0, 1.0)) / 4.0;
    near(score(&with_kernel(1.0, false, Estimator::Biased), &problem, &[1, 0]), -fixed);
}

/// A product of two columns is independent of each, and determined by both.
#[test]
fn columns_that_matter_only_together_are_seen_together() {
    let mut random = vaglio_testkit::SplitMix64::new(3);
    let columns: Vec<Vec<f64>> = (0..5).map(|_| (0..120).map(|_| random.normal()).collect()).collect();
    let y: Vec<f64> = columns[1].iter().zip(&columns[3]).map(|(a, b)| (a * b).signum()).collect();
    let problem = two_classes(&columns, &y);
    let hsic = Hsic::default();
    let pairs = (0..5).flat_map(|i| (0..i).map(move |k| [k, i]));
    let best = pairs.min_by(|a, b| score(&hsic, &problem, a).total_cmp(&score(&hsic, &problem, b)));
    assert_eq!(best, Some([1, 3]));
    // Backward elimination starts with both columns in the subset.
    let design = design(&problem);
    let mut subset = SubsetScorer::open(&hsic, &design, &SearchExtent::backward(5, 2)).unwrap();
    subset.reset(&[0, 1, 2, 3, 4]).unwrap();
    while subset.selected().len() > 2 {
        let all = subset.selected().to_vec();
        let worst = subset.best(Action::Remove, &all).unwrap().unwrap();
        subset.remove(worst.feature).unwrap();
    }
    assert_eq!(subset.selected(), [1, 3]);
}

/// Under independence the biased estimate is above 0 and the unbiased one near it.
#[test]
fn the_unbiased_estimate_is_about_nothing_where_there_is_nothing() {
    let mut total = [0.0; 2];
    for seed in 0..40 {
        let mut random = vaglio_testkit::SplitMix64::new(seed);
        let mut draw = || (0..20).map(|_| random.normal()).collect::<Vec<f64>>();
        let (a, b, y) = (draw(), draw(), draw());
        let problem = regression(&[a, b], &y);
        for (sum, estimator) in total.iter_mut().zip([Estimator::Biased, Estimator::Unbiased]) {
            *sum -= score(&with_kernel(1.0, true, estimator), &problem, &[0, 1]) / 40.0;
        }
    }
    assert!(total[0] > 0.01 && total[1].abs() < 0.1 * total[0], "{total:?}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let problem = data::regression(12, 3, 3).problem();
    let refused = |hsic: Hsic| hsic.check(&design(&problem)).unwrap_err().to_string();
    assert!(refused(with_kernel(0.0, true, Estimator::Biased)).contains("0 is not a positive number up to 1000"));
    assert!(refused(with_kernel(1e300, true, Estimator::Biased)).contains("`: 1e300 is not a positive number"));
    let kernel = HsicKernel { output: Output::Delta, ..HsicKernel::default() };
    assert!(refused(Hsic { kernel, ..Hsic::default() }).contains("the target is numeric and has no classes"));
    let heavy = data::regression(3, 3, 3).problem().with_weights(vec![2.0; 3]).unwrap();
    let found = with_kernel(1.0, true, Estimator::Unbiased).check(&design(&heavy)).unwrap_err().to_string();
    assert!(found.contains("`unbiased` needs more than 3 rows"), "{found}");
    let many: Vec<f64> = (0..20_001).map(f64::from).collect();
    let many = regression(&[&many], &many);
    let found = Hsic::default().check(&design(&many)).unwrap_err().to_string();
    assert!(found.contains("at most 20000 rows, and there are 20001; use `nhsic`"), "{found}");
}
