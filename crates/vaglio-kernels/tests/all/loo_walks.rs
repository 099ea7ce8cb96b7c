//! Leave-one-out states on walks of additions and removals, against QR of every subset.

use crate::sample::Sample;
use ndarray::{Array1, Array2, Axis, concatenate, s};
use std::sync::Arc;
use vaglio_columns::Measure;
use vaglio_kernels::loo::LooState;
use vaglio_kernels::ridge::Ridge;
use vaglio_kernels::{Data, Level, Scorer, Trial, is_unreliable, linalg};
use vaglio_testkit::{SplitMix64, tries_all_cases};

/// Weighted rows, fitted with or without an intercept.
struct Walked {
    sample: Sample,
    intercept: bool,
}

/// Generates columns: the last equals column 1; every second one is its predecessor plus `distance` times noise.
fn sample(rows: usize, count: usize, distance: f64, intercept: bool) -> Walked {
    let mut random = SplitMix64::new(17);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..count - 1 {
        let noise = (0..rows).map(|_| random.uniform() - 0.4);
        columns.push(match j % 2 {
            1 => noise.zip(&columns[j - 1]).map(|(v, before)| before * (1.0 - distance) + distance * v).collect(),
            _ => noise.collect(),
        });
    }
    columns.push(columns[1].clone());
    let target = |k: usize, random: &mut SplitMix64| {
        (0..rows).map(|j| 2.0 * columns[k][j] - columns[k + 2][j] + 0.5 * random.uniform()).collect::<Vec<f64>>()
    };
    let targets = vec![target(0, &mut random), target(1, &mut random)];
    let weights = (0..rows).map(|_| 0.5 + random.uniform()).collect();
    Walked { sample: Sample { weights, ..Sample::new(columns, targets) }, intercept }
}

impl Walked {
    fn data(&self) -> Arc<Data<'_>> {
        self.sample.data(true, self.intercept)
    }

    fn definition(&self, subset: &[usize], lambda: f64) -> f64 {
        let rows: Vec<usize> = (0..self.sample.count()).collect();
        let (mut x, mut y) = (self.sample.matrix(subset, &rows), self.sample.outputs().reversed_axes());
        let weights = Array1::from(self.sample.weights.clone());
        let root = weights.mapv(f64::sqrt);
        if self.intercept {
            x -= &(weights.dot(&x) / weights.sum());
            y -= &(weights.dot(&y) / weights.sum());
        }
        for mut column in x.columns_mut().into_iter().chain(y.columns_mut()) {
            column *= &root;
        }
        let ridge = Ridge::new(x.view(), y.t(), None, false).unwrap();
        let mut residuals = &y - &x.dot(&ridge.coefficients(lambda).unwrap().0);
        // The squared norm of row j of X·R⁻¹ is its leverage.
        let stacked = concatenate![Axis(0), x, Array2::eye(subset.len()) * lambda.sqrt()];
        let triangle = linalg::triangle(stacked.view()).unwrap();
        for ((row, root), mut residual) in x.rows().into_iter().zip(&root).zip(residuals.rows_mut()) {
            let mut along = row.to_owned();
            for k in 0..along.len() {
                let known = along.slice(s![..k]).dot(&triangle.slice(s![..k, k]));
                along[k] = (along[k] - known) / triangle[[k, k]];
            }
            let center = if self.intercept { root * root / weights.sum() } else { 0.0 };
            residual /= 1.0 - center - along.dot(&along);
        }
        residuals.iter().map(|r| r * r).sum::<f64>() / (weights.sum() * residuals.ncols() as f64)
    }

    /// Walks with all three states; returns the largest relative error of a score, and every loss.
    fn walk(&self, lambda: f64, steps: usize, most: usize) -> (f64, Vec<f64>) {
        let data = self.data();
        let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
        let mut bounded = LooState::new(Arc::clone(&data), lambda, []);
        let mut full = LooState::new(Arc::clone(&data), lambda, []);
        let (mut random, mut subset) = (SplitMix64::new(5), Vec::new());
        let (mut error, mut seen) = (0.0f64, Vec::new());
        for _ in 0..steps {
            let open: Vec<usize> = (0..data.columns()).filter(|f| !subset.contains(f)).collect();
            let mut check = |subset: &[usize], trials: &[&Trial]| {
                seen.extend(trials.iter().map(|trial| trial.loss));
                let mut reliable = trials.iter().filter(|trial| !is_unreliable(trial.conditioning)).peekable();
                if reliable.peek().is_some() {
                    let defined = self.definition(subset, lambda);
                    error = reliable.fold(error, |most, trial| most.max((trial.loss - defined).abs() / defined));
                }
            };
            let bounds = bounded.bounds(&scorer, false).unwrap();
            assert!(data.candidates.iter().copied().eq(0..data.columns()));
            assert_eq!(bounds.len(), data.columns());
            let by_bounds = bounded.bounded_trials(&scorer, &open);
            let in_full = full.trials(&scorer, &open);
            for (k, feature) in open.iter().enumerate() {
                let larger: Vec<usize> = subset.iter().chain([feature]).copied().collect();
                check(&larger, &[&by_bounds[k], &in_full[k]]);
                assert!(bounds[*feature] <= by_bounds[k].loss * (1.0 + 1e-9));
            }
            for trials in [&by_bounds, &in_full] {
                if open.contains(&1) && open.last() == Some(&(data.columns() - 1)) {
                    let place = open.iter().position(|f| *f == 1).unwrap();
                    assert_eq!(trials[place].loss.to_bits(), trials[open.len() - 1].loss.to_bits(), "equal columns");
                }
            }
            let removals = bounded.removals(&scorer, &subset);
            for (k, trial) in removals.iter().enumerate() {
                let rest: Vec<usize> = subset.iter().copied().filter(|f| *f != subset[k]).collect();
                check(&rest, &[trial]);
            }
            if subset.is_empty() || (subset.len() < most && random.uniform() < 0.55) {
                let feature = open[random.below(open.len())];
                bounded.add(feature);
                full.add(feature);
                subset.push(feature);
            } else {
                let feature = subset.remove(random.below(subset.len()));
                let (a, b) = (bounded.remove(feature), full.remove(feature));
                assert_eq!(a, b);
                if !a {
                    full = LooState::new(Arc::clone(&data), lambda, subset.iter().copied());
                    bounded = LooState::new(Arc::clone(&data), lambda, subset.iter().copied());
                }
            }
            assert!(bounded.selected().eq(subset.iter().copied()));
            check(&subset, &[&bounded.score(&scorer), &full.score(&scorer)]);
        }
        (error, seen)
    }
}

