//! Settings that are refused, written and read; observers that stop.

use super::common::{designs, fast, searches};
use linfa::ParamGuard;
use serde_json::json;
use std::sync::Arc;
use vaglio::Selector;
use vaglio::core::{Criterion, SearchExtent, StopReason, StopSign};
use vaglio::criteria::{KFold, Loo, Nhsic};
use vaglio::learners::Rls;
use vaglio::search::{Chain, Event, Exhaustive, Floating, Greedy, Monitor, Observer, Path, Rank, Search, Silent};
use vaglio_testkit::data;

struct StopAt(usize);

impl Observer for StopAt {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        if !matches!(event, Event::Step(_) | Event::Visited { .. }) {
            return None;
        }
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Some(StopReason::Limit) } else { None }
    }
}

#[test]
fn every_search_stops_when_told_to() {
    let design = data::regression(20, 8, 43).design(&[0.4], true);
    for search in searches() {
        for after in 1..4 {
            let path = fast(&search, &design, &mut StopAt(after));
            assert_eq!(path.stop_reason, StopReason::Limit);
            match path.certificate {
                None => assert_eq!(path.steps.len(), after),
                Some(certificate) => assert!(!certificate.optimal && certificate.gap.is_none_or(|gap| gap >= 0.0)),
            }
        }
    }
    // After the first questions the greedy start has an entry of every size.
    let path = fast(&Search::new(Exhaustive::default()), &design, &mut StopAt(10));
    assert_eq!(path.entries.len(), 8);
}

#[test]
fn settings_that_cannot_be_are_refused_in_words() {
    let design = data::regression(12, 40, 44).constants(1).design(&[1.0], true);
    let refused = |settings: serde_json::Value| {
        let search: Search = serde_json::from_value(settings).unwrap();
        search.check(&Loo::default(), &design).unwrap_err().to_string()
    };
    let more: Search = serde_json::from_value(json!({"kind": "floating", "max_features": 50})).unwrap();
    more.check(&Loo::default(), &design).unwrap();
    let cases = [
        (
            json!({"kind": "backward", "max_features": 0}),
            "`max_features`: 0 features cannot be selected; 1 is the least",
        ),
        (
            json!({"kind": "backward", "max_features": 2, "min_features": 3}),
            "`min_features`: it is larger than max_features, which is 2",
        ),
        (json!({"kind": "greedy", "forced": ["x40"]}), "`forced`: `x40` is constant, so it cannot be selected"),
        (json!({"kind": "backward", "forced": [1], "excluded": ["x1"]}), "`excluded`: `x1` is forced as well"),
        (
            json!({"kind": "greedy", "blocks": {"a": ["x1", "x2"]}, "forced": [1], "excluded": [2]}),
            "`excluded`: `x2` moves with `x1` in the block `a`, and `x1` is forced",
        ),
        (
            json!({"kind": "greedy", "blocks": {"a": [1, 2], "b": [3, 2]}}),
            "`blocks.b[1]`: `x2` is in the block `a` already",
        ),
        (json!({"kind": "greedy", "blocks": {"a": [1, 1]}}), "`blocks.a[1]`: `x1` is listed twice"),
        (json!({"kind": "greedy", "blocks": {"a": []}}), "`blocks.a`: a block needs at least one column"),
        (
            json!({"kind": "greedy", "blocks": {"a": ["y1"]}}),
            "`blocks.a[0]`: there is no column `y1`; did you mean `x1`?",
        ),
        (
            json!({"kind": "greedy", "blocks": {"a": [1, 2, 3]}, "forced": [1], "max_features": 2}),
            "`forced`: 3 columns are forced and max_features is 2",
        ),
        (
            json!({"kind": "exhaustive", "tolerance": 0.1, "max_features": 2}),
            "`tolerance`: a search of all subsets has no steps to stop after; leave it out",
        ),
    ];
    for (settings, message) in cases {
        assert_eq!(refused(settings), message);
    }
    let search = Exhaustive::new(6);
    search.check(&Loo::default(), &design).unwrap();
    let many = Search::new(Exhaustive::default()).check(&KFold::new(5), &design).unwrap_err().to_string();
    assert_eq!(
        many,
        "`max_features`: there are 1099511627775 subsets of up to 40 columns, and of more than 2^30 a criterion must rule \
         out most without scoring them, which is not possible here; take a smaller max_features, or the search `floating` \
         with `polish: swaps`"
    );
    let wide = data::regression(5, 3000, 1).design(&[1.0], true);
    let words = Search::new(Exhaustive::default()).check(&Loo::default(), &wide).unwrap_err().to_string();
    assert!(words.contains("subsets of up to 3000 columns"), "{words}");
}

