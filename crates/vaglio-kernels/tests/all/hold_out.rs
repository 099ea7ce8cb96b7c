//! The hold-out state against refitting without each fold.

use crate::sample::Sample;
use std::sync::Arc;
use vaglio_columns::Measure;
use vaglio_kernels::kfold::{FoldedRows, HoldOut, SubsetRefit};
use vaglio_kernels::{ColumnEntries, Data, Folds, Level, Scorer, Trial, is_unreliable};
use vaglio_testkit::{SplitMix64, tries_all_cases};

const MEASURES: [Measure; 4] = [Measure::Squared, Measure::Absolute, Measure::ZeroOne, Measure::BalancedError];

/// Generates random columns, `outputs` classes that depend on the first columns, and integer weights.
fn sample(rows: usize, columns: usize, outputs: usize) -> Sample {
    let mut random = SplitMix64::new(11);
    let columns: Vec<Vec<f64>> = (0..columns).map(|_| (0..rows).map(|_| random.uniform() - 0.3).collect()).collect();
    let sign = |v: f64| if v > 0.2 { 1.0 } else { -1.0 };
    let target = |k: usize| (0..rows).map(|j| sign(columns[k][j] + 0.5 * columns[k + 2][j])).collect();
    let targets = (0..outputs).map(target).collect();
    let weights = (0..rows).map(|_| 1.0 + (random.uniform() * 3.0).floor()).collect();
    Sample { weights, ..Sample::new(columns, targets) }
}

/// Row weights, intercept, and standardization within folds.
#[derive(Clone, Copy)]
struct Setting(bool, bool, bool);

fn settings() -> impl Iterator<Item = Setting> {
    (0..8).map(|k| Setting(k & 1 > 0, k & 2 > 0, k & 4 > 0))
}

fn fold_rows<'s>(sample: &'s Sample, folds: &[u32], setting: Setting) -> Arc<FoldedRows<'s>> {
    Arc::new(sample.rows(folds, setting.0, setting.1, setting.2))
}

fn state<'d>(rows: &Arc<FoldedRows<'d>>, lambda: f64) -> HoldOut<'d> {
    state_with(rows, lambda, &[])
}

fn state_with<'d>(rows: &Arc<FoldedRows<'d>>, lambda: f64, subset: &[usize]) -> HoldOut<'d> {
    HoldOut::new(Arc::clone(rows)).with_subset(lambda, subset)
}

/// Builds scorers of residuals in fold order and in row order.
fn scorers(rows: &FoldedRows<'_>, measure: Measure) -> (Scorer, Scorer) {
    let permuted = Arc::new(rows.data.targets.permute(rows.folds.order()));
    (Scorer::new(permuted, measure), Scorer::new(Arc::clone(&rows.data.targets), measure))
}

/// Returns contiguous folds, shuffled uneven folds with one empty, single-row folds, and two folds.
fn folds(rows: usize) -> Vec<Vec<u32>> {
    let mut random = SplitMix64::new(5);
    let uneven = (0..rows).map(|_| [0, 0, 0, 1, 2, 2, 4][random.below(7)]).collect();
    let half = (0..rows).map(|j| u32::from(j % 3 == 1)).collect();
    vec![(0..rows).map(|j| (j * 4 / rows) as u32).collect(), uneven, (0..rows as u32).collect(), half]
}

/// Largest relative deviation of reliable trials from refitting, with counts of reliable and unreliable ones.
#[derive(Default)]
struct Distance {
    additions: f64,
    removals: f64,
    scores: f64,
    unreliable: usize,
    sound: usize,
}

impl Distance {
    fn error(&mut self, trial: Trial, rows: &FoldedRows<'_>, plain: &Scorer, subset: &[usize], lambda: f64) -> f64 {
        if is_unreliable(trial.conditioning) {
            self.unreliable += 1;
            return 0.0;
        }
        self.sound += 1;
        let defined = plain.loss(&SubsetRefit::new(rows, subset).unwrap().residuals(lambda).unwrap());
        let distance = (trial.loss - defined).abs() / defined.max(1e-3);
        if distance.is_nan() { f64::INFINITY } else { distance }
    }

