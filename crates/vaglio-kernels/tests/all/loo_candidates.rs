//! Candidates of leave-one-out: what is cached changes no bit, and bounds stay below trials.

use crate::sample::Sample;
use std::sync::Arc;
use vaglio_columns::Measure;
use vaglio_kernels::loo::LooState;
use vaglio_kernels::{Data, Level, Scorer, Trial};

fn entry(column: usize, row: usize) -> f64 {
    ((row * (column + 3)) as f64 * 0.37).sin() + ((row + column) as f64 * 1.7).cos()
}

fn sample(rows: usize, count: usize, entry: impl Fn(usize, usize) -> f64) -> Sample {
    let columns: Vec<Vec<f64>> = (0..count).map(|c| (0..rows).map(|j| entry(c, j)).collect()).collect();
    let target = (0..rows).map(|j| (j as f64 * 0.11).sin() + columns[2][j]).collect();
    Sample::new(columns, vec![target])
}

fn digits(trials: &[Trial]) -> Vec<String> {
    trials.iter().map(|trial| format!("{trial:?}")).collect()
}

#[test]
fn trials_of_which_nothing_is_cached_have_the_bits_of_a_cache_that_is_just_made() {
    let sample = sample(307, 45, entry);
    let wanted: Vec<usize> = (0..45).rev().collect();
    for measure in [Measure::Squared, Measure::Absolute] {
        for size in [0, 4] {
            let data = sample.data(false, true);
            let scorer = Scorer::new(Arc::clone(&data.targets), measure);
            let mut state = LooState::new(data, 1e-3, 10..10 + size);
            let alone = digits(&state.trials_once(&scorer, &wanted));
            assert_eq!(alone, digits(&state.trials(&scorer, &wanted)), "{measure:?} {size}");
        }
    }
}

/// Covers columns that nearly depend on added ones, and removals in between.
#[test]
fn a_trial_has_the_bits_that_it_has_whichever_others_were_tried_before() {
    let count = 24;
    let sample = sample(101, count, |c, j| entry(c % 6, j) + if c < 6 { 0.0 } else { 1e-9 * entry(c, j) });
    let data = sample.data(false, true);
    for measure in [Measure::Squared, Measure::Absolute] {
        let scorer = Scorer::new(Arc::clone(&data.targets), measure);
        let mut states = [(); 3].map(|()| LooState::new(Arc::clone(&data), 1e-12, []));
        states.iter_mut().for_each(|state| drop(state.trials(&scorer, &[])));
        let all: Vec<usize> = (0..count).collect();
        for (step, feature) in [2, 0, 4, 1, 0, 9, 3].into_iter().enumerate() {
            let all_trials = digits(&states[0].trials(&scorer, &all));
            let few: Vec<usize> = all.iter().copied().filter(|f| (f + step) % 3 == 0).collect();
            let few_trials = digits(&states[1].trials(&scorer, &few));
            assert_eq!(
                few_trials,
                few.iter().map(|f| all_trials[*f].clone()).collect::<Vec<_>>(),
                "{measure:?} {step}"
            );
            if step == 6 {
                assert_eq!(digits(&states[2].trials(&scorer, &all)), all_trials);
            }
            for state in &mut states {
                if step == 4 {
                    assert!(state.remove(feature));
                } else {
                    state.add(feature);
                }
            }
        }
    }
}

/// Bounds of candidates that were tried before are raised, and those that read no data are lower, and all stay below
/// the trials.
#[test]
fn bounds_stay_below_trials_whose_bits_no_earlier_trial_changes() {
    let noise = |j: usize, c: usize| ((j * (2 * c + 3) + c) as f64 * 0.71).sin() * ((j + 7 * c) as f64 * 1.3).cos();
    let mut raised = 0;
    for (rows, outlier) in [(40, 0.0), (60, 3.0), (5000, 0.0), (5000, 30.0)] {
        let count = 9;
        let entry = |c, j| noise(j, c) + 0.5 * noise(j, 0) + if j % 17 == c { outlier } else { 0.0 };
        let columns = (0..count).map(|c| (0..rows).map(|j| entry(c, j)).collect()).collect();
        let targets = (0..2).map(|o| (0..rows).map(|j| noise(j, 20 + o) + noise(j, 2)).collect()).collect();
        let sample = Sample::new(columns, targets);
        let data = sample.data(false, true);
        let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
        let mut found: Option<Vec<String>> = None;
        for level in Level::available() {
            level.within(|| {
                let trials = walk(&data, &scorer, count, &mut raised);
                assert_eq!(*found.get_or_insert_with(|| trials.clone()), trials, "{}", level.name());
            });
        }
    }
    assert!(raised > 0);
}

/// Adds all columns but the last two. Counts the bounds that earlier trials raise.
fn walk(data: &Arc<Data<'_>>, scorer: &Scorer, count: usize, raised: &mut usize) -> Vec<String> {
    let [mut tried, mut untried] = [(); 2].map(|()| LooState::new(Arc::clone(data), 0.3, []));
    for feature in 0..count - 2 {
        let bounds = tried.bounds(scorer, false).unwrap();
        let near = tried.bounds(scorer, true);
        let more = tried.refinements(scorer);
        for candidate in feature..count {
            let loss = tried.trials_once(scorer, &[candidate])[0].loss * (1.0 + 1e-9);
            let bound = bounds[candidate];
            assert!(bound + more[candidate] <= loss, "{bound} and {} above {loss}", more[candidate]);
            assert!(near.as_ref().is_none_or(|near| near[candidate] <= loss));
            *raised += usize::from(more[candidate] > 0.0);
        }
        drop(untried.bounds(scorer, false));
        drop(tried.bounded_trials(scorer, &(feature..count).collect::<Vec<_>>()));
        tried.add(feature);
        untried.add(feature);
    }
    let places = [count - 2, count - 1];
    drop((tried.bounds(scorer, false), untried.bounds(scorer, false)));
    let found = digits(&tried.bounded_trials(scorer, &places));
    assert_eq!(digits(&untried.bounded_trials(scorer, &places)), found);
    found
}