/// Walks have 150 steps; with `VAGLIO_CASES=all`, 500.
#[test]
fn every_trial_of_long_walks_equals_a_new_fit() {
    let steps = if tries_all_cases() { 500 } else { 150 };
    for (lambda, tolerance) in [(1.0, 1e-11), (1e-3, 1e-11), (1e-6, 1e-9), (1e-9, 1e-8)] {
        for intercept in [true, false] {
            let (error, _) = sample(43, 10, 1.0, intercept).walk(lambda, steps, 8);
            assert!(error <= tolerance, "lambda {lambda:e}, intercept {intercept}: {error:e}");
            let (error, _) = sample(43, 10, 1e-3, intercept).walk(lambda, steps, 8);
            assert!(error <= 1e-6, "collinear, lambda {lambda:e}, intercept {intercept}: {error:e}");
        }
    }
}

#[test]
fn every_level_gives_the_same_bits_on_a_walk() {
    let sample = sample(43, 8, 0.5, true);
    let (_, baseline) = Level::available()[0].within(|| sample.walk(0.01, 60, 6));
    for level in Level::available() {
        level.within(|| {
            assert_eq!(sample.walk(0.01, 60, 6).1, baseline, "{}", level.name());
        });
    }
}

/// From all columns to none: 60 rows, 40 columns.
#[test]
fn backward_from_all_columns_equals_new_fits() {
    for lambda in [1.0, 1e-6] {
        let sample = sample(60, 40, 1.0, true);
        let data = sample.data();
        let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
        let mut subset: Vec<usize> = (0..40).collect();
        let mut state = LooState::new(Arc::clone(&data), lambda, subset.iter().copied());
        while !subset.is_empty() {
            let trials = state.removals(&scorer, &subset);
            let best = (0..subset.len()).min_by(|&a, &b| trials[a].loss.total_cmp(&trials[b].loss)).unwrap();
            let feature = subset.remove(best);
            let defined = sample.definition(&subset, lambda);
            assert!((trials[best].loss - defined).abs() <= 1e-8 * defined, "{} is not {defined}", trials[best].loss);
            if !state.remove(feature) {
                state = LooState::new(Arc::clone(&data), lambda, subset.iter().copied());
            }
            let after = state.score(&scorer).loss;
            assert!((after - defined).abs() <= 1e-8 * defined, "{after} is not {defined}");
        }
    }
}
/// The residual of a copy is 1e-12 of its norm, as is λ: a squared condition number would leave no digit.
#[test]
fn nearly_dependent_columns_cost_their_condition_and_not_the_square_of_it() {
    for (distance, lambda) in [(1e-4, 1e-9), (1e-6, 1e-11)] {
        let walked = sample(43, 10, distance, true);
        let data = walked.data();
        let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
        for subset in [&[0, 1][..], &[1, 9, 0], &[4, 0, 7, 9, 3, 1], &[1, 9, 0, 4, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]
        {
            let defined = walked.definition(subset, lambda);
            let scored = LooState::new(Arc::clone(&data), lambda, subset.iter().copied()).score(&scorer);
            assert!(!is_unreliable(scored.conditioning));
            let error = (scored.loss - defined).abs() / defined;
            assert!(error <= 1e-9, "{subset:?} of copies {distance:e} apart: {error:e}");
        }
    }
}
