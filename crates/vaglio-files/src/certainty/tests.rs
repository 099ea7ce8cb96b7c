//! Intervals of selections beside loops by hand.

use super::*;
use linfa::ParamGuard;
use ndarray::Array2;
use std::time::Instant;
use vaglio_core::{Choose, Monitor, Problem, RequireGain, Silent, Squared};
use vaglio_pipeline::criteria::Loo;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resample::validated::{dealt, parting};
use vaglio_pipeline::resample::{Tally, select};
use vaglio_pipeline::selector::Selector;
use vaglio_search::Greedy;
use vaglio_testkit::{Random, data};

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
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
    let selector =
        selector(CrossValidation { folds: 4, require_gain: RequireGain::Never, ..CrossValidation::default() });
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
fn nothing_is_taken_from_noise() {
    let noise = |seed: u64| {
        let problem = data::regression(60, 8, seed).problem();
        // Not the numbers of which the columns are made.
        let mut random = Random::new(seed + 1000);
        problem.with_targets(Array2::from_shape_fn((1, 60), |_| random.normal())).unwrap()
    };
    let taking = |require_gain| selector(CrossValidation { require_gain, ..CrossValidation::default() });
    let (auto, never) = (taking(RequireGain::default()), taking(RequireGain::Never));
    let mut taken = 0;
    for seed in 0..20 {
        let problem = noise(seed);
        let (chosen, always) = (chosen(&auto, &problem), chosen(&never, &problem));
        taken += usize::from(always.size > 0);
        assert_eq!((always.declined, always.test), (None, None));
        match chosen.declined {
            Some(declined) => {
                assert_eq!((chosen.size, chosen.cell.unwrap().size), (0, 0));
                assert_eq!((declined.subset.len(), declined.cell), (always.size, always.cell.unwrap()));
                assert!(chosen.test.unwrap().p > 0.05);
            }
            None => assert_eq!(chosen.size, always.size),
        }
    }
    assert!(taken > 5, "{taken} of 20 have a lower loss with columns");
    let kept = (0..80).filter(|&seed| chosen(&auto, &noise(seed)).size > 0).count();
    assert!((1..=8).contains(&kept), "{kept} of 80 are taken, and 5 % of them should be");
    let signal = data::regression(60, 8, 1).problem();
    assert!(chosen(&auto, &signal).size > 0);
}
