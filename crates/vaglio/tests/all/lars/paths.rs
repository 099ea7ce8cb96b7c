//! Every knot of a path is a lasso solution.

use super::common::{At, Positive, Signs, descent, design, factors, knots, moments, violation, walk};
use vaglio::core::{Action, Criterion, Feature, StopReason};
use vaglio::criteria::{KFold, Loo};
use vaglio::search::{Lars, Path, Search};
use vaglio_testkit::data;

fn removals(path: &Path) -> usize {
    path.steps.iter().filter(|step| step.action == Action::Remove).count()
}

fn order(path: &Path) -> Vec<Feature> {
    path.steps.iter().map(|step| step.feature).collect()
}

/// The criterion with its signs.
fn geometries() -> [(Box<dyn Criterion>, Signs); 3] {
    [
        (Box::new(Loo::default()), Signs::Any),
        (Box::new(KFold::default()), Signs::Any),
        (Box::new(Positive), Signs::NonNegative),
    ]
}

#[test]
fn every_knot_meets_the_conditions_of_the_lasso_and_columns_leave() {
    for (criterion, signs) in geometries() {
        let (mut worst, mut left): (f64, usize) = (0.0, 0);
        for seed in 0..12 {
            for (rows, columns) in [(40, 15), (12, 25)] {
                let design = factors(rows, columns, seed);
                let (c, q) = moments(&design);
                let path = walk(&Search::new(Lars::default()), &*criterion, &design);
                let knots = knots(&path, &c, signs);
                worst = knots.iter().map(|at| violation(&c, &q, at, signs)).fold(worst, f64::max);
                left += removals(&path);
                let ended = matches!(path.stop_reason, StopReason::NoCorrelation | StopReason::MaxFeatures);
                assert!(ended && knots.last().unwrap().lambda.abs() < 1e-12, "{:?}", path.stop_reason);
            }
        }
        assert!(worst < 1e-13, "{signs:?}: {worst:e}");
        assert!(left >= 10, "{signs:?}: {left} removals");
    }
}

#[test]
fn between_knots_the_path_is_the_lasso() {
    for (criterion, signs) in geometries() {
        let mut left = 0;
        for seed in 20..24 {
            let design = factors(60, 8, seed);
            let (c, q) = moments(&design);
            let path = walk(&Search::new(Lars::default()), &*criterion, &design);
            left += removals(&path);
            for pair in knots(&path, &c, signs).windows(2) {
                let [from, to] = pair else { continue };
                let lambda = 0.3 * from.lambda + 0.7 * to.lambda;
                let reference = descent(&c, &q, lambda, signs);
                for (j, r) in reference.iter().enumerate() {
                    let on_path = 0.3 * from.alpha[j] + 0.7 * to.alpha[j];
                    assert!((on_path - r).abs() < 1e-9, "{signs:?}, seed {seed}: {on_path} is not {r}");
                }
            }
        }
        assert!(left > 0, "{signs:?}");
    }
}

#[test]
fn without_the_rule_of_the_lasso_nothing_leaves_and_correlations_stay_equal() {
    let plain = Search::new(Lars { lasso: false, ..Lars::default() });
    let mut crossed = 0;
    for seed in 0..8 {
        let design = factors(40, 15, seed);
        let (c, q) = moments(&design);
        let path = walk(&plain, &Loo::default(), &design);
        assert_eq!((removals(&path), path.steps.len(), path.stop_reason), (0, 15, StopReason::MaxFeatures));
        for At { lambda, alpha, active } in knots(&path, &c, Signs::Any) {
            let left: Vec<f64> = (0..15).map(|j| c[j] - (0..15).map(|k| q[(j, k)] * alpha[k]).sum::<f64>()).collect();
            assert!(left.iter().all(|r| r.abs() <= lambda + 1e-12));
            assert!(active.iter().all(|&j| (left[j].abs() - lambda).abs() < 1e-12));
            crossed += active.iter().filter(|&&j| alpha[j] * left[j] < -1e-9).count();
        }
        assert!(
            removals(&walk(&plain, &Positive, &design))
                == removals(&walk(&Search::new(Lars::default()), &Positive, &design))
        );
    }
    assert!(crossed > 0);
}

/// Columns of a Hadamard matrix: orthogonal, of mean 0.
fn hadamard(column: usize) -> Vec<f64> {
    (0..8_usize).map(|row| if (row & column).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }).collect()
}

fn hadamard_design(sizes: &[f64]) -> vaglio::core::Design {
    let columns: Vec<Vec<f64>> = (1..=sizes.len()).map(hadamard).collect();
    let y: Vec<f64> = (0..8).map(|j| columns.iter().zip(sizes).map(|(x, s)| s * x[j]).sum()).collect();
    design(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), &y)
}

#[test]
fn orthogonal_columns_enter_by_their_correlation() {
    let sizes = [0.5, -3.0, 2.0, 0.0, 1.0, -0.25];
    let design = hadamard_design(&sizes);
    let norm = sizes.iter().map(|s| s * s).sum::<f64>().sqrt();
    let path = walk(&Search::new(Lars::default()), &Loo::default(), &design);
    assert_eq!(order(&path), [1, 2, 4, 0, 5]);
    assert_eq!(path.stop_reason, StopReason::NoCorrelation);
    let sorted = [3.0, 2.0, 1.0, 0.5, 0.25, 0.0];
    for (step, pair) in path.steps.iter().zip(sorted.windows(2)) {
        assert!((step.knot.as_ref().unwrap().mu - (pair[0] - pair[1]) / norm).abs() < 1e-14);
    }
    let last = path.steps.last().unwrap().knot.as_ref().unwrap();
    for (alpha, &feature) in last.alpha.iter().zip(&[1, 2, 4, 0, 5]) {
        assert!((alpha - sizes[feature] / norm).abs() < 1e-14);
    }
    let positive = walk(&Search::new(Lars::default()), &Positive, &design);
    assert_eq!((order(&positive), positive.stop_reason), (vec![2, 4, 0], StopReason::NoCorrelation));
}

