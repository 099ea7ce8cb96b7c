use super::*;
use crate::evaluations::drop_column::record_importance;
use linfa::ParamGuard;
use std::collections::BTreeMap;
use vaglio_core::{Criterion, Problem, Round, Task};
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::selector::Selector;
use vaglio_search::{Blocks, Choose, Constraints, Exhaustive, Greedy, Search, Silent};
use vaglio_testkit::{SplitMix64, data};
use vaglio_validate::{KFold, Loo};

fn selector(criterion: impl Criterion + 'static, choose: Choose) -> ValidSelector {
    let search = Search::new(Greedy {}).max_features(6).choose(choose);
    Selector::params(criterion, search, Rls::default()).seed(5).check().unwrap()
}

fn kfold() -> KFold {
    KFold { folds: Some(5), ..KFold::default() }
}

struct NearFound {
    design: Design,
    met: Vec<Vec<Feature>>,
    record: AlternativesRecord,
    selection: Selection,
}

fn find_subsets(selector: &ValidSelector, problem: &Problem, asked: Alternatives) -> NearFound {
    let sample = Sample::from_problem(problem.clone(), false);
    let selection = selector.select(problem, &mut Silent).unwrap();
    let design = selector.design(problem).unwrap().at_lambda(selection.chosen.path_lambda());
    let mut silent = Silent;
    let watcher = StageMonitor::new(&mut silent);
    let column = |&index: &Feature| SelectedRecord { index, ..SelectedRecord::default() };
    let mut selected: Vec<SelectedRecord> = selection.path.subset().iter().map(column).collect();
    let trials = TrialDesign::new(selector, &design);
    record_importance(f64::INFINITY, &trials, &mut selected, &watcher).unwrap();
    let sources =
        SubsetSources { trials: &trials, sample: &sample, selection: &selection, selected: &selected, nested: None };
    let record = sources.near_best(&asked, &watcher).unwrap().unwrap();
    let met = sources.visited_subsets().unwrap();
    NearFound { design, met, record, selection }
}

/// Settings for subsets within a part of the lowest score.
fn within(part: f64) -> Alternatives {
    Alternatives { within: part.into(), count: 1000 }
}

fn column_names(design: &Design, subset: &[Feature]) -> Vec<String> {
    subset.iter().map(|&feature| design.problem().names()[feature].clone()).collect()
}

#[test]
fn subsets_met_are_those_of_steps_folds_and_exchanges() {
    let selector = selector(kfold(), Choose::Auto);
    let NearFound { met, selection, .. } = find_subsets(&selector, &data::regression(40, 9, 2).problem(), within(0.1));
    let sorted = |subset: &[Feature]| {
        let mut subset = subset.to_vec();
        subset.sort_unstable();
        subset
    };
    let chosen = sorted(selection.path.subset());
    assert_eq!(met[0], chosen);
    let is_met = |subset: &[Feature]| met.contains(&sorted(subset));
    assert!(is_met(&[]) && selection.path.entries.iter().all(|entry| is_met(&entry.subset)));
    assert!(!selection.chosen.fold_entries.is_empty());
    assert!(selection.chosen.fold_entries.iter().all(|entry| is_met(&entry.subset)));
    for column in &chosen {
        let rest: Vec<Feature> = chosen.iter().copied().filter(|other| other != column).collect();
        assert!(is_met(&rest));
        let exchanged = met.iter().filter(|s| s.len() == chosen.len() && rest.iter().all(|f| s.contains(f)));
        assert!(exchanged.count() >= 3);
    }
    let unique: BTreeSet<&Vec<Feature>> = met.iter().collect();
    assert_eq!(unique.len(), met.len());
}

#[test]
fn subsets_met_are_those_that_the_search_may_choose() {
    let search = Search::new(Greedy {}).max_features(6).excluded([0]).forced([4]).choose(Choose::Size(3));
    let selector = Selector::params(kfold(), search, Rls::default()).seed(5).check().unwrap();
    let NearFound { met, .. } = find_subsets(&selector, &data::regression(40, 9, 2).problem(), within(0.1));
    assert!(met.len() > 3 && met.iter().all(|subset| subset.contains(&4) && !subset.contains(&0)), "{met:?}");

    let blocks = Blocks::Named(BTreeMap::from([("p".to_owned(), vec![0.into(), 5.into()])]));
    let search = Search::new(Greedy {}).max_features(6).blocks(Some(blocks)).choose(Choose::Size(3));
    let selector = Selector::params(kfold(), search, Rls::default()).seed(5).check().unwrap();
    let NearFound { met, .. } = find_subsets(&selector, &data::regression(40, 9, 2).problem(), within(0.1));
    assert!(met.len() > 3 && met.iter().all(|subset| subset.contains(&0) == subset.contains(&5)), "{met:?}");
}

