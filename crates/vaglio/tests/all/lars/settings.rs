//! Settings of the path, and what ends it.

use super::common::{Positive, design, factors, walk, watched};
use serde_json::json;
use std::collections::BTreeMap;
use vaglio::Selector;
use vaglio::core::{Action, StopReason, Task};
use vaglio::criteria::{KFold, Loo};
use vaglio::learners::Rls;
use vaglio::search::{Blocks, Choose, Event, FeatureRef, Lars, Observer, Polish, Rank, Search, Silent};
use vaglio_testkit::data;

#[test]
fn the_path_to_a_size_is_the_first_part_of_the_whole() {
    for seed in 0..4 {
        let design = factors(40, 15, seed);
        let whole = walk(&Search::new(Lars::default()), &Loo::default(), &design);
        for most in [1, 5, 9] {
            let part = walk(&Lars::new(most), &Loo::default(), &design);
            assert_eq!(part.stop_reason, StopReason::MaxFeatures);
            assert_eq!(part.steps[..], whole.steps[..part.steps.len()]);
            let sizes: Vec<usize> = part.steps.iter().map(|step| step.size).collect();
            assert!(sizes.iter().position(|size| *size == most) == Some(sizes.len() - 1));
        }
    }
}

#[test]
fn excluded_columns_never_enter_and_sizes_are_kept_to() {
    let design = factors(40, 15, 2);
    let whole = walk(&Search::new(Lars::default()), &Loo::default(), &design);
    let first = whole.steps[0].feature;
    let search = Lars::new(9)
        .excluded(vec![FeatureRef::Name(design.problem().names()[first].clone())])
        .min_features(6)
        .choose(Choose::OneSe);
    let path = walk(&search, &Loo::default(), &design);
    assert!(path.steps.iter().all(|step| step.feature != first));
    assert!((6..=9).contains(&path.result().unwrap().subset.len()));
    let last = walk(&Lars::new(7).choose(Choose::Last), &Loo::default(), &design);
    assert_eq!(last.result().unwrap().subset.len(), 7);
}

#[test]
fn polishing_only_lowers_the_score() {
    for seed in 0..3 {
        let design = factors(30, 12, seed);
        let plain = walk(&Lars::new(4), &Loo::default(), &design);
        let polished = walk(&Lars::new(4).polish(Polish::Swaps), &Loo::default(), &design);
        assert!(polished.result().unwrap().score.loss <= plain.result().unwrap().score.loss);
        assert_eq!(polished.steps[..plain.steps.len()], plain.steps[..]);
    }
}

#[test]
fn a_path_of_nothing_ends_at_once() {
    let wave = |k: usize| (0..12).map(|j| ((j * k) as f64 * 0.7).sin()).collect::<Vec<f64>>();
    let (a, b) = (wave(1), wave(3));
    let flat = design(&[&a, &b], &[2.5; 12]);
    let path = walk(&Search::new(Lars::default()), &Loo::default(), &flat);
    assert!(path.steps.is_empty() && path.chosen.is_none() && path.stop_reason == StopReason::NoCorrelation);
    let opposite: Vec<f64> = a.iter().map(|v| -v).collect();
    let path = walk(&Search::new(Lars::default()), &Positive, &design(&[&a], &opposite));
    assert!(path.steps.is_empty() && path.stop_reason == StopReason::NoCorrelation);
    let path = walk(&Search::new(Lars::default()), &Loo::default(), &design(&[&[3.0; 12]], &a));
    assert!(path.steps.is_empty() && path.stop_reason == StopReason::NoCandidates);
}

#[test]
fn an_observer_stops_it_after_any_step() {
    struct After(usize);
    impl Observer for After {
        fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
            let Event::Step(step) = event else { return None };
            assert!(step.knot.is_some());
            self.0 -= 1;
            if self.0 == 0 { Some(StopReason::Interrupted) } else { None }
        }
    }
    let design = factors(40, 15, 0);
    let whole = walk(&Search::new(Lars::default()), &Positive, &design);
    assert!(whole.steps.iter().any(|step| step.action == Action::Remove));
    for after in 1..whole.steps.len() {
        let path = watched(&Search::new(Lars::default()), &Positive, &design, &mut After(after)).unwrap();
        assert_eq!((&path.steps[..], path.stop_reason), (&whole.steps[..after], StopReason::Interrupted));
    }
}

#[test]
fn settings_without_meaning_are_refused() {
    let design = factors(20, 4, 0);
    let blocks = Blocks::Named(BTreeMap::from([("pair".to_owned(), vec![FeatureRef::Index(0)])]));
    let plain = || Search::new(Lars::default());
    for (field, search) in [
        ("tolerance", plain().tolerance(0.1)),
        ("patience", plain().patience(1)),
        ("forced", plain().forced(vec![FeatureRef::Index(1)])),
        ("blocks", plain().blocks(blocks)),
    ] {
        let error = search.check(&Loo::default(), &design).unwrap_err();
        assert_eq!(error.field(), Some(field), "{error}");
    }
}

#[test]
fn several_outputs_and_classes_are_walked() {
    for problem in [data::regression(30, 5, 2).outputs(2).problem(), data::multiclass(40, 5, 3, 2).problem()] {
        for selector in [
            Selector::params(Loo::default(), Lars::default(), Rls::default()),
            Selector::params(
                KFold { stratified: *problem.task() != Task::Regression, ..KFold::default() },
                Lars::default(),
                Rls::default(),
            ),
        ] {
            let selection = linfa::ParamGuard::check(selector).unwrap().select(&problem, &mut Silent).unwrap();
            assert_eq!(selection.path.steps.len(), 5);
            assert!(selection.path.steps.iter().all(|s| s.knot.as_ref().unwrap().alpha.len() == s.size));
        }
    }
    let problem = data::regression(20, 5, 2).problem();
    let selector = Selector::params(Loo::default(), Lars::new(3), Rls::default());
    let selection = linfa::ParamGuard::check(selector).unwrap().select(&problem, &mut Silent).unwrap();
    assert_eq!(selection.path.steps.len(), 3);
}

#[test]
fn searches_are_written_as_they_are_read() {
    for value in [
        json!({"kind": "lars", "lasso": false, "max_features": 3, "excluded": ["x1", 2], "choose": "last"}),
        json!({"kind": "rank", "max_features": 3, "forced": ["x1"], "polish": "swaps"}),
    ] {
        let read: Search = serde_json::from_value(value.clone()).unwrap();
        let written = serde_json::to_value(&read).unwrap();
        for (key, set) in value.as_object().unwrap() {
            assert_eq!(&written[key], set);
        }
        let again: Search = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&again).unwrap(), written);
    }
    let bare: Search = serde_json::from_value(json!({"kind": "lars"})).unwrap();
    assert_eq!(bare, Search::new(Lars::default()));
    let bare: Search = serde_json::from_value(json!({"kind": "rank"})).unwrap();
    assert_eq!(bare, Search::new(Rank {}));
}