#[test]
fn settings_read_back_as_they_are_written() {
    let text = json!({
        "kind": "floating", "max_features": 4, "min_features": null, "tolerance": null, "patience": 2,
        "forced": ["a"], "excluded": [3], "choose": "one_se", "blocks": {"b": ["a", 2]}, "polish": "swaps"
    });
    for kind in ["greedy", "backward", "floating", "exhaustive"] {
        let mut text = text.clone();
        text["kind"] = json!(kind);
        for blocks in [json!(null), json!("one_hot"), json!({"b": ["a", 2]})] {
            text["blocks"] = blocks;
            let search: Search = serde_json::from_value(text.clone()).unwrap();
            let mut written = serde_json::to_value(&search).unwrap();
            if kind == "backward" {
                assert_eq!(written.as_object_mut().unwrap().shift_remove("step"), Some(json!(1)));
            }
            assert_eq!(written, text);
            let keys: Vec<&String> = written.as_object().unwrap().keys().skip(1).collect();
            let shared = "max_features min_features tolerance patience forced excluded choose blocks polish";
            assert_eq!(keys, shared.split(' ').collect::<Vec<_>>());
        }
    }
    let wrong = json!({"kind": "greedy", "blocks": "all"});
    let words = serde_json::from_value::<Search>(wrong).unwrap_err().to_string();
    assert!(words.contains("expected `one_hot` or a map from names to lists of columns"), "{words}");
    assert_eq!(Search::new(Floating {}).settings.tolerance, Some(1e-6));
    let extent: SearchExtent = Greedy::new(2).extent(&designs()[0]).unwrap();
    assert_eq!((extent.steps, extent.trials), (2, 11.0));
}

/// Moments and kernels of all columns come before the first step.
#[test]
fn what_comes_before_the_first_step_ends_when_the_run_does() {
    let problem = data::regression(40, 6, 3).problem();
    for criterion in [Arc::new(KFold::default()) as Arc<dyn Criterion>, Arc::new(Nhsic::default())] {
        let selector = Selector::params(criterion, Greedy::new(3), Arc::new(Rls::default()));
        let selector = selector.check().unwrap();
        let stop = StopSign::new(|| Some(StopReason::Interrupted));
        let path = selector.select(&problem, Monitor { stop, ..Monitor::from(&mut Silent) }).unwrap().path;
        assert_eq!((path.stop_reason, path.steps.len(), path.chosen), (StopReason::Interrupted, 0, None));
        assert!(path.empty.loss.is_finite());
    }
}

#[test]
fn ranks_beyond_the_rows_grow_by_a_fifth() {
    let design = data::regression(10, 40, 3).design(&[1.0], true);
    let sizes = |path: Path| path.entries.iter().map(|entry| entry.subset.len()).collect::<Vec<_>>();
    let few: Vec<usize> = (1..=10).chain([12, 15, 18, 22, 27, 33, 40]).collect();
    assert_eq!(sizes(fast(&Search::new(Rank {}), &design, &mut Silent)), few);
    let every = Search::new(Rank {}).tolerance(0.0).patience(40);
    assert_eq!(sizes(fast(&every, &design, &mut Silent)), (1..=40).collect::<Vec<_>>());
}

#[test]
fn later_stages_are_checked_on_as_many_columns_as_the_stage_before_takes() {
    let design = data::regression(30, 500, 4).design(&[1.0], true);
    // Over a billion subsets of four of 500 columns are refused; twelve columns have few.
    let refused = Exhaustive::new(4).check(&Loo::default(), &design).unwrap_err().to_string();
    assert!(refused.contains("subsets of up to 4 columns"), "{refused}");
    let chain = Chain::new(Rank::new(12)).then(Exhaustive::new(4));
    let path = fast(&chain.into(), &design, &mut Silent);
    // A column that the ranking takes may be forced, wherever it stands in the table.
    let last = *path.stages[0].taken.iter().max().unwrap();
    assert!(last >= 12, "{last}");
    let forced = Chain::new(Rank::new(12)).then(Greedy::new(3).forced([last]));
    let path = fast(&forced.into(), &design, &mut Silent);
    assert_eq!(path.steps[0].feature, last);
}
