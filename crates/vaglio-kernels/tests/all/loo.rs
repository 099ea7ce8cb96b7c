//! The leave-one-out states against refitting without each row, on every instruction set.

use crate::sample::Sample;
use std::sync::Arc;
use vaglio_columns::{Column, Measure};
use vaglio_kernels::kfold::{Decomposition, FoldedRows};
use vaglio_kernels::loo::{ClassSums, ColumnChange, LooState, RowSpectrum};
use vaglio_kernels::{Data, Folds, Level, Scorer, is_unreliable};
use vaglio_testkit::SplitMix64;

/// Generates columns of both types, two outputs and integer weights; `rows` is no multiple of the lane count.
fn sample(rows: usize) -> Sample {
    let mut random = SplitMix64::new(3);
    let mut next = || random.uniform();
    let doubles: Vec<Vec<f64>> = (0..6).map(|_| (0..rows).map(|_| next() - 0.3).collect()).collect();
    let bytes: Vec<Vec<u8>> = (0..4).map(|_| (0..rows).map(|_| (next() * 9.0) as u8).collect()).collect();
    let target = |k: usize| (0..rows).map(|j| doubles[k][j] + 0.1 * f64::from(bytes[k][j])).collect::<Vec<f64>>();
    let mut targets = vec![target(0), target(1)];
    targets.iter_mut().flatten().for_each(|y| *y += 0.5 * next());
    let weights = (0..rows).map(|_| 1.0 + (next() * 3.0).floor()).collect();
    Sample { doubles, bytes, targets, weights }
}

/// Runs a greedy search by both states: scores of every candidate per step by the full pass, and winners by bounds.
fn greedy(data: &Arc<Data<'_>>, lambda: f64, measure: Measure) -> (Vec<Vec<f64>>, Vec<usize>) {
    let scorer = Scorer::new(Arc::clone(&data.targets), measure);
    let mut full = LooState::new(Arc::clone(data), lambda, []);
    let mut bounded = LooState::new(Arc::clone(data), lambda, []);
    let (mut scores, mut chosen) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let open: Vec<usize> = (0..10).filter(|f| !chosen.contains(f)).collect();
        let losses: Vec<f64> = full.trials(&scorer, &open).iter().map(|t| t.loss).collect();
        let best = (0..open.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap();
        if matches!(measure, Measure::Squared) {
            let bounds = bounded.bounds(&scorer, false).unwrap();
            assert!(data.candidates.iter().copied().eq(0..10));
            assert_eq!(bounds.len(), 10);
            for (k, trial) in bounded.bounded_trials(&scorer, &open).iter().enumerate() {
                assert!((trial.loss - losses[k]).abs() <= 1e-12 * losses[k]);
                let bound = bounds[open[k]];
                assert!(bound <= losses[k], "a bound of {bound} above {}", losses[k]);
            }
        }
        full.add(open[best]);
        bounded.add(open[best]);
        chosen.push(open[best]);
        scores.push(losses);
    }
    let (a, b) = (full.score(&scorer).loss, scores[4].iter().copied().fold(f64::INFINITY, f64::min));
    assert!((a - b).abs() <= 1e-12 * b.abs());
    (scores, chosen)
}

fn losses(state: &LooState<'_>, scorer: &Scorer, changes: &[ColumnChange]) -> Vec<f64> {
    state.residuals_after(changes).0.iter().map(|residuals| scorer.loss(residuals)).collect()
}

#[test]
fn trials_equal_refitting_without_each_row() {
    let sample = sample(37);
    for (weighted, intercept) in [(false, false), (false, true), (true, false), (true, true)] {
        for lambda in [1e-6, 1.0, 1e6] {
            let data = sample.data(weighted, intercept);
            let (scores, chosen) = greedy(&data, lambda, Measure::Squared);
            for (step, losses) in scores.iter().enumerate() {
                let open = (0..10).filter(|f| !chosen[..step].contains(f));
                for (candidate, loss) in open.zip(losses) {
                    let subset: Vec<usize> = chosen[..step].iter().copied().chain([candidate]).collect();
                    let defined = sample.leave_one_out(&subset, lambda, weighted, intercept);
                    assert!((loss - defined).abs() <= 1e-10 * defined, "{loss} is not {defined}");
                }
            }
        }
    }
}

#[test]
fn every_level_gives_the_same_bits() {
    let sample = sample(4111);
    for measure in [Measure::Squared, Measure::Absolute] {
        let run = || greedy(&sample.data(true, true), 0.5, measure);
        let baseline = Level::available()[0].within(run);
        for level in Level::available() {
            level.within(|| {
                assert_eq!(run(), baseline, "{}", level.name());
            });
        }
    }
}

