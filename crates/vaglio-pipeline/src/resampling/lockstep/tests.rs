//! Early stopping of searches, and its effects.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::learners::Rls;
use crate::resampling::loss_sums::{EVERY, TargetsAndPredictions};
use crate::resampling::{ChosenSearch, Sample, select};
use crate::selector::{Selector, ValidSelector};
use linfa::ParamGuard;
use ndarray::Array2;
use std::sync::Arc;
use vaglio_core::{Columns, Lambda, Problem, Score, Squared, StopReason, Task};
use vaglio_report::record::{Cell, LossTable};
use vaglio_search::{Backward, Choose, CrossValidation, Floating, Greedy, Monitor, Search, Silent};
use vaglio_testkit::SplitMix64;
use vaglio_validate::Loo;

const CHECKPOINTS: [usize; 9] = [20, 25, 30, 35, 40, 45, 50, 55, 60];

/// Search paths of one fold, which add one feature after another, given the row losses of every size from 0.
fn walks(sizes: usize, losses: impl Fn(usize) -> Vec<f64>) -> LambdaPaths {
    let tally = |size: usize| {
        let roots: Vec<f64> = losses(size).into_iter().map(f64::sqrt).collect();
        let predictions = Array2::from_shape_fn((1, roots.len()), |(_, row)| roots[row]);
        let targets = Array2::zeros((1, roots.len()));
        let (targets, predictions) = (targets.view(), predictions.view());
        let compared = TargetsAndPredictions { targets, predictions, weights: None, units: None, clusters: None };
        LossSums::new(&Squared, compared, EVERY)
    };
    let score = Score { loss: 1.0, lambda: None };
    let mut path = Path::stopped(score, StopReason::Patience);
    path.entries = (1..=sizes).map(|size| PathEntry::new((0..size).collect(), score)).collect();
    path.allowed = 0..=sizes + 1;
    let mut trail = FoldPath::new(path, usize::MAX);
    trail.empty = tally(0);
    trail.sizes = (1..=sizes).map(|size| (size, tally(size))).collect();
    LambdaPaths { lambda: None, folds: vec![Arc::new(trail)], end: Some(sizes), everything: 1000, repeats: 1 }
}

/// First checkpoint at which searches with the lowest loss at a size end.
fn first_end(lowest: usize, patience: usize) -> usize {
    let curve = |size: usize| vec![1.0 + (size as f64 - lowest as f64).abs(); 8];
    let ended = |&checkpoint: &usize| {
        let walks = walks(checkpoint, curve);
        ends(&Squared, Some(patience), &[walks], &[], checkpoint).unwrap()[0]
    };
    CHECKPOINTS.into_iter().find(ended).unwrap()
}

#[test]
fn checkpoints_are_five_or_a_tenth_apart() {
    let all: Vec<usize> = std::iter::successors(Some(FIRST_CHECKPOINT), |&size| Some(next(size))).take(11).collect();
    assert_eq!(all[..9], CHECKPOINTS);
    assert_eq!(all[9..], [66, 72]);
}

#[test]
fn walks_end_where_patience_does_and_never_before_the_first_checkpoint() {
    for (lowest, patience, end) in [
        (0, 10, 20),
        (8, 1, 20),
        (10, 10, 20),
        (11, 10, 25),
        (15, 10, 25),
        (16, 10, 30),
        (20, 10, 30),
        (21, 10, 35),
        (19, 1, 20),
        (5, 50, 55),
    ] {
        assert_eq!(first_end(lowest, patience), end, "lowest at {lowest}, patience {patience}");
    }
}

#[test]
fn a_lambda_far_above_the_lowest_is_given_up_and_a_noisy_one_is_not() {
    let curve = |above: f64, noise: f64| {
        move |size: usize| {
            let row =
                |row: usize| 10.0 - size as f64 / 10.0 + above + if row.is_multiple_of(2) { noise } else { -noise };
            (0..64).map(row).collect::<Vec<f64>>()
        }
    };
    for (above, noise, is_given_up) in [(3.0, 0.5, true), (3.0, 6.0, false), (0.0, 0.0, false)] {
        let (best, other) = (walks(20, curve(0.0, 0.0)), walks(20, curve(above, noise)));
        let found = ends(&Squared, Some(10), &[other.clone(), best], &[], 20).unwrap();
        assert_eq!(found, [is_given_up, false]);
        // Ended searches are still compared, up to the same size.
        let beyond = walks(40, |size| if size > 20 { vec![0.0; 64] } else { curve(0.0, 0.0)(size) });
        let found = ends(&Squared, Some(10), &[other], &[&beyond], 20).unwrap();
        assert_eq!(found, [is_given_up]);
    }
}

/// 60 rows of 90 columns; three determine the target, with noise.
fn problem() -> Problem {
    let mut random = SplitMix64::new(17);
    let columns: Vec<Vec<f64>> = (0..90).map(|_| (0..60).map(|_| random.normal()).collect()).collect();
    let y = (0..60).map(|row| columns[3][row] - columns[40][row] + 0.7 * columns[77][row] + random.normal()).collect();
    let mut all = Columns::new(60);
    columns.into_iter().for_each(|column| all.push(column));
    let names = (0..90).map(|k| format!("x{k}")).collect();
    Problem::new(all, names, Array2::from_shape_vec((1, 60), y).unwrap(), vec!["y".into()], Task::Regression).unwrap()
}

fn choose_search(search: Search, lambdas: &[f64]) -> ChosenSearch {
    choose_search_in(MemorySlots::default(), search, lambdas)
}

fn choose_search_in(room: MemorySlots, search: Search, lambdas: &[f64]) -> ChosenSearch {
    let (selector, sample, design) = prepare_in(room, search, lambdas);
    select(&selector, &sample, &design, Instant::now(), &mut Monitor::from(&mut Silent)).unwrap()
}

