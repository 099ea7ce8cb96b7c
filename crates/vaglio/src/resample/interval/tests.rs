//! Intervals beside loops by hand.

use super::*;
use crate::criteria::Loo;
use crate::learners::Rls;
use crate::pipeline::OuterFolds;
use crate::resample::judged::certainty;
use crate::resample::pairs::{of_outer, of_walks};
use crate::resample::tally::{Compared, EVERY};
use crate::resample::validated::{dealt, parting};
use crate::resample::{Chosen, Sample, Watcher, Whole, outer, select};
use crate::search::Greedy;
use crate::selector::{Selector, ValidSelector};
use linfa::ParamGuard;
use ndarray::Array2;
use std::time::Instant;
use vaglio_core::{Choose, CrossValidation, Monitor, Problem, Silent, Squared, Unless};
use vaglio_report::record::Against;
use vaglio_testkit::{Random, data};

fn tally(losses: &[f64]) -> Tally {
    let predictions = Array2::from_shape_fn((1, losses.len()), |(_, row)| losses[row].sqrt());
    let targets = Array2::zeros((1, losses.len()));
    let (targets, predictions) = (targets.view(), predictions.view());
    Tally::new(&Squared, Compared { targets, predictions, weights: None, units: None, clusters: None }, EVERY)
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// Squared losses of four folds of six rows, and of each fold by models without another, with the tallies of both.
fn losses() -> (Vec<Vec<f64>>, Vec<Vec<Vec<f64>>>) {
    let mut random = Random::new(3);
    let mut fold = |scale: f64| (0..6).map(|_| scale * random.normal().powi(2)).collect::<Vec<f64>>();
    let outer: Vec<Vec<f64>> = [1.0, 4.0, 1.0, 9.0].map(&mut fold).into();
    let inner = (0..4).map(|_| (0..3).map(|_| fold(2.0)).collect()).collect();
    (outer, inner)
}

#[test]
fn the_squared_error_is_that_of_the_paper() {
    let (outer, inner) = losses();
    // a_j − b_j over the folds, by plain loops.
    let of_fold = |j: usize| {
        let all: Vec<f64> = inner[j].iter().flatten().copied().collect();
        let own = mean(&outer[j]);
        let squares: f64 = outer[j].iter().map(|loss| (loss - own).powi(2)).sum();
        (mean(&all) - own).powi(2) - squares / (6.0 * 5.0)
    };
    let expected = 0.75 * mean(&(0..4).map(of_fold).collect::<Vec<_>>());
    let tallies: Vec<Tally> = outer.iter().map(|losses| tally(losses)).collect();
    let others: Vec<Vec<Tally>> = inner.iter().map(|all| all.iter().map(|losses| tally(losses)).collect()).collect();
    let judged = Judged { inner: others.iter().map(|all| all.iter().collect()).collect(), ..Judged::of(&tallies, 1) };
    let found = Of { loss: &Squared, own: &judged, less: None }.squared_error().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
    // It is between the plain errors here, so that the interval is made of it.
    let rows: Vec<f64> = outer.iter().flatten().copied().collect();
    let centre = mean(&rows);
    let plain = rows.iter().map(|loss| (loss - centre).powi(2)).sum::<f64>() / (24.0 * 23.0);
    assert!(expected > 4.0 / 3.0 * plain && expected < 4.0 * plain, "{expected} beside {plain}");
    let shape = Shape::of(rows.iter().map(|loss| loss - centre));
    let expected = shape.interval(centre, expected.sqrt(), 0.9);
    let found = judged.bounded(&Squared, None, (0.0, 0.9)).unwrap();
    assert!((found.mean - centre).abs() < 1e-12);
    assert!((0..2).all(|side| (found.interval[side] - expected[side]).abs() < 1e-9), "{found:?}, not {expected:?}");
    // What choosing gained moves the upper bound alone.
    let moved = judged.bounded(&Squared, None, (0.5, 0.9)).unwrap();
    assert_eq!((moved.mean, moved.interval[0]), (found.mean, found.interval[0]));
    assert!((moved.interval[1] - found.interval[1] - 0.5).abs() < 1e-9);
    // Without pairs it is the plain error.
    let alone = Judged::of(&tallies, 1).bounded(&Squared, None, (0.0, 0.9)).unwrap();
    let expected = shape.interval(centre, (4.0 / 3.0 * plain).sqrt(), 0.9);
    assert!((alone.interval[1] - expected[1]).abs() < 1e-9);
}

#[test]
fn the_same_losses_differ_by_nothing() {
    let (outer, _) = losses();
    let tallies: Vec<Tally> = outer.iter().map(|losses| tally(losses)).collect();
    let judged = Judged::of(&tallies, 1);
    let found = judged.bounded(&Squared, Some(&judged), (0.0, 0.95)).unwrap();
    assert_eq!((found.mean, found.interval), (0.0, [0.0, 0.0]));
}

fn selector(choose: CrossValidation) -> ValidSelector {
    let search = Greedy { choose: Choose::CrossValidated(choose), ..Greedy::default() };
    Selector::params(Loo::default(), search, Rls::default()).seed(4).check().unwrap()
}

fn chosen(selector: &ValidSelector, problem: &Problem) -> Chosen {
    let design = selector.design(problem).unwrap();
    let sample = Sample::plain(problem.clone(), false);
    select(selector, &sample, &design, Instant::now(), &mut Monitor::from(&mut Silent)).unwrap().chosen
}

/// The loss of rows by the subset of so many columns that the search takes of others.
fn by_hand(problem: &Problem, (training, held): (&[usize], &[usize]), size: usize) -> Vec<f64> {
    let search = Greedy { choose: Choose::Size(size), max_features: Some(size), ..Greedy::default() };
    let alone = Selector::params(Loo::default(), search, Rls::default()).check().unwrap();
    let model = alone.select(&problem.select_rows(training), &mut Silent).unwrap().model;
    let held = problem.select_rows(held);
    let predictions = model.predict(&held.columns().select(model.inputs()), None).unwrap();
    (0..held.rows()).map(|row| (predictions[[0, row]] - held.targets()[[0, row]]).powi(2)).collect()
}

#[test]
fn pairs_are_walks_without_two_folds() {
    let problem = data::regression(40, 6, 9).problem();
    let selector = selector(CrossValidation { folds: 4, unless: Unless::Never, ..CrossValidation::default() });
    let (sample, design) = (Sample::plain(problem.clone(), false), selector.design(&problem).unwrap());
    let chosen = chosen(&selector, &problem);
    let mut silent = Silent;
    let watcher = &Watcher::new(&mut silent);
    let trails = of_walks(&selector, &sample, &design, (&chosen, &[1, 2]), watcher).unwrap().unwrap();
    let how = chosen.folds.as_ref().unwrap();
    let parts = dealt(&selector, &sample, &parting(&selector, &sample, how, true).unwrap(), 0).unwrap();
    for j in 0..4 {
        let others: Vec<usize> = (0..4).filter(|&k| k != j).collect();
        for (trail, &k) in trails[j].iter().zip(&others) {
            let out = |row: &usize| !parts[j].held.contains(row) && !parts[k].held.contains(row);
            let training: Vec<usize> = (0..40).filter(out).collect();
            for size in [1, 2] {
                let expected = mean(&by_hand(&problem, (&training, &parts[k].held), size));
                let found = Tally::mean(&Squared, &[trail.at(size)]).unwrap();
                assert!((found / expected - 1.0).abs() < 1e-9, "folds {j} and {k}, {size}: {found}, not {expected}");
            }
        }
    }
    let known = certainty(&selector, &sample, &design, &chosen, watcher).unwrap().unwrap();
    let [low, high] = known.interval.unwrap();
    let loss = chosen.cell.unwrap().loss;
    assert!(low < loss && loss < high, "{low} {loss} {high}");
    assert!(known.differences.iter().any(|of| of.against == Against::Empty && of.size == 0));
}

#[test]
fn the_procedure_is_repeated_without_two_outer_folds() {
    let problem = data::regression(30, 5, 2).problem();
    let selector = selector(CrossValidation { folds: 3, ..CrossValidation::default() });
    let sample = Sample::plain(problem.clone(), false);
    let whole = Whole { selector: &selector, tune: None };
    let how = OuterFolds { folds: 3, ..OuterFolds::default() };
    let mut silent = Silent;
    let watcher = &Watcher::new(&mut silent);
    let folds = outer(whole, &sample, &how, watcher).unwrap().unwrap();
    let found = of_outer(whole, &sample, &how, watcher).unwrap().unwrap();
    for j in 0..3 {
        let others: Vec<usize> = (0..3).filter(|&k| k != j).collect();
        for (lost, &k) in found[j].iter().zip(&others) {
            let training: Vec<usize> =
                (0..30).filter(|row| !folds[j].rows.contains(row) && !folds[k].rows.contains(row)).collect();
            let model = selector.select(&problem.select_rows(&training), &mut Silent).unwrap().model;
            let held = problem.select_rows(&folds[k].rows);
            let predictions = model.predict(&held.columns().select(model.inputs()), None).unwrap();
            let expected = vaglio_core::Loss::mean(&Squared, held.targets().view(), predictions.view(), None);
            let found = Tally::mean(&Squared, &[&lost.model]).unwrap();
            assert!((found - expected).abs() < 1e-9 * expected, "folds {j} and {k}: {found}, not {expected}");
        }
    }
    let many = OuterFolds { folds: 6, ..how.clone() };
    assert_eq!((how.pairs(), many.pairs()), (3, 0));
    assert_eq!(OuterFolds { interval: Some(0.9), ..many }.pairs(), 15);
}

#[test]
fn nothing_is_taken_from_noise() {
    let noise = |seed: u64| {
        let problem = data::regression(60, 8, seed).problem();
        let mut random = Random::new(seed);
        problem.with_targets(Array2::from_shape_fn((1, 60), |_| random.normal())).unwrap()
    };
    let taking = |unless: Unless| selector(CrossValidation { unless, ..CrossValidation::default() });
    let (auto, never) = (taking(Unless::Auto), taking(Unless::Never));
    let mut taken = 0;
    for seed in 0..20 {
        let problem = noise(seed);
        let (chosen, always) = (chosen(&auto, &problem), chosen(&never, &problem));
        taken += usize::from(always.size > 0);
        assert_eq!(always.declined, None);
        match chosen.declined {
            Some(declined) => {
                assert_eq!((chosen.size, chosen.cell.unwrap().size), (0, 0));
                assert_eq!((declined.size, declined.cross_validated), (always.size, always.cell.unwrap().loss));
                assert!(declined.difference.interval[1] >= 0.0);
            }
            None => assert_eq!(chosen.size, always.size),
        }
    }
    assert!(taken > 5, "{taken} of 20 have a lower loss with columns");
    let kept = (0..20).filter(|&seed| chosen(&auto, &noise(seed)).size > 0).count();
    assert!(kept <= 2, "{kept} of 20 are taken");
    let signal = data::regression(60, 8, 1).problem();
    assert!(chosen(&auto, &signal).size > 0);
}