#[test]
fn residuals_after_a_change_give_the_loss_of_a_reliable_trial() {
    let sample = sample(37);
    let data = sample.data(true, true);
    let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
    let mut state = LooState::new(Arc::clone(&data), 1.0, []);
    state.add(3);
    state.add(7);
    let quick = state.score(&scorer).loss;
    assert!((losses(&state, &scorer, &[ColumnChange::None])[0] - quick).abs() <= 1e-12 * quick);
}

#[test]
fn removals_alone_are_those_of_a_state() {
    for rows in [37, 4111] {
        let sample = sample(rows);
        for (weighted, intercept) in [(false, false), (true, true)] {
            let data = sample.data(weighted, intercept);
            let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
            for (lambda, subset) in [(1e-9, vec![0, 3, 7]), (1.0, vec![9, 2, 4, 0]), (1e6, (0..10).collect())] {
                let mut whole = LooState::new(Arc::clone(&data), lambda, subset.iter().copied());
                let mut alone = LooState::for_removals(Arc::clone(&data), lambda, subset.clone());
                let expected = whole.removals(&scorer, &subset);
                for (trial, expected) in alone.removals(&scorer, &subset).iter().zip(&expected) {
                    assert!((trial.loss - expected.loss).abs() <= 1e-12 * expected.loss);
                }
                let (a, b) = (alone.score(&scorer).loss, whole.score(&scorer).loss);
                assert!((a - b).abs() <= 1e-12 * b);
            }
        }
    }
}

#[test]
fn bounds_give_way_to_the_full_pass_without_a_change() {
    let sample = sample(203);
    let data = sample.data(true, true);
    let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
    let mut bounded = LooState::new(Arc::clone(&data), 1e-3, []);
    bounded.add(2);
    bounded.bounds(&scorer, false);
    bounded.bounded_trials(&scorer, &[0, 3]);
    bounded.add(8);
    let open: Vec<usize> = (0..10).filter(|f| ![2, 8].contains(f)).collect();
    let mut fresh = LooState::new(Arc::clone(&data), 1e-3, [2, 8]);
    let (a, b) = (bounded.trials(&scorer, &open), fresh.trials(&scorer, &open));
    for (a, b) in a.iter().zip(&b) {
        assert!((a.loss - b.loss).abs() <= 1e-12 * b.loss);
    }
}

/// A row alone in its column has leverage 1 for tiny λ; bounds omit it and stay below exact losses.
#[test]
fn bounds_hold_where_a_row_is_unreliable() {
    let mut sample = sample(23);
    sample.doubles[2] = (0..23).map(|j| if j == 5 { 2.0 } else { 0.0 }).collect();
    for (lambda, intercept) in [(1e-18, false), (1e-18, true), (1e-9, true)] {
        let data = sample.data(true, intercept);
        let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
        let mut bounded = LooState::new(Arc::clone(&data), lambda, []);
        for chosen in [2, 4, 7, 0] {
            bounded.add(chosen);
            let bounds = bounded.bounds(&scorer, false).unwrap();
            let candidates: Vec<ColumnChange> = data.candidates.iter().map(|&f| ColumnChange::Add(f)).collect();
            let losses = losses(&bounded, &scorer, &candidates);
            for (bound, loss) in bounds.iter().zip(&losses) {
                assert!(*bound <= loss * (1.0 + 1e-9), "after {chosen}, lambda {lambda}: {bound} above {loss}");
            }
        }
    }
}

/// Columns with only one or two nonzero rows, among many rows: the other rows are reduced to a triangle once.
#[test]
fn rows_that_carry_columns_alone_are_left_out_of_many_others() {
    let mut sample = sample(83);
    let alone = |rows: &[usize]| (0..83).map(|j| if rows.contains(&j) { 3.0 } else { 0.0 }).collect::<Vec<f64>>();
    sample.doubles[1] = alone(&[5]);
    sample.doubles[3] = alone(&[40, 41]);
    sample.doubles[5] = alone(&[70]);
    let subset = [0, 1, 3, 4, 5, 8];
    for (lambda, weighted, intercept) in
        [(1e-6, true, true), (1e-6, false, false), (1e-9, true, true), (1e-9, true, false), (1e-12, false, true)]
    {
        let data = sample.data(weighted, intercept);
        let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
        let state = LooState::new(Arc::clone(&data), lambda, subset);
        assert!(is_unreliable(state.score(&scorer).conditioning));
        if lambda > 1e-8 {
            let rows = FoldedRows::new(Arc::clone(&data), Folds::single(83), false);
            let all: Vec<usize> = (0..83).collect();
            let (residuals, conditioning) = Decomposition::new(&rows, &subset).unwrap().residuals(lambda, &all);
            assert!(!is_unreliable(conditioning));
            let (loss, defined) = (scorer.loss(&residuals), sample.leave_one_out(&subset, lambda, weighted, intercept));
            assert!((loss - defined).abs() <= 1e-9 * defined, "at once, lambda {lambda}: {loss} is not {defined}");
        }
        let removals = subset.iter().map(|&feature| ColumnChange::Remove(feature));
        let changes: Vec<ColumnChange> = std::iter::once(ColumnChange::None).chain(removals).collect();
        for (change, loss) in changes.iter().zip(losses(&state, &scorer, &changes)) {
            let defined = sample.leave_one_out(&change.apply(subset.into_iter()), lambda, weighted, intercept);
            assert!((loss - defined).abs() <= 1e-9 * defined, "{change:?}, lambda {lambda}: {loss} is not {defined}");
        }
    }
}