#[test]
fn subsets_with_weights_of_wrong_signs_are_not_near() {
    let mut random = SplitMix64::new(3);
    let mut normal = || (0..40).map(|_| random.normal()).collect::<Vec<f64>>();
    let (x, z, noise) = (normal(), normal(), normal());
    // The second column has a negative weight next to the first, and a positive one alone.
    let alike: Vec<f64> = (0..40).map(|row| 0.9 * x[row] + 0.4 * z[row]).collect();
    let y: Vec<f64> = (0..40).map(|row| 2.0 * x[row] - alike[row] + 0.1 * noise[row]).collect();
    let problem = data::given(&[&x, &alike], &[&y], Task::Regression).unwrap();
    let near = |constraints: Option<Constraints>| {
        let search = Search::new(Greedy {}).choose(Choose::Size(2)).constraints(constraints);
        let selector = Selector::params(kfold(), search, Rls::default()).seed(5).check().unwrap();
        let NearFound { record, .. } = find_subsets(&selector, &problem, within(1e6));
        record.subsets.into_iter().map(|subset| subset.columns).collect::<Vec<_>>()
    };
    let is_alone = |subset: &Vec<String>| subset[..] == ["x1"];
    assert!(near(None).iter().any(is_alone));
    let kept = near(Some(Constraints::default().negative("x1")));
    assert!(kept.len() > 1 && !kept.iter().any(is_alone), "{kept:?}");
}

#[test]
fn near_by_a_part_is_near_by_the_definition() {
    for selector in [selector(kfold(), Choose::Size(3)), selector(Loo::default(), Choose::Size(3))] {
        let NearFound { design, met, record, .. } =
            find_subsets(&selector, &data::regression(40, 9, 4).problem(), within(0.05));
        let score = |subset: &Vec<Feature>| selector.criterion.evaluate(&design, subset).unwrap().loss;
        let limit = 1.05 * score(&met[0]);
        let mut near: Vec<&Vec<Feature>> = met.iter().filter(|subset| score(subset) <= limit).collect();
        near.sort_by(|a, b| score(a).total_cmp(&score(b)));
        let names: Vec<Vec<String>> = near.iter().map(|subset| column_names(&design, subset)).collect();
        assert_eq!(record.subsets.iter().map(|subset| subset.columns.clone()).collect::<Vec<_>>(), names);
        assert_eq!((record.count, record.met), (near.len() as u64, Some(met.len() as u64)));
        let holds = |wanted: usize| -> Vec<String> {
            let count = |feature: &Feature| near.iter().filter(|subset| subset.contains(feature)).count();
            column_names(&design, &(0..9).filter(|feature| count(feature) == wanted).collect::<Vec<_>>())
        };
        assert_eq!((&record.in_all, &record.in_none), (&holds(near.len()), &holds(0)));
        let fewest = near.iter().map(|subset| subset.len()).min().unwrap();
        assert!(record.smallest.len() <= 10 && record.smallest[0].columns.len() == fewest);
        assert!(record.smallest.is_sorted_by_key(|subset| subset.columns.len()));
    }
}

#[test]
fn one_standard_error_is_that_of_the_difference_on_the_same_rows() {
    let rule = within(0.0).within_one_se();
    for selector in [selector(kfold(), Choose::Size(3)), selector(Loo::default(), Choose::Size(3))] {
        let problem = data::regression(40, 9, 4).problem();
        let NearFound { design, met, record, .. } = find_subsets(&selector, &problem, rule);
        let rounds = match selector.criterion.folds(&design).unwrap() {
            HeldOut::Folds(rounds) => rounds[0].clone(),
            _ => Round::new((0..40).map(Some).collect()),
        };
        // The squared error of each row by plain retraining without its fold.
        let losses = |subset: &[Feature]| -> Vec<f64> {
            let mut losses = vec![0.0; 40];
            for fold in 0..rounds.count() {
                let held: Vec<usize> = rounds.held_out(fold).collect();
                let predicted = design.retrain(&rounds.training(fold), &held, subset, design.lambdas()[0]).unwrap();
                held.iter().enumerate().for_each(|(k, &row)| {
                    losses[row] = (design.targets()[[0, row]] - predicted[[0, k]]).powi(2);
                });
            }
            losses
        };
        let own = losses(&met[0]);
        let mut near = 1;
        for subset in &met[1..] {
            let apart: Vec<f64> = losses(subset).iter().zip(&own).map(|(a, b)| a - b).collect();
            let mean = apart.iter().sum::<f64>() / 40.0;
            let error = (apart.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (39.0 * 40.0)).sqrt();
            let listed = record.subsets.iter().find(|other| other.columns == column_names(&design, subset));
            assert_eq!(listed.is_some(), mean <= error, "{subset:?}: {mean} ± {error}");
            if let Some(listed) = listed {
                near += 1;
                assert!((listed.difference.unwrap() - mean).abs() < 1e-9);
                assert!((listed.difference_error.unwrap() - error).abs() < 1e-9);
            }
        }
        assert_eq!((record.count, record.limit), (near, None));
        assert!(near > 1 && (near as usize) < met.len(), "{near} of {}", met.len());
    }
}

#[test]
fn an_exhaustive_search_counts_all_subsets() {
    let search = Search::new(Exhaustive::default()).choose(Choose::Best);
    let selector = Selector::params(Loo::default(), search, Rls::default()).seed(5).check().unwrap();
    let NearFound { design, record, selection, .. } =
        find_subsets(&selector, &data::regression(40, 7, 4).problem(), within(0.1));
    assert!(record.is_whole && record.met.is_none());
    let limit = 1.1 * selection.path.result().unwrap().score.loss;
    let subsets = (1..1_u32 << 7).map(|mask| (0..7).filter(|bit| mask >> bit & 1 == 1).collect::<Vec<Feature>>());
    let is_near = |subset: &Vec<Feature>| selector.criterion.evaluate(&design, subset).unwrap().loss <= limit;
    let count = subsets.filter(is_near).count() as u64;
    assert!(record.count == count && count > 1, "{} is not {count}", record.count);
    assert_eq!(record.smallest.len() as u64, count.min(10));
}
