//! Sizes without a fold, and in repeats.

use crate::{choose, held_out_error};
use linfa::ParamGuard;
use vaglio_core::shuffle::stream;
use vaglio_pipeline::Selector;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resampling::{Sample, TrainTestSplit, choice_splitter};
use vaglio_report::record::SizeSpreadSource;
use vaglio_search::{Choose, CrossValidation, Greedy, Search, Silent};
use vaglio_testkit::data;
use vaglio_validate::Loo;

const COLUMNS: usize = 7;

/// Squared held-out errors of one split for every size, by a search and refits on its training rows.
fn squares(seed: u64, sample: &Sample, part: &TrainTestSplit) -> Vec<f64> {
    let problem = sample.select(&part.training).unwrap().fit().unwrap().problem;
    let search = Search::new(Greedy {}).choose(Choose::Last);
    let selector = Selector::params(Loo::default(), search, Rls::default()).seed(seed).check().unwrap();
    let path = selector.select(&problem, &mut Silent).unwrap().path;
    let whole = sample.fit().unwrap().problem;
    let (y, rows) = (whole.targets().row(0).to_vec(), part.held.len() as f64);
    let size_loss = |size: usize| {
        let subset = path.entries.iter().find(|entry| entry.subset.len() == size).map(|entry| entry.subset.clone());
        let columns = subset.unwrap_or_default().iter().map(|&f| whole.columns().column(f).values().to_vec()).collect();
        let columns: Vec<Vec<f64>> = if size == 0 { vec![vec![0.0; y.len()]] } else { columns };
        rows * held_out_error(&columns, &y, std::slice::from_ref(part), 1.0)
    };
    (0..=COLUMNS).map(size_loss).collect()
}

#[test]
fn sizes_of_repeats_and_without_folds_are_those_of_refits() {
    let mut differ = 0;
    for (seed, repeats) in [(1, 1), (2, 1), (3, 1), (1, 4), (2, 4)] {
        let how = CrossValidation { folds: 5, repeats, ..CrossValidation::default() };
        let search = Search::new(Greedy {}).choose(Choose::CrossValidated(how.clone()));
        let selector = Selector::params(Loo::default(), search, Rls::default()).seed(seed).check().unwrap();
        let problem = data::regression(30, COLUMNS, seed).problem();
        let sample = Sample::from_problem(problem.clone(), false);
        let found = choose(&selector, &sample).chosen.sizes.unwrap();
        let seeds = (0..repeats as u64).map(|repeat| stream(seed, 1, repeat));
        let parts = choice_splitter(&selector, &sample, &how).repeats(&sample, seeds).unwrap();
        let squares: Vec<Vec<f64>> = parts.all().map(|part| squares(seed, &sample, &part)).collect();
        let best = |kept: &dyn Fn(usize) -> bool| {
            let sum = |size: usize| {
                let kept_folds = squares.iter().enumerate().filter(|(fold, _)| kept(*fold));
                kept_folds.map(|(_, squares)| squares[size]).sum::<f64>()
            };
            (0..=COLUMNS).min_by(|a, b| sum(*a).total_cmp(&sum(*b))).unwrap()
        };
        let expected: Vec<usize> = match repeats {
            1 => (0..5).map(|out| best(&|fold| fold != out)).collect(),
            _ => (0..repeats).map(|repeat| best(&|fold| fold / 5 == repeat)).collect(),
        };
        assert_eq!(found.over, if repeats == 1 { SizeSpreadSource::Folds } else { SizeSpreadSource::Repeats });
        assert_eq!(found.sizes, expected);
        differ += usize::from(expected.iter().any(|size| *size != expected[0]));
    }
    assert!(differ > 1);
}