/// Checks leave-one-out residuals after the last column is added to the others.
fn check_left_out<const M: usize>(
    columns: &[[f64; M]],
    targets: [f64; M],
    weights: [f64; M],
    lambda: f64,
    exact: [f64; M],
) {
    for level in Level::available() {
        level.within(|| {
            let entries = columns.iter().map(|column| Column::Double(column)).collect();
            let data = Data::new(entries, &[&targets], Some(&weights), true, None).unwrap();
            let state = LooState::new(Arc::new(data), lambda, 0..columns.len() - 1);
            let found = state.residuals_after(&[ColumnChange::Add(columns.len() - 1)]).0;
            for ((found, exact), weight) in found[0][0].iter().zip(exact).zip(weights) {
                let found = found / f64::sqrt(weight);
                assert!((found / exact - 1.0).abs() < 1e-7, "{found} is not {exact}");
            }
        });
    }
}

/// Two columns are opposite except in the last row, and row weights range from 0.02 to 21 805; reference residuals have
/// 60 digits.
#[test]
fn a_row_that_outweighs_all_others_costs_no_digits() {
    check_left_out(
        &[[-1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]],
        [-0.24492423262979054, -0.3252897510062801, -2.441157449976607, -1.7579804366777263],
        [0.05759649747324958, 0.022429234587164185, 3816.41601011141, 21804.870863955904],
        1.5030193128266785e-11,
        [2.196233217346816, 1.4326906856714463, -2.196233217248106, -0.3747734083779962],
    );
}

/// Columns fit every row, and one row has 1e12 times the weight of the others; reference residuals have 60 digits.
#[test]
fn a_heavy_row_costs_no_digits_where_columns_fit_every_row() {
    check_left_out(
        &[[-1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, 1.0]],
        [-0.25, -0.33, -2.44, -1.76],
        [1e8, 1e-4, 1e-4, 1e-4],
        1e-11,
        [1.8499999821250008, 1.429999962250001, -2.19, -1.4700000005],
    );
}

/// The second row weighs 100 000 times as much as all others, whose classes weigh as much as each other.
#[test]
fn a_row_that_outweighs_all_others_is_predicted_by_a_tie_of_their_classes() {
    let mut sample = Sample::new(vec![(0..6).map(f64::from).collect()], vec![vec![1.0, -1.0, -1.0, 1.0, 1.0, -1.0]]);
    sample.weights = vec![0.35, 187_654.3, 0.3, 0.25, 0.4, 0.7];
    let data = sample.data(true, true);
    let heavy = |residuals: &[Vec<f64>]| residuals[0][1] / sample.weights[1].sqrt();
    let state = LooState::new(Arc::clone(&data), 1.0, []).residuals_after(&[ColumnChange::None]).0.remove(0);
    assert!((heavy(&state) + 1.0).abs() < 1e-14, "{:e}", heavy(&state) + 1.0);
    let rows: Vec<Vec<usize>> = (0..6).map(|row| vec![row]).collect();
    let sums = ClassSums::new(&data, &[1, 0, 0, 1, 1, 0], &[]).unwrap();
    let sums = sums.residuals(&rows, |row| sample.weights[row], 1.0).0;
    assert!((heavy(&sums) + 1.0).abs() < 1e-14, "{:e}", heavy(&sums) + 1.0);
}

/// Without the third row all columns are constant. Its 1 − leverage is as small as λ, others' are not.
#[test]
fn a_row_that_alone_moves_more_columns_than_rows_has_few_digits_at_once() {
    let column = |sign: f64| [1.0, 1.0, -1.0, 1.0, 1.0].map(|x| sign * x).to_vec();
    let columns = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0].map(column).to_vec();
    let sample = Sample::new(columns, vec![vec![2.13, 1.82, 1.42, -0.34, 0.13]]);
    let data = sample.data(false, true);
    let conditioning = |lambda: f64| RowSpectrum::new(&data, &[0, 1, 2, 3, 4, 5, 6]).unwrap().residuals(lambda).1;
    assert!(is_unreliable(conditioning(3.7e-11)) && !is_unreliable(conditioning(3.7e-2)));
}