#[test]
fn equal_correlations_enter_by_index_with_steps_of_no_length() {
    let path = walk(&Search::new(Lars::default()), &Loo::default(), &hadamard_design(&[1.0, 2.0, -1.0, 2.0, 1.0]));
    assert_eq!(order(&path), [1, 3, 0, 2, 4]);
    let tied: Vec<&[Feature]> = path.steps.iter().map(|step| &step.tied[..]).collect();
    assert_eq!(tied, [&[3][..], &[], &[2, 4], &[4], &[]]);
    let mu: Vec<bool> = path.steps.iter().map(|step| step.knot.as_ref().unwrap().mu > 1e-10).collect();
    assert_eq!(mu, [false, true, false, false, true]);
}

#[test]
fn a_copy_never_enters() {
    for (criterion, signs) in geometries() {
        for seed in 0..4 {
            let plain = data::regression(30, 8, seed).design(&[1.0], true);
            // Columns 8 to 13 are columns 5 to 0.
            let copied = data::regression(30, 8, seed).duplicates(6).design(&[1.0], true);
            let (first, second) = (
                walk(&Search::new(Lars::default()), &*criterion, &plain),
                walk(&Search::new(Lars::default()), &*criterion, &copied),
            );
            assert_eq!(order(&first), order(&second), "{signs:?}");
            for (a, b) in first.steps.iter().zip(&second.steps) {
                let (a, b) = (a.knot.as_ref().unwrap(), b.knot.as_ref().unwrap());
                assert!((a.mu - b.mu).abs() < 1e-12);
            }
            for step in second.steps.iter().filter(|step| step.feature < 6 && step.action == Action::Add) {
                assert!(step.tied.contains(&(13 - step.feature)), "{signs:?}: {step:?}");
            }
        }
    }
}

/// A multiple of a column is a copy after standardization, but for rounding; so is a negative one where signs are free.
#[test]
fn a_multiple_of_a_column_never_enters() {
    let base = factors(30, 6, 3);
    let columns: Vec<Vec<f64>> = (0..6).map(|f| base.column(f).values().to_vec()).collect();
    let y = base.targets().row(0).to_vec();
    for factor in [3.7, -0.013] {
        let more: Vec<Vec<f64>> = columns.iter().map(|x| x.iter().map(|v| factor * v + 1.1).collect()).collect();
        let all: Vec<&[f64]> = columns.iter().chain(&more).map(Vec::as_slice).collect();
        let (alone, both) = (walk(&Search::new(Lars::default()), &Loo::default(), &base), design(&all, &y));
        let path = walk(&Search::new(Lars::default()), &Loo::default(), &both);
        assert_eq!((order(&path), path.stop_reason), (order(&alone), StopReason::NoCorrelation), "{factor}");
    }
}

fn wave(k: usize) -> Vec<f64> {
    (0..20).map(|j| ((j * k) as f64 * 0.7).sin()).collect()
}

/// The correlation of the sum is a mix of the correlations on the path, so it reaches λ at 0 alone.
#[test]
fn a_sum_of_columns_on_the_path_never_enters() {
    let (a, b, c) = (wave(1), wave(2), wave(5));
    let sum: Vec<f64> = (0..20).map(|j| a[j] + b[j] + c[j]).collect();
    let y: Vec<f64> = (0..20).map(|j| 3.0 * a[j] - 2.0 * b[j] + c[j] + 0.1 * (j as f64).cos()).collect();
    let path = walk(&Search::new(Lars::default()), &Loo::default(), &design(&[&a, &b, &c, &sum], &y));
    let most = path.steps.iter().map(|step| step.size).max();
    assert_eq!((most, path.stop_reason), (Some(3), StopReason::NoCorrelation));
}

#[test]
fn a_column_that_is_nearly_dependent_ends_the_path_where_it_would_enter() {
    let (a, b, c, noise) = (wave(1), wave(2), wave(5), wave(3));
    let near: Vec<f64> = (0..20).map(|j| 0.4 * a[j] + 0.4 * b[j] + 1e-7 * noise[j]).collect();
    let y: Vec<f64> = (0..20).map(|j| 3.0 * a[j] - 2.0 * b[j] + c[j] + noise[j]).collect();
    let design = design(&[&a, &b, &c, &near], &y);
    let (relevance, gram) = moments(&design);
    let path = walk(&Search::new(Lars::default()), &Loo::default(), &design);
    assert_eq!((path.steps.len(), path.stop_reason), (3, StopReason::Singular));
    let knots = knots(&path, &relevance, Signs::Any);
    assert!(knots.iter().all(|at| violation(&relevance, &gram, at, Signs::Any) < 1e-12));
    let last = knots[3].lambda;
    assert!(last > 1e-9 && last < 1e-6, "{last:e}");
}