    /// Compares the state's score and all its trials with refitting.
    fn look(&mut self, state: &mut HoldOut<'_>, rows: &FoldedRows<'_>, measure: Measure, lambda: f64) {
        let selected = state.selected().to_vec();
        // Without columns and with balanced classes, rounding decides the sign of a prediction of 0.
        let (scorer, plain) = scorers(rows, if selected.len() < 2 { Measure::Squared } else { measure });
        let open: Vec<usize> = (0..rows.data.columns()).filter(|i| !selected.contains(i)).collect();
        for (&i, trial) in open.iter().zip(state.additions(&scorer, &open)) {
            let larger: Vec<usize> = selected.iter().copied().chain([i]).collect();
            self.additions = self.additions.max(self.error(trial, rows, &plain, &larger, lambda));
        }
        for (&i, trial) in selected.iter().zip(state.removals(&scorer, &selected)) {
            let smaller: Vec<usize> = selected.iter().copied().filter(|k| *k != i).collect();
            assert!(!is_unreliable(trial.conditioning) || rows.standardize);
            self.removals = self.removals.max(self.error(trial, rows, &plain, &smaller, lambda));
        }
        let score = state.score(&scorer);
        assert!(!is_unreliable(score.conditioning) || rows.standardize);
        self.scores = self.scores.max(self.error(score, rows, &plain, &selected, lambda));
    }

    fn assert(&self, additions: f64, others: f64) {
        let text = format!("{:e} {:e} {:e}", self.additions, self.removals, self.scores);
        assert!(self.additions <= additions && self.removals <= others && self.scores <= others, "{text}");
    }
}

/// Makes one random addition or removal.
fn step(state: &mut HoldOut<'_>, columns: usize, random: &mut SplitMix64, adds: f64) {
    let selected = state.selected().to_vec();
    let open: Vec<usize> = (0..columns).filter(|i| !selected.contains(i)).collect();
    if !open.is_empty() && (selected.is_empty() || random.uniform() < adds) {
        state.add(open[random.below(open.len())]);
    } else {
        state.remove(selected[random.below(selected.len())]);
    }
}

/// Settings meet every other λ in turn; with `VAGLIO_CASES=all`, all.
#[test]
fn trials_and_updates_equal_refitting_for_every_measure() {
    let all = tries_all_cases();
    for outputs in [1, 2] {
        let sample = sample(33, 9, outputs);
        for (kind, folds) in folds(33).iter().enumerate() {
            for (turn, setting) in settings().enumerate() {
                let rows = fold_rows(&sample, folds, setting);
                let lambdas = [1.0, 1e-3, 1e-6, 1e-9].into_iter().enumerate();
                for (at, lambda) in lambdas.filter(|(at, _)| all || (turn + kind + at).is_multiple_of(2)) {
                    let (mut state, mut random) = (state(&rows, lambda), SplitMix64::new((10 * kind + at) as u64));
                    let mut distance = Distance::default();
                    for turn in 0..8 {
                        distance.look(&mut state, &rows, MEASURES[turn % 4], lambda);
                        step(&mut state, 9, &mut random, 0.7);
                    }
                    distance.look(&mut state, &rows, Measure::Squared, lambda);
                    distance.assert(1e-11, 1e-11);
                    assert_eq!(distance.unreliable, 0);
                }
            }
        }
    }
}

#[test]
fn residuals_are_those_of_a_fit_without_the_fold() {
    let (sample, lambda, subset) = (sample(33, 9, 2), 1e-3, [4, 1, 7]);
    let folds = &folds(33)[1];
    let rows = fold_rows(&sample, folds, Setting(true, true, false));
    let mut state = state(&rows, lambda);
    subset.iter().for_each(|&i| state.add(i));
    let (residuals, refitted) =
        (state.residuals(), SubsetRefit::new(&rows, &subset).unwrap().residuals(lambda).unwrap());
    for row in 0..33 {
        let training: Vec<usize> = (0..33).filter(|&j| folds[j] != folds[row]).collect();
        let defined = sample.residuals(&training, &[row], &subset, lambda, true, true);
        for o in 0..2 {
            let defined = sample.weights[row].sqrt() * defined[[o, 0]];
            assert!((residuals[o][row] - defined).abs() < 1e-12);
            assert!((refitted[o][row] - defined).abs() < 1e-12);
        }
    }
}

