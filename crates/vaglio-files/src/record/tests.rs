//! Tests intervals against plain loops.

use super::*;
use linfa::ParamGuard;
use ndarray::Array2;
use std::time::Instant;
use vaglio_core::Problem;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resampling::{Sample, select};
use vaglio_pipeline::selector::{Selector, ValidSelector};
use vaglio_search::{Choose, CrossValidation, Greedy, Monitor, RequireGain, Search, Silent};
use vaglio_testkit::{SplitMix64, data};
use vaglio_validate::Loo;

fn selector(choose: CrossValidation) -> ValidSelector {
    let search = Search::new(Greedy {}).choose(Choose::CrossValidated(choose));
    Selector::params(Loo::default(), search, Rls::default()).seed(4).check().unwrap()
}

fn chosen(selector: &ValidSelector, problem: &Problem) -> Choice {
    let design = selector.design(problem).unwrap();
    let sample = Sample::plain(problem.clone(), false);
    select(selector, &sample, &design, Instant::now(), &mut Monitor::from(&mut Silent)).unwrap().chosen
}

#[test]
fn the_interval_holds_the_loss_and_no_columns_are_beside() {
    let problem = data::regression(40, 6, 9).problem();
    let selector =
        selector(CrossValidation { folds: 4, require_gain: RequireGain::Never, ..CrossValidation::default() });
    let chosen = chosen(&selector, &problem);
    let row_loss = selector.loss(problem.task());
    let (interval, differences) = (chosen.interval(&*row_loss, LEVEL), differences(&*row_loss, &chosen, LEVEL));
    let [low, high] = interval.unwrap();
    let loss = chosen.cell.unwrap().loss;
    assert!(low < loss && loss < high, "{low} {loss} {high}");
    assert!(
        differences.iter().any(|difference| difference.against == ComparisonColumns::Empty && difference.size == 0)
    );
}

#[test]
fn nothing_is_taken_from_noise() {
    let noise = |seed: u64| {
        let problem = data::regression(60, 8, seed).problem();
        // A stream of its own, independent of the columns.
        let mut random = SplitMix64::new(seed + 1000);
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
                assert_eq!(declined, always.cell.unwrap());
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
