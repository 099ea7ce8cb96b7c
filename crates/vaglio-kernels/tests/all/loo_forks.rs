//! Forks of states against states that are rebuilt, on every instruction set.

use std::sync::Arc;
use vaglio_columns::{Column, Measure};
use vaglio_kernels::loo::LooState;
use vaglio_kernels::{Data, Level, Scorer};

const COUNT: usize = 7;

/// Column 5 is column 4 with a little of column 0; the last equals column 3.
fn columns(rows: usize) -> Vec<Vec<f64>> {
    let entry = |j: usize, k: usize| ((j * 37 + k * 101 + j * j * (k + 3)) % 251) as f64 / 25.0 - 4.0;
    let mut columns: Vec<Vec<f64>> = (0..COUNT).map(|k| (0..rows).map(|j| entry(j, k)).collect()).collect();
    columns[5] = columns[4].iter().zip(&columns[0]).map(|(a, b)| a + 1e-3 * b).collect();
    columns[6] = columns[3].clone();
    columns
}

/// Every loss of the tree in the order of the walk, each checked against a state that is rebuilt.
struct Walk<'d> {
    data: Arc<Data<'d>>,
    scorer: Scorer,
    lambda: f64,
    losses: Vec<f64>,
}

impl Walk<'_> {
    fn visit(&mut self, state: &mut LooState<'_>, later: &[usize], ask_first: bool) {
        let subset: Vec<usize> = state.selected().collect();
        let mut tied = Vec::new();
        let tried: &[usize] = if ask_first || subset.len().is_multiple_of(2) { later } else { &[] };
        for (feature, trial) in tried.iter().zip(state.trials(&self.scorer, tried)) {
            let loss = trial.loss;
            let all = subset.iter().chain([feature]).copied();
            let rebuilt = LooState::new(Arc::clone(&self.data), self.lambda, all).score(&self.scorer).loss;
            assert!((loss - rebuilt).abs() <= 1e-9 * rebuilt, "{subset:?} and {feature}: {loss} is not {rebuilt}");
            self.losses.push(loss);
            if [3, 6].contains(feature) {
                tied.push(loss.to_bits());
            }
        }
        assert!(tied.len() < 2 || tied[0] == tied[1], "equal columns after {subset:?}");
        let before = format!("{:?}", state.trials(&self.scorer, tried));
        for (place, &feature) in later.iter().enumerate() {
            let mut fork = state.fork(&later[place..]);
            fork.add(feature);
            self.visit(&mut fork, &later[place + 1..], ask_first);
        }
        assert_eq!(format!("{:?}", state.trials(&self.scorer, tried)), before, "a fork changes nothing of {subset:?}");
    }
}

fn walk(outputs: usize, measure: Measure, ask_first: bool) -> Vec<f64> {
    let columns = columns(45);
    let targets: Vec<Vec<f64>> = (0..outputs)
        .map(|o| (0..45).map(|j| columns[o][j] - columns[2][j] + ((j * 13) % 7) as f64).collect())
        .collect();
    let targets: Vec<&[f64]> = targets.iter().map(Vec::as_slice).collect();
    let views = columns.iter().map(|x| Column::Double(x)).collect();
    let data = Arc::new(Data::new(views, &targets, None, true, None).unwrap());
    let scorer = Scorer::new(Arc::clone(&data.targets), measure);
    let all: Vec<usize> = (0..COUNT).collect();
    let mut root = LooState::new(Arc::clone(&data), 0.3, []);
    let mut walk = Walk { data, scorer, lambda: 0.3, losses: Vec::new() };
    walk.visit(&mut root, &all, ask_first);
    walk.losses
}

#[test]
fn every_subset_scores_as_a_state_that_is_built_anew_with_the_same_bits_on_every_level() {
    for (outputs, measure) in [(1, Measure::Squared), (2, Measure::Squared), (1, Measure::Absolute)] {
        let baseline = Level::available()[0].within(|| walk(outputs, measure, true));
        assert_eq!(baseline.len(), (1 << COUNT) - 1);
        for level in Level::available() {
            level.within(|| {
                assert_eq!(walk(outputs, measure, true), baseline, "{}", level.name());
            });
        }
    }
}

#[test]
fn a_fork_of_a_state_that_was_never_tried_is_the_same() {
    assert!(!walk(1, Measure::Squared, false).is_empty());
}