#[test]
fn a_long_walk_does_not_drift() {
    let sample = sample(61, 14, 1);
    for (intercept, standardize, lambda) in
        [(true, false, 1e-9), (false, false, 1e-3), (true, true, 1e-9), (false, true, 1e-3)]
    {
        let rows = fold_rows(&sample, &folds(61)[1], Setting(intercept, intercept, standardize));
        let (mut state, mut random, mut distance) = (state(&rows, lambda), SplitMix64::new(8), Distance::default());
        let scorer = scorers(&rows, Measure::Squared).0;
        for turn in 0..400 {
            if turn % 8 == 0 {
                distance.look(&mut state, &rows, Measure::Squared, lambda);
            } else {
                let selected = state.selected().to_vec();
                state.removals(&scorer, &selected);
                state.additions(&scorer, &[turn % 14]);
            }
            step(&mut state, 14, &mut random, 0.5);
        }
        distance.assert(1e-12, 1e-11);
        assert!(distance.sound > 500);
    }
}

/// Generates columns equal to others up to 10^-1 to 10^-5, equal columns, sums of others, and one near 0 outside a
/// fold.
fn unreliable_sample(rows: usize, folds: &[u32]) -> Sample {
    let mut sample = sample(rows, 6, 1);
    let mut random = SplitMix64::new(3);
    for power in 1..6 {
        let small = 0.1f64.powi(power);
        let near = sample.doubles[power as usize].iter().map(|x| x + small * random.uniform()).collect();
        sample.doubles.push(near);
        let alone = (0..rows).map(|j| random.uniform() * if folds[j] == 1 { 1.0 } else { small * small }).collect();
        sample.doubles.push(alone);
    }
    let alone = (0..rows).map(|j| if folds[j] == 1 { random.uniform() } else { 0.0 }).collect();
    let sum = (0..rows).map(|j| sample.doubles[0][j] + sample.doubles[1][j]).collect();
    let equal = sample.doubles[2].clone();
    sample.doubles.extend([alone, sum, equal]);
    sample
}

/// Returns the tolerance of removals and scores. With standardization in folds, held-out rows are hundreds of standard
/// deviations away, which exposes all digits that their weights lose.
fn digits(lambda: f64, standardize: bool) -> f64 {
    if lambda > 1e-6 && !standardize { 1e-9 } else { 1e-7 }
}

#[test]
fn trials_that_are_not_weak_have_kept_their_digits() {
    for (rows, turns) in [(47, 24), (13, 16)] {
        let folds = &folds(rows)[0];
        let sample = unreliable_sample(rows, folds);
        let plain = [(true, 1.0), (false, 1e-3), (true, 1e-6), (true, 1e-9), (false, 1e-9)];
        for ((intercept, lambda), standardize) in
            plain.into_iter().flat_map(|setting| [(setting, false), (setting, true)])
        {
            let rows = fold_rows(&sample, folds, Setting(!intercept, intercept, standardize));
            let mut distance = Distance::default();
            let (mut state, mut random) = (state(&rows, lambda), SplitMix64::new(21));
            for _ in 0..turns {
                distance.look(&mut state, &rows, Measure::Squared, lambda);
                step(&mut state, 19, &mut random, 0.75);
            }
            // Refitting, too, loses digits of columns that are nearly 0 in a fold's training rows.
            distance.assert(1e-10, digits(lambda, standardize));
            assert!(distance.sound > 50 && (lambda > 1e-6 || distance.unreliable > 50));
        }
    }
}

