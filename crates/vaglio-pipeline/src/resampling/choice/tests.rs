//! Folds with fewer columns than the table, and the delivered result.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::learners::Rls;
use crate::resampling::split_rule::SplitRule;
use crate::resampling::split_rule::tests::held_out_error;
use crate::selector::Selector;
use linfa::ParamGuard;
use ndarray::Array2;
use vaglio_core::{Columns, Lambda, Problem, Task};
use vaglio_search::shuffle::stream;
use vaglio_search::{All, Backward, Blocks, Greedy, Search, Silent};
use vaglio_testkit::SplitMix64;
use vaglio_validate::Loo;

const COUNTING: usize = 10;

/// Ten informative columns, and twelve with a single nonzero among 102 rows, some of which every fold lacks.
fn columns() -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut random = SplitMix64::new(5);
    let mut columns: Vec<Vec<f64>> = (0..COUNTING).map(|_| (0..102).map(|_| random.normal()).collect()).collect();
    let y = (0..102).map(|row| columns.iter().map(|column| column[row]).sum::<f64>() + 0.1 * random.normal()).collect();
    columns.extend((0..12).map(|rare| (0..102).map(|row| f64::from(u8::from(row == 8 * rare + 3))).collect()));
    (columns, y)
}

fn problem() -> Problem {
    let (columns, y) = columns();
    let names = (0..columns.len()).map(|k| format!("x{k}")).collect();
    let mut all = Columns::new(y.len());
    columns.into_iter().for_each(|column| all.push(column));
    let targets = Array2::from_shape_vec((1, y.len()), y).unwrap();
    Problem::new(all, names, targets, vec!["y".into()], Task::Regression).unwrap()
}

fn choose_search(search: impl Into<Search>, lambdas: &[f64]) -> ChosenSearch {
    let lambda: Lambda = serde_json::from_value(serde_json::json!({ "values": lambdas })).unwrap();
    let learner = Rls { lambda, ..Rls::default() };
    let selector = Selector::params(Loo::default(), search, learner).seed(4).check().unwrap();
    let problem = problem();
    let design = selector.design(&problem).unwrap();
    let sample = Sample::plain(problem, false);
    select(&selector, &sample, &design, Instant::now(), &mut Monitor::from(&mut Silent)).unwrap()
}

/// Squared held-out errors of ridge regression on all columns that are not constant in training, in the folds of the
/// search.
fn squared_held_out_errors(lambda: f64) -> f64 {
    let (columns, y) = columns();
    let assignment = Sample::plain(problem(), false).fold_assignment();
    let parts = SplitRule::Folds(assignment, 5).parts(&Sample::plain(problem(), false), stream(4, 1, 0)).unwrap();
    held_out_error(&columns, &y, &parts, lambda)
}

/// The delivered entry exists, and the figures are those of its size.
fn carries_its_own(picked: &ChosenSearch) {
    let (path, chosen) = (&picked.searched.path, &picked.chosen);
    let entry = path.result().unwrap();
    assert_eq!(entry.subset.len(), chosen.size);
    if let Some(cell) = chosen.cell {
        assert_eq!(cell.size, chosen.size);
        let own = chosen.table.as_ref().unwrap().losses_at(chosen.place).iter().find(|own| own.size == chosen.size);
        assert_eq!(own, Some(&cell));
    }
}

#[test]
fn all_columns_of_folds_stand_for_all_of_all_rows() {
    for lambdas in [&[1.0][..], &[0.1, 1.0, 100.0]] {
        let picked = choose_search(All::default(), lambdas);
        carries_its_own(&picked);
        let (chosen, table) = (&picked.chosen, picked.chosen.table.as_ref().unwrap());
        assert_eq!((chosen.by, chosen.size), (ChosenBy::CrossValidation, 22));
        for (cells, lambda) in table.cells.iter().zip(lambdas) {
            let [Cell { size: 22, loss, .. }] = cells[..] else { panic!("{cells:?}") };
            let expected = squared_held_out_errors(*lambda);
            assert!((loss - expected).abs() < 1e-10 * expected, "{loss} is not {expected}");
        }
    }
}

#[test]
fn the_full_set_of_backward_is_one_of_the_sizes() {
    for lambdas in [&[1.0][..], &[0.1, 1.0, 100.0]] {
        let free = choose_search(Backward::default(), lambdas);
        carries_its_own(&free);
        let cells = free.chosen.table.as_ref().unwrap().losses_at(free.chosen.place);
        let full = cells.last().unwrap();
        let expected = squared_held_out_errors(free.chosen.lambda.unwrap());
        assert!(full.size == 22 && (full.loss - expected).abs() < 1e-10 * expected, "{full:?} is not {expected}");
        let kept = choose_search(Search::new(Backward::default()).min_features(22), lambdas);
        carries_its_own(&kept);
        assert_eq!(kept.chosen.size, 22);
    }
}

#[test]
fn blocks_that_lose_columns_in_folds_carry_their_own_figures() {
    let rare: Vec<String> = (COUNTING..22).map(|k| format!("x{k}")).collect();
    let blocks: Blocks = serde_json::from_value(serde_json::json!({ "rare": rare })).unwrap();
    for lambdas in [&[1.0][..], &[0.1, 1.0, 100.0]] {
        let free = choose_search(Search::new(Greedy {}).blocks(blocks.clone()), lambdas);
        carries_its_own(&free);
        let all = choose_search(Search::new(Backward::default()).blocks(blocks.clone()).min_features(22), lambdas);
        carries_its_own(&all);
        let (found, expected) = (all.chosen.cell.unwrap().loss, squared_held_out_errors(all.chosen.lambda.unwrap()));
        assert!(all.chosen.size == 22 && (found - expected).abs() < 1e-10 * expected, "{found} is not {expected}");
        // The block alone is delivered with its own figures, or not at all.
        let forced = choose_search(Search::new(Greedy {}).blocks(blocks.clone()).forced(["x10"]), lambdas);
        carries_its_own(&forced);
        assert!(forced.chosen.size >= 12);
    }
}

#[test]
fn what_is_set_is_delivered() {
    for choose in [Choose::Last, Choose::Size(22)] {
        let all = choose_search(Search::new(All {}).choose(choose), &[1.0]);
        carries_its_own(&all);
        assert_eq!((all.chosen.by, all.chosen.size), (ChosenBy::Setting, 22));
    }
    for (choose, size) in [(Choose::Last, 1), (Choose::Size(17), 17), (Choose::Size(22), 22)] {
        let backward = choose_search(Search::new(Backward::default()).choose(choose), &[1.0]);
        carries_its_own(&backward);
        assert_eq!(backward.chosen.size, size);
    }
}
