use super::*;
use linfa::ParamGuard;
use vaglio_core::{Absolute, Criterion, PerFoldPreprocessing};
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::selector::{Selector, ValidSelector};
use vaglio_search::{Greedy, Monitor, Silent};
use vaglio_testkit::data;
use vaglio_validate::{KFold, Loo};

fn selector(criterion: impl Criterion + 'static) -> ValidSelector {
    Selector::params(criterion, Greedy::default(), Rls::default()).check().unwrap()
}

fn selectors() -> Vec<ValidSelector> {
    let kfold = || KFold { folds: Some(4), ..KFold::default() };
    vec![selector(Loo::default()), selector(kfold()), selector(kfold().loss(Absolute))]
}

fn columns(selected: &[Feature]) -> Vec<SelectedRecord> {
    selected.iter().map(|&index| SelectedRecord { index, ..SelectedRecord::default() }).collect()
}

/// Columns with their importance, and what was left out.
fn importance(
    budget: f64,
    selector: &ValidSelector,
    design: &Design,
    selected: &[Feature],
) -> (Vec<SelectedRecord>, Option<WorthRecord>) {
    let (mut columns, mut silent) = (columns(selected), Silent);
    let left_out =
        record_importance(budget, &TrialDesign::new(selector, design), &mut columns, &StageMonitor::new(&mut silent));
    (columns, left_out.unwrap())
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-10 * b, "{a} is not {b}");
}

/// Scores by the definition, of a subset without each column and with another in its place.
struct ByDefinition<'d>(&'d ValidSelector, &'d Design, &'d [Feature]);

impl ByDefinition<'_> {
    fn rest(&self, k: usize) -> Vec<Feature> {
        self.2.iter().copied().filter(|f| *f != self.2[k]).collect()
    }

    fn score(&self, subset: &[Feature]) -> f64 {
        self.0.criterion.evaluate(self.1, subset).unwrap().loss
    }

    fn with(&self, k: usize, feature: Feature) -> f64 {
        self.score(&[&self.rest(k)[..], &[feature]].concat())
    }
}

#[test]
fn exchanges_are_those_of_the_definition() {
    for selector in selectors() {
        let design = selector.design(&data::regression(40, 30, 7).problem()).unwrap();
        for design in [
            design.clone(),
            design.with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize())),
        ] {
            if design.problem().in_folds().is_standardized() && selector.criterion.kind() == "loo" {
                continue;
            }
            let selected: Vec<Feature> = (0..22).map(|k| (k * 7 + 3) % 30).collect();
            let definition = ByDefinition(&selector, &design, &selected);
            let (columns, left_out) = importance(f64::INFINITY, &selector, &design, &selected);
            assert_eq!(left_out, None);
            for (k, worth) in columns.iter().enumerate() {
                near(worth.without.unwrap(), definition.score(&definition.rest(k)));
                let others = (0..30).filter(|f| !selected.contains(f));
                let mut exchanges: Vec<(Feature, f64)> = others.map(|f| (f, definition.with(k, f))).collect();
                exchanges.sort_by(|a, b| a.1.total_cmp(&b.1));
                let substitutes = worth.substitutes.as_ref().unwrap();
                assert_eq!(substitutes.len(), SUBSTITUTES);
                for (a, b) in substitutes.iter().zip(&exchanges) {
                    assert_eq!(a.index, b.0);
                    near(a.score, b.1);
                }
            }
        }
    }
}

#[test]
fn designs_of_each_place_give_the_same_scores() {
    let selected = [3, 50, 7];
    for selector in selectors() {
        let design = selector.design(&data::regression(60, 80, 5).problem()).unwrap();
        let tried: Vec<Feature> = (0..80).filter(|f| !selected.contains(f)).step_by(9).collect();
        let definition = ByDefinition(&selector, &design, &selected);
        for is_apart in [true, false] {
            let trials = TrialDesign::new(&selector, &design);
            let mut exchanges = Exchanges::new(&trials, &selected, tried.clone());
            if is_apart {
                exchanges.together = None;
            } else if let Some(place) = &exchanges.together {
                assert!(place.design.features() <= 12);
            }
            exchanges
                .each([0, 2], usize::MAX, |k, found| {
                    assert!(k != 1 && found.len() == tried.len());
                    found.iter().for_each(|(feature, score)| near(*score, definition.with(k, *feature)));
                    true
                })
                .unwrap();
        }
    }
}

#[test]
fn what_the_budget_leaves_out_is_named() {
    for selector in selectors() {
        let design = selector.design(&data::regression(60, 80, 5).problem()).unwrap();
        let selected = [3, 50, 7];
        let trials = TrialDesign::new(&selector, &design);
        let (_, few) = trials.cheapest(selected.into_iter(), |trials| trials.removal_flops(3));
        let (_, none) = importance(few * (1.0 - 1e-9), &selector, &design, &selected);
        let expected = WorthRecord { no_without: selected.to_vec(), no_substitutes: selected.to_vec() };
        assert_eq!(none, Some(expected));
        let (_, removals) = importance(few, &selector, &design, &selected);
        let expected = WorthRecord { no_without: vec![], no_substitutes: selected.to_vec() };
        assert_eq!(removals, Some(expected));
        let all = trials.exchange_flops(3, 77);
        let (_, exchanges) = importance(few + all * (1.0 + 1e-9), &selector, &design, &selected);
        assert_eq!(exchanges, None);
        let (_, fewer) = importance(few + all * (1.0 - 1e-9), &selector, &design, &selected);
        assert!(fewer.is_some());
    }
}

#[test]
fn nothing_is_left_out_where_all_columns_are_chosen() {
    let selector = selector(Loo::default());
    let design = selector.design(&data::regression(20, 3, 5).problem()).unwrap();
    let (columns, left_out) = importance(f64::INFINITY, &selector, &design, &[2, 0, 1]);
    assert_eq!(left_out, None);
    assert!(columns.iter().all(|worth| worth.without.is_some() && worth.substitutes.is_none()));
}

#[test]
fn a_stop_leaves_out_what_was_not_reached() {
    let selector = selector(Loo::default());
    let design = selector.design(&data::regression(40, 30, 7).problem()).unwrap();
    let sign = vaglio_core::StopSign::new(|| Some(vaglio_core::StopReason::Limit));
    let mut silent = Silent;
    let monitor = Monitor { stop: sign, ..Monitor::from(&mut silent) };
    let mut columns = columns(&[1, 2]);
    let trials = TrialDesign::new(&selector, &design);
    let left_out = record_importance(f64::INFINITY, &trials, &mut columns, &StageMonitor::new(monitor)).unwrap();
    assert_eq!(left_out.unwrap().no_substitutes, [1, 2]);
}