#[test]
fn backward_from_all_columns_needs_no_candidates() {
    let plain = [(47, 1e-9), (47, 1.0), (13, 1e-6), (13, 1e-3)];
    for ((rows, lambda), standardize) in plain.into_iter().flat_map(|setting| [(setting, false), (setting, true)]) {
        let folds = &folds(rows)[0];
        let sample = unreliable_sample(rows, folds);
        let rows = fold_rows(&sample, folds, Setting(true, true, standardize));
        let (scorer, plain) = scorers(&rows, Measure::Squared);
        let mut state = state_with(&rows, lambda, &(0..19).collect::<Vec<_>>());
        let mut distance = Distance::default();
        while !state.selected().is_empty() {
            let selected = state.selected().to_vec();
            let score = state.score(&scorer);
            distance.scores = distance.scores.max(distance.error(score, &rows, &plain, &selected, lambda));
            let trials = state.removals(&scorer, &selected);
            let best = (0..trials.len()).min_by(|&a, &b| trials[a].loss.total_cmp(&trials[b].loss)).unwrap();
            for (&i, trial) in selected.iter().zip(trials) {
                let smaller: Vec<usize> = selected.iter().copied().filter(|k| *k != i).collect();
                distance.removals = distance.removals.max(distance.error(trial, &rows, &plain, &smaller, lambda));
            }
            state.remove(selected[best]);
        }
        distance.assert(0.0, digits(lambda, standardize));
        assert!(distance.unreliable == 0 || standardize);
        assert!(distance.sound > 20);
    }
}

#[test]
fn equal_columns_tie_bit_for_bit() {
    for outputs in [1, 2] {
        let mut sample = sample(45, 10, outputs);
        (0..4).for_each(|k| sample.doubles[9 - k] = sample.doubles[k].clone());
        let all = folds(45);
        for (intercept, folds, standardize) in
            [(true, &all[1], false), (false, &all[2], false), (true, &all[2], true), (false, &all[1], true)]
        {
            let rows = fold_rows(&sample, folds, Setting(true, intercept, standardize));
            let mut state = state(&rows, 1e-3);
            for (turn, measure) in MEASURES.into_iter().cycle().take(8).enumerate() {
                let scorer = scorers(&rows, measure).0;
                let pairs: Vec<usize> =
                    (0..4).filter(|k| ![*k, 9 - k].iter().any(|i| state.selected().contains(i))).collect();
                let mirrored: Vec<usize> = pairs.iter().map(|k| 9 - k).collect();
                let losses = |trials: Vec<Trial>| trials.iter().map(|t| t.loss.to_bits()).collect::<Vec<_>>();
                let one_side = losses(state.additions(&scorer, &pairs));
                assert_eq!(one_side, losses(state.additions(&scorer, &mirrored)));
                assert!(!one_side.is_empty());
                if turn % 3 == 2 {
                    state.remove([4, 0, 5][turn / 3]);
                } else {
                    state.add([4, 0, 0, 5, 8, 0, 1, 2][turn]);
                }
            }
        }
    }
}

/// Returns the bits of all losses on a short walk, with decomposition and without.
fn bits(sample: &Sample, folds: &[u32], measure: Measure, standardize: bool) -> Vec<u64> {
    let rows = fold_rows(sample, folds, Setting(true, true, standardize));
    let (mut state, scorer) = (state(&rows, 0.01), scorers(&rows, measure).0);
    let all: Vec<usize> = (0..rows.data.columns()).collect();
    let mut out = Vec::new();
    for turn in 0..8 {
        out.extend(state.additions(&scorer, &all).iter().map(|t| t.loss.to_bits()));
        out.extend(state.removals(&scorer, &all).iter().map(|t| t.loss.to_bits()));
        out.push(state.score(&scorer).loss.to_bits());
        match turn {
            3 => state.remove(1),
            5 => state = state_with(&rows, 0.01, &[3, 0, 6, 2]),
            _ => state.add(turn),
        }
    }
    out
}

