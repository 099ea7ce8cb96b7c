use super::*;
use linfa::ParamGuard;
use std::collections::HashMap;
use vaglio_core::{Absolute, Criterion};
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::selector::{Selector, ValidSelector};
use vaglio_search::{Choose, Greedy, Search, Silent};
use vaglio_testkit::data;
use vaglio_validate::{KFold, Loo};

fn selector(criterion: impl Criterion + 'static) -> ValidSelector {
    let search = Search::new(Greedy {}).choose(Choose::Size(4));
    Selector::params(criterion, search, Rls::default()).seed(3).check().unwrap()
}

fn kfold() -> KFold {
    KFold { folds: Some(4), ..KFold::default() }
}

/// Cached scores by the definition.
struct Definition<'d> {
    selector: &'d ValidSelector,
    design: &'d Design,
    known: HashMap<Vec<Feature>, f64>,
}

impl<'d> Definition<'d> {
    fn new(selector: &'d ValidSelector, design: &'d Design) -> Self {
        Definition { selector, design, known: HashMap::new() }
    }

    fn score(&mut self, subset: &[Feature]) -> f64 {
        let mut subset = subset.to_vec();
        subset.sort_unstable();
        let score = || self.selector.criterion.evaluate(self.design, &subset).unwrap().loss;
        *self.known.entry(subset.clone()).or_insert_with(score)
    }

    /// Score reductions at each column, averaged over all orders by enumeration.
    fn shares(&mut self, columns: &[Feature]) -> Vec<f64> {
        let (mut falls, mut count) = (vec![0.0; columns.len()], 0.0);
        let mut begun = vec![Vec::new()];
        while let Some(order) = begun.pop() {
            if order.len() < columns.len() {
                let others = columns.iter().filter(|column| !order.contains(*column));
                begun.extend(others.map(|column| [&order[..], &[*column]].concat()));
                continue;
            }
            count += 1.0;
            for (place, column) in columns.iter().enumerate() {
                let at = order.iter().position(|other| other == column).unwrap();
                falls[place] += self.score(&order[..at]) - self.score(&order[..=at]);
            }
        }
        falls.into_iter().map(|fall| fall / count).collect()
    }
}

fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(1e-300_f64, |most, share| most.max(share.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-9 * largest, "{found:?} is not {expected:?}");
    }
}

#[test]
fn shares_are_means_over_all_orders() {
    let mut silent = Silent;
    let watcher = &StageMonitor::new(&mut silent);
    for selector in [selector(Loo::default()), selector(kfold()), selector(kfold().loss(Absolute))] {
        for recipe in [data::regression(30, 9, 2), data::regression(30, 9, 4).weighted().outputs(2)] {
            let design = selector.design(&recipe.problem()).unwrap();
            let columns = [7, 2, 0, 5, 3];
            let found = shapley(&TrialDesign::new(&selector, &design), &columns, watcher).unwrap().unwrap();
            let mut definition = Definition::new(&selector, &design);
            near(&found.of_columns, &definition.shares(&columns));
            let fall = definition.score(&[]) - definition.score(&columns);
            near(&[found.of_columns.iter().sum()], &[fall]);
            near(&[found.empty, found.all], &[definition.score(&[]), definition.score(&columns)]);
        }
    }
}

#[test]
fn every_subset_has_its_own_score_over_all_jobs() {
    let selector = selector(kfold());
    let design = selector.design(&data::regression(24, 10, 5).problem()).unwrap();
    let columns: Vec<Feature> = (0..OF_JOB + 2).rev().collect();
    let mut silent = Silent;
    let watcher = &StageMonitor::new(&mut silent);
    let scores = subset_scores(&TrialDesign::new(&selector, &design), &columns, watcher).unwrap().unwrap();
    assert_eq!(scores.len(), 1 << columns.len());
    let mut definition = Definition::new(&selector, &design);
    for (mask, score) in scores.iter().enumerate() {
        let subset: Vec<Feature> =
            (0..columns.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| columns[bit]).collect();
        let expected = definition.score(&subset);
        assert!((score - expected).abs() < 1e-10 * expected, "{subset:?}: {score} is not {expected}");
    }
}

#[test]
fn drawn_orders_agree_with_all_subsets() {
    let selector = selector(Loo::default());
    let design = selector.design(&data::regression(40, 12, 9).problem()).unwrap();
    let columns: Vec<Feature> = (0..7).collect();
    let mut silent = Silent;
    let watcher = &StageMonitor::new(&mut silent);
    let exact = shapley(&TrialDesign::new(&selector, &design), &columns, watcher).unwrap().unwrap();
    let drawn = by_random_orders(&TrialDesign::new(&selector, &design), &columns, watcher).unwrap().unwrap();
    let errors = drawn.errors.unwrap();
    for ((drawn, exact), error) in drawn.of_columns.iter().zip(&exact.of_columns).zip(&errors) {
        assert!((drawn - exact).abs() <= 4.0 * error + 1e-12 * exact.abs(), "{drawn} ± {error} is not {exact}");
    }
    near(&[drawn.of_columns.iter().sum()], &[exact.empty - exact.all]);
    // A column that always lowers the score equally would have no error; these are correlated.
    assert!(errors.iter().any(|error| *error > 0.0));
}

#[test]
fn parts_add_up() {
    let selector = selector(kfold());
    let problem = data::regression(40, 8, 6).problem();
    let selection = selector.select(&problem, &mut Silent).unwrap();
    let design = selector.design(&problem).unwrap().at_lambda(selection.chosen.path_lambda());
    let found =
        shares(&TrialDesign::new(&selector, &design), &selection, &StageMonitor::new(&mut Silent)).unwrap().unwrap();
    assert_eq!((found.columns.len(), found.subsets), (4, Some(16)));
    let part: f64 = found.columns.iter().filter_map(|column| column.part).sum();
    assert!((part - 1.0).abs() < 1e-9);
}
