//! Columns are taken where the evidence for them is more than by chance.

use crate::choose;
use linfa::ParamGuard;
use ndarray::Array2;
use std::collections::BTreeMap;
use vaglio_core::shuffle::stream;
use vaglio_core::{Geometry, PerFoldPreprocessing, Problem};
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resampling::Sample;
use vaglio_pipeline::{Selector, ValidSelector};
use vaglio_search::{Blocks, Choose, CrossValidation, Greedy, Search, correlation};
use vaglio_testkit::{SplitMix64, data};
use vaglio_validate::{KFold, Loo};

const ROWS: usize = 18;
/// The stream of random numbers that shuffles targets.
const SHUFFLE: u64 = 4;

fn selector(level: Option<f64>) -> ValidSelector {
    let how = CrossValidation::new(4).require_gain(level);
    let search = Search::new(Greedy {}).choose(Choose::CrossValidated(how));
    Selector::params(Loo::default(), search, Rls::default()).seed(5).check().unwrap()
}

/// A sample whose target depends on its first column, with too few rows for the interval to decide.
fn sample(seed: u64, slope: f64) -> Sample {
    let problem: Problem = data::regression(ROWS, 4, seed).problem();
    let mut random = SplitMix64::new(seed + 100);
    let x = problem.columns().column(0).values().to_vec();
    let targets = Array2::from_shape_fn((1, ROWS), |(_, row)| slope * x[row] + random.normal());
    Sample::from_problem(problem.with_targets(targets).unwrap(), false)
}

/// Product of 1 + π(B − 1) over the columns, by definition.
fn evidence(selector: &ValidSelector, sample: &Sample) -> f64 {
    let design = selector.design(&sample.fit().unwrap().problem).unwrap();
    let correlations = correlation(&design).relevances().unwrap().swap_remove(0);
    let factor = |r: f64| (ROWS as f64 * r * r / 2.0 * 5.0 / 6.0).exp() / 6.0_f64.sqrt();
    correlations.into_iter().map(|r| 0.5 + 0.5 * factor(r)).product()
}

#[test]
fn columns_are_taken_where_few_shuffles_have_as_much_evidence() {
    let (selector, mut taken, mut tested) = (selector(Some(0.05)), 0, 0);
    for seed in 0..40 {
        let sample = sample(seed, 0.6);
        let found = choose(&selector, &sample).chosen;
        let Some(test) = found.test.filter(|test| test.shuffles.is_some()) else { continue };
        let own = evidence(&selector, &sample);
        let shuffled = |number: u64| sample.with_shuffled_targets(false, stream(5, SHUFFLE, number)).unwrap();
        let as_much = (0..199).filter(|&number| evidence(&selector, &shuffled(number)) >= own).count();
        match as_much {
            0..10 => assert_eq!((test.p, test.shuffles), ((as_much + 1) as f64 / 200.0, Some(199)), "{seed}"),
            _ => assert!(test.p == 10.0 / test.shuffles.unwrap() as f64 && test.p > 0.05, "{seed}: {test:?}"),
        }
        assert_eq!((found.size > 0, found.declined.is_some()), (as_much < 10, as_much >= 10));
        tested += 1;
        taken += usize::from(found.size > 0);
    }
    assert!((1..tested).contains(&taken), "{taken} of {tested}");
}

#[test]
fn noise_passes_as_often_as_the_level_says() {
    let selector = selector(Some(0.05));
    let taken = (0..400).filter(|&seed| choose(&selector, &sample(1000 + seed, 0.0)).chosen.size > 0).count();
    // 20 of 400 plus or minus three standard errors.
    assert!((4..=33).contains(&taken), "{taken} of 400");
}

#[test]
fn columns_that_are_excluded_are_no_candidates_and_no_evidence_for_others() {
    let search = Search::new(Greedy {}).excluded([0]).choose(Choose::CrossValidated(CrossValidation::new(4)));
    let selector = Selector::params(Loo::default(), search, Rls::default()).seed(5).check().unwrap();
    assert_eq!(selector.design(&data::regression(ROWS, 4, 0).problem()).unwrap().candidates(), [1, 2, 3]);
    let in_folds = data::regression(ROWS, 4, 0).problem().with_preprocessing(PerFoldPreprocessing::standardize());
    let blocks = Blocks::Named(BTreeMap::from([("ab".into(), vec![0_usize.into(), 1_usize.into()])]));
    let search = selector.search.clone().blocks(Some(blocks));
    let by_folds = Selector::params(KFold::new(3), search, Rls::default()).check().unwrap();
    assert_eq!(by_folds.design(&in_folds).unwrap().candidates(), [2, 3]);
    let taken = (0..40).filter(|&seed| choose(&selector, &sample(seed, 3.0)).chosen.size > 0).count();
    // The others are noise: 2 of 40 plus three standard errors.
    assert!(taken <= 6, "{taken} of 40");
}

#[test]
fn declined_columns_are_those_of_the_lowest_loss() {
    let (auto, never) = (selector(Some(0.05)), selector(None));
    let mut taken = 0;
    for seed in 0..20 {
        let sample = sample(1000 + seed, 0.0);
        let (found, always) = (choose(&auto, &sample).chosen, choose(&never, &sample).chosen);
        taken += usize::from(always.size > 0);
        assert_eq!((always.declined, always.test), (None, None));
        match found.declined {
            Some(declined) => {
                assert_eq!((found.size, found.cell.unwrap().size), (0, 0));
                assert_eq!(declined, always.cell.unwrap());
                assert!(found.test.unwrap().p > 0.05);
            }
            None => assert_eq!(found.size, always.size),
        }
    }
    assert!(taken > 0, "no table has a lower loss with columns");
}