#[test]
fn levels_and_threads_give_the_same_bits() {
    for (rows, outputs) in [(4333, 1), (301, 2)] {
        let sample = sample(rows, 8, outputs);
        for (measure, standardize) in
            [(Measure::Squared, false), (Measure::Absolute, false), (Measure::Squared, true), (Measure::ZeroOne, true)]
        {
            let folds = &folds(rows)[1];
            let bits = || bits(&sample, folds, measure, standardize);
            let baseline = Level::available()[0].within(bits);
            for level in Level::available() {
                level.within(|| {
                    assert_eq!(bits(), baseline, "{}", level.name());
                });
            }
            for threads in 1..4 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(bits), baseline, "{threads}");
            }
        }
    }
}

#[test]
fn a_fork_tries_what_its_state_tries_and_others() {
    [false, true].into_iter().for_each(a_fork_tries_columns);
}

fn a_fork_tries_columns(standardize: bool) {
    let sample = sample(33, 9, 1);
    let rows = fold_rows(&sample, &folds(33)[1], Setting(false, true, standardize));
    let (scorer, mut parent) = (scorers(&rows, Measure::Squared).0, state(&rows, 0.1));
    parent.add(0);
    parent.additions(&scorer, &[2, 5, 7]);
    let (mut child, mut plain) = (parent.fork(&[5, 6]), state(&rows, 0.1));
    child.add(2);
    [0, 2].iter().for_each(|&i| plain.add(i));
    assert_eq!((child.selected(), parent.selected()), (&[0, 2][..], &[0][..]));
    let losses = |state: &mut HoldOut<'_>| -> Vec<f64> {
        state.additions(&scorer, &[5, 6, 7]).iter().map(|trial| trial.loss).collect()
    };
    let (child_losses, plain_losses) = (losses(&mut child), losses(&mut plain));
    assert_eq!(child_losses, plain_losses);
    assert_eq!(child.score(&scorer).loss, plain.score(&scorer).loss);
}

#[test]
fn columns_that_cannot_change_are_not_tried() {
    let sample = sample(33, 9, 1);
    let targets: Vec<&[f64]> = sample.targets.iter().map(Vec::as_slice).collect();
    let active = (0..9).map(|i| i != 4).collect();
    let columns: ColumnEntries<'_> = sample.columns().into_iter().collect();
    let data = Data::new(columns.with_active(active), &targets, None, true, None).unwrap();
    let rows = Arc::new(FoldedRows::new(data, Folds::new(&folds(33)[1]), false));
    let (scorer, mut state) = (scorers(&rows, Measure::Squared).0, state_with(&rows, 0.1, &[4, 1, 1, 3]));
    state.add(4);
    state.add(1);
    state.remove(7);
    assert_eq!(state.selected(), [1, 3]);
    assert!(state.additions(&scorer, &[1, 4]).iter().all(|trial| trial.loss.is_infinite()));
    assert!(state.removals(&scorer, &[0, 4]).iter().all(|trial| trial.loss.is_infinite()));
    assert!(state.removals(&scorer, &[3])[0].loss.is_finite());
}

/// Two columns are opposite in training rows and equal in the last two, which a fit in fractions predicts by 0.
#[test]
fn columns_that_differ_in_held_out_rows_alone_keep_their_digits() {
    let x = vec![1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0];
    let other = x.iter().enumerate().map(|(row, x)| if row < 8 { -x } else { *x }).collect();
    let y = vec![0.95, -2.11, 0.51, -2.09, 3.09, 1.95, -0.71, 0.49, 0.87, 0.56];
    let weights = vec![0.5, 1.04, 1.13, 0.62, 1.37, 1.34, 1.3, 1.42, 1.39, 0.75];
    let sample = Sample { weights, ..Sample::new(vec![x, other], vec![y]) };
    let rows = sample.rows(&[1, 1, 1, 1, 1, 1, 1, 1, 0, 0], true, false, false);
    let residuals = SubsetRefit::new(&rows, &[0, 1]).unwrap().residuals(2.3e-11).unwrap();
    for row in [8, 9] {
        let error = residuals[0][row] / sample.weights[row].sqrt() - sample.targets[0][row];
        assert!(error.abs() < 1e-12, "{error:e}");
    }
}
