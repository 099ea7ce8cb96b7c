//! Folds with fewer columns than the table, and the delivered result.

use crate::{Chosen, choose, held_out_error};
use linfa::ParamGuard;
use vaglio_core::shuffle::stream;
use vaglio_core::{Lambda, short};
use vaglio_maps::folds::FoldAssignment;
use vaglio_pipeline::Selector;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resampling::{Sample, Splitter, StageMonitor, held_out};
use vaglio_report::record::{Cell, ChosenBy, WarningKind};
use vaglio_search::{All, Backward, Blocks, Choose, Greedy, Search, Silent};
use vaglio_testkit::{SplitMix64, data};
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

fn choose_search(search: impl Into<Search>, lambdas: &[f64]) -> Chosen {
    let lambda: Lambda = serde_json::from_value(serde_json::json!({ "values": lambdas })).unwrap();
    let learner = Rls { lambda, ..Rls::default() };
    let selector = Selector::params(Loo::default(), search, learner).seed(4).check().unwrap();
    choose(&selector, &sample())
}

fn sample() -> Sample {
    let (columns, y) = columns();
    Sample::from_problem(crate::problem(&columns, &y), false)
}

/// Squared held-out errors of ridge regression on all columns that are not constant in training, in the folds of the
/// search.
fn squared_held_out_errors(lambda: f64) -> f64 {
    let (columns, y) = columns();
    let assignment = FoldAssignment::from_labels(&[], y.len(), None);
    let parts = Splitter::Folds(assignment, 5).split(&sample(), stream(4, 1, 0)).unwrap();
    held_out_error(&columns, &y, &parts, lambda)
}

/// The delivered entry exists, and the figures are those of its size.
fn carries_its_own(picked: &Chosen) {
    let (path, chosen) = (&picked.path, &picked.chosen);
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

/// 40 rows of 60 columns of noise; the target is the sum of two, or affects every column weakly.
fn noise(is_sparse: bool) -> Sample {
    let mut random = SplitMix64::new(11);
    let hidden: Vec<f64> = (0..40).map(|_| random.normal()).collect();
    let part = if is_sparse { 0.0 } else { 0.3 };
    let columns: Vec<Vec<f64>> = (0..60).map(|_| hidden.iter().map(|h| part * h + random.normal()).collect()).collect();
    let target = |row: usize| if is_sparse { columns[0][row] + columns[1][row] } else { hidden[row] };
    let y: Vec<f64> = (0..40).map(target).collect();
    Sample::from_problem(crate::problem(&columns, &y), false)
}

#[test]
fn it_is_said_that_all_columns_do_better() {
    let lambda: Lambda = serde_json::from_str(r#"{"values": [1.0, 10.0]}"#).unwrap();
    let chosen = |search: Search, sample: &Sample| {
        let learner = Rls { lambda: lambda.clone(), ..Rls::default() };
        choose(&Selector::params(Loo::default(), search, learner).check().unwrap(), sample)
    };
    let said = |sample: &Sample| {
        let warnings = chosen(Greedy {}.into(), sample).warnings;
        warnings.into_iter().find(|warning| warning.kind == WarningKind::AllColumns)
    };
    assert_eq!(said(&noise(true)), None);
    let dense = noise(false);
    let found = said(&dense).unwrap().message;
    let expected = chosen(All {}.into(), &dense).chosen.cell.unwrap();
    let figures = format!("{} (standard error {})", short(expected.loss), short(expected.standard_error.unwrap()));
    assert!(found.contains(&figures) && found.contains("all 60 columns"), "{found} without {figures}");
}

#[test]
fn the_loss_of_held_out_predictions_is_the_cross_validated_one() {
    let grid: Lambda = serde_json::from_str(r#"{"values": [0.1, 1.0, 10.0]}"#).unwrap();
    for (recipe, learner) in [
        (data::binary(40, 8, 3).weighted(), Rls { lambda: grid.clone(), ..Rls::default() }),
        (data::regression(30, 6, 5), Rls::default()),
    ] {
        let selector = Selector::params(Loo::default(), Greedy::default(), learner).seed(4).check().unwrap();
        let problem = recipe.problem();
        let sample = Sample::from_problem(problem.clone(), false);
        let chosen = choose(&selector, &sample).chosen;
        let pooled = held_out(&selector, &sample, &chosen, &StageMonitor::new(&mut Silent)).unwrap().unwrap();
        let loss = selector.loss(problem.task());
        let found = loss.mean(pooled.targets.view(), pooled.predictions.view(), Some(&pooled.weights));
        let expected = chosen.cell.unwrap().loss;
        assert!((found - expected).abs() < 1e-12 * expected, "{found} is not {expected}");
    }
}