fn prepare_in(room: MemorySlots, search: Search, lambdas: &[f64]) -> (ValidSelector, Sample, Design) {
    let lambda: Lambda = serde_json::from_value(serde_json::json!({ "values": lambdas })).unwrap();
    let (criterion, learner) = (Arc::new(Loo::default()), Arc::new(Rls { lambda, ..Rls::default() }));
    let selector = Selector::params(criterion, search, learner).seed(4).check().unwrap();
    let selector = ValidSelector { room, ..selector };
    let problem = problem();
    let design = selector.design(&problem).unwrap();
    (selector, Sample::plain(problem, false), design)
}

fn by(patience: Option<usize>) -> Choose {
    CrossValidation { patience, ..CrossValidation::default() }.into()
}

fn same(cell: &Cell, whole: &Cell) -> bool {
    cell.size == whole.size && (cell.loss - whole.loss).abs() <= 1e-10 * whole.loss
}

/// Size at which searches with these losses end, by a plain loop.
fn plain_end(cells: &[Cell]) -> usize {
    let most = cells.last().unwrap().size;
    let lowest = |until: usize| {
        let first = |best: Cell, cell: &Cell| if cell.loss < best.loss { *cell } else { best };
        cells.iter().take_while(|cell| cell.size <= until).fold(cells[0], first).size
    };
    std::iter::successors(Some(FIRST_CHECKPOINT), |&size| Some(next(size)))
        .take_while(|&size| size < most)
        .find(|&size| lowest(size) + 10 <= size)
        .unwrap_or(most)
}

#[test]
fn losses_are_those_of_whole_walks_cut_where_the_plain_loop_ends() {
    let lambdas = [0.1, 1.0, 10.0, 100.0, 1e5];
    let greedy = |choose| Search::new(Greedy {}).choose(choose);
    let run = |patience, lambdas: &[f64]| choose_search(greedy(by(patience)), lambdas);
    let (cut, whole) = (run(Some(10), &lambdas), run(None, &lambdas));
    let tables: [&LossTable; 2] = [cut.chosen.table.as_ref().unwrap(), whole.chosen.table.as_ref().unwrap()];
    let (mut shorter, mut given_up) = (0, 0);
    for (cells, whole) in tables[0].cells.iter().zip(&tables[1].cells) {
        assert!(cells.iter().zip(whole).all(|(cell, whole)| same(cell, whole)), "{cells:?} of {whole:?}");
        let (end, expected) = (cells.last().unwrap().size, plain_end(whole));
        given_up += usize::from(end < expected);
        shorter += usize::from(end < whole.last().unwrap().size);
        assert!(end <= expected && (end == expected || CHECKPOINTS.contains(&end)), "{end} is not {expected}");
    }
    assert!(shorter >= 1 && given_up <= 2, "{shorter} shorter, {given_up} given up");
    assert_eq!((cut.chosen.size, cut.chosen.lambda), (whole.chosen.size, whole.chosen.lambda));
    // The search on all rows ends with those of the folds, and so does a single λ.
    let end = tables[0].losses_at(cut.chosen.place).last().unwrap().size;
    assert_eq!(cut.searched.path.entries.last().unwrap().subset.len(), end);
    assert_eq!(cut.searched.path.entries, whole.searched.path.entries[..end]);
    let alone = run(Some(10), &lambdas[1..2]);
    let own = alone.chosen.table.as_ref().unwrap().losses_at(0);
    assert!(own.iter().zip(&tables[1].cells[1]).all(|(cell, whole)| same(cell, whole)));
    assert_eq!(own.last().unwrap().size, plain_end(&tables[1].cells[1]));
    assert_eq!(alone.searched.path.entries.len(), own.len() - 1);
}

#[test]
fn a_search_that_begins_with_all_columns_walks_whole() {
    let run = |patience| choose_search(Search::new(Backward::default()).choose(by(patience)), &[1.0, 10.0]);
    let (cut, whole) = (run(Some(1)), run(None));
    let sizes = |picked: &ChosenSearch| {
        let table = picked.chosen.table.clone().unwrap();
        table.cells.iter().map(|cells| cells.iter().map(|cell| cell.size).collect()).collect::<Vec<Vec<usize>>>()
    };
    assert_eq!(sizes(&cut), sizes(&whole));
    assert_eq!(cut.searched.path.steps, whole.searched.path.steps);
}

#[test]
fn threads_change_no_bit() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let search = Search::new(Greedy {}).choose(by(Some(10)));
        let picked = pool.install(|| choose_search(search, &[0.1, 1.0, 10.0, 1e5]));
        format!("{:?} {:?}", picked.chosen, picked.searched.path)
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn folds_that_memory_does_not_hold_at_once_lose_the_same() {
    let searches: [(Search, &[f64]); 4] = [
        (Search::new(Greedy {}).choose(by(Some(10))), &[1.0]),
        (Search::new(Greedy {}).choose(by(Some(10))), &[0.1, 1.0, 10.0, 1e5]),
        (Search::new(Floating {}).choose(by(Some(1))).max_features(30), &[0.5, 5.0]),
        (Search::new(Backward::default()).choose(by(Some(1))), &[1.0, 10.0]),
    ];
    for (search, lambdas) in searches {
        let held = choose_search(search.clone(), lambdas);
        // Memory for no fold, and for fewer than all folds.
        for room in [MemorySlots::new(0.0, 1.0), MemorySlots::new(3.0, 1.0)] {
            let anew = choose_search_in(room, search.clone(), lambdas);
            assert_eq!(anew.chosen, held.chosen, "{search:?}");
            assert_eq!(anew.searched.path, held.searched.path, "{search:?}");
        }
    }
}
