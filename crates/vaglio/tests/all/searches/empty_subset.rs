//! The empty subset as the result.

use super::common::{by_definition, fast, loss, refs};
use serde_json::{Value, json};
use vaglio::core::{Criterion, Design, Feature, Score, StopReason};
use vaglio::criteria::{Loo, Mrmr};
use vaglio::search::{Choose, Exhaustive, Floating, Greedy, Search, SearchContext, Silent, SubsetScorer};
use vaglio_testkit::{SplitMix64, data};

/// Columns and a target that have nothing to do with each other, of which no subset predicts.
fn noise(rows: usize, columns: usize, seed: u64) -> Design {
    let mut random = SplitMix64::new(seed);
    let mut column = || (0..rows).map(|_| random.normal()).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = (0..columns).map(|_| column()).collect();
    let target = column();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let problem = data::given(&columns, &[&target], vaglio::core::Task::Regression).unwrap();
    Design::identity(&problem, vaglio::core::Readout::new(vec![1.0], true).unwrap())
}

fn search(mut settings: Value, more: &Value) -> Search {
    let more = more.as_object().unwrap().clone();
    settings.as_object_mut().unwrap().extend(more);
    serde_json::from_value(settings).unwrap()
}

const FORWARD: [&str; 5] = ["greedy", "floating", "exhaustive", "rank", "random"];

#[test]
fn no_column_is_taken_where_none_beats_the_empty_subset() {
    let (mut none, mut some) = (0, 0);
    for seed in 0..12 {
        let design = noise(20, 5, seed);
        for kind in FORWARD {
            for choose in ["best", "auto"] {
                let search = search(json!({"kind": kind}), &json!({"choose": choose}));
                for path in [fast(&search, &design, &mut Silent), by_definition(&search, &design)] {
                    let lowest = path.entries.iter().map(|e| e.score.loss).fold(f64::INFINITY, f64::min);
                    assert!(!path.entries.is_empty(), "{kind}: the walk is what it was");
                    match path.result() {
                        None => assert!(lowest >= path.empty.loss - 1e-6, "{kind} {seed}"),
                        Some(entry) => assert!(entry.score.loss == lowest && lowest < path.empty.loss, "{kind} {seed}"),
                    }
                    none += usize::from(path.chosen.is_none());
                    some += usize::from(path.chosen.is_some());
                }
            }
        }
    }
    assert!(none > 20 && some > 20, "{none} {some}");
}

#[test]
fn what_asks_for_columns_gets_them() {
    let design = (0..)
        .map(|seed| noise(20, 5, seed))
        .find(|d| fast(&Search::new(Exhaustive::default()), d, &mut Silent).chosen.is_none());
    let design = design.unwrap();
    for kind in FORWARD {
        for more in [
            json!({"choose": "last"}),
            json!({"choose": 2}),
            json!({"choose": "best", "min_features": 1}),
            json!({"choose": "best", "forced": [1]}),
        ] {
            let search = search(json!({"kind": kind}), &more);
            assert!(fast(&search, &design, &mut Silent).result().is_some(), "{kind} {more}");
        }
    }
    let backward = search(json!({"kind": "backward"}), &json!({"choose": "best"}));
    assert!(fast(&backward, &design, &mut Silent).result().is_some(), "backward keeps one");
}

/// Within one standard error of the lowest score the fewest columns are taken, which can be none.
#[test]
fn one_standard_error_counts_the_empty_subset() {
    let mut none = 0;
    for seed in 0..12 {
        let design = data::regression(14, 5, seed).design(&[30.0 * seed as f64 + 0.1], true);
        for kind in FORWARD {
            let search = search(json!({"kind": kind}), &json!({"choose": "one_se"}));
            let path = fast(&search, &design, &mut Silent);
            let best = path.entries.iter().min_by(|a, b| a.score.loss.total_cmp(&b.score.loss)).unwrap();
            let bound = best.score.loss + best.standard_error.unwrap();
            let first = path.entries.iter().find(|e| e.score.loss <= bound).unwrap();
            let is_none = path.empty.loss <= bound || best.score.loss >= path.empty.loss - 1e-6;
            assert_eq!(path.result(), (!is_none).then_some(first), "{kind} {seed}");
            none += usize::from(is_none);
        }
    }
    assert!((5..55).contains(&none), "{none}");
}

/// ε: what is on the path must lower the score of the empty subset by so much.
#[test]
fn a_tolerance_above_the_first_gain_leaves_nothing() {
    let design = data::regression(20, 6, 3).design(&[1.0], true);
    let gain = |features: &[usize]| loss(&design, &[]) - loss(&design, features);
    let best = fast(&Exhaustive::new(1), &design, &mut Silent).entries[0].subset[0];
    let first = gain(&[best]);
    assert!(first > 0.0);
    let floating = |tolerance: f64| fast(&Search::new(Floating {}).tolerance(tolerance), &design, &mut Silent);
    assert!(floating(0.999 * first).result().is_some());
    let path = floating(1000.0 * first);
    assert!(path.result().is_none() && path.stop_reason == StopReason::Tolerance);
    assert_eq!(path.entries[0].subset, [best], "the walk keeps one");
    let forced = Search::new(Floating {}).forced(refs(&[best])).tolerance(1000.0 * first);
    assert_eq!(fast(&forced, &design, &mut Silent).result().unwrap().subset, [best]);
    let greedy = Search::new(Greedy {}).tolerance(1000.0 * first).choose(Choose::Best);
    let path = fast(&greedy, &design, &mut Silent);
    assert!(path.result().is_none() && path.entries.is_empty());
}

/// Leave-one-out of few columns; more are refused by a score of +∞.
#[vaglio::core::saved(Criterion, "few_columns")]
struct Few {
    most: usize,
}

impl Criterion for Few {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> vaglio::core::Result<Score> {
        if subset.len() > self.most { Ok(Score::WORST) } else { Loo::default().evaluate(design, subset) }
    }
}

#[test]
fn no_result_has_an_infinite_score() {
    let design = data::regression(14, 5, 2).weighted().design(&[0.3], true);
    let mut found = 0;
    for kind in ["greedy", "floating", "exhaustive", "rank", "random", "lars", "all", "backward"] {
        for (choose, polish) in [("best", "none"), ("last", "none"), ("best", "swaps")] {
            let more = if kind == "all" { json!({}) } else { json!({"choose": choose, "polish": polish}) };
            let search = search(json!({"kind": kind}), &more);
            for most in [0, 2, 5] {
                let criterion = Few { most };
                if search.check(&criterion, &design).is_err() {
                    continue;
                }
                let subset = SubsetScorer::open(&criterion, &design, &search.extent(&design).unwrap()).unwrap();
                let mut silent = Silent;
                let path = search.run(&mut SearchContext::new(subset, &mut silent, 0)).unwrap();
                let on = format!("{kind} {choose} {polish} {most}: {:?} {:?}", path.chosen, path.entries);
                let result = path.result().map(|entry| entry.score.loss);
                assert!(result.is_none_or(f64::is_finite), "{on}");
                // From all columns no single removal leads to a score that is finite.
                let is_lost = most == 0 || most == 2 && ["all", "backward"].contains(&kind);
                assert!(result.is_none() || !is_lost, "{on}");
                assert!(result.is_some() || most < 5, "{on}");
                found += usize::from(result.is_some() && most == 2);
            }
        }
    }
    assert!(found > 8, "{found}");
}

/// The mRMR score of no columns does not compare with that of one, so the first column is no step without improvement.
#[test]
fn tolerance_counts_from_the_first_column_where_none_does_not_compare() {
    let design = data::regression(40, 6, 3).design(&[1.0], true);
    let criterion: &dyn Criterion = &Mrmr::default();
    let walk = |settings: Value| {
        let search: Search = serde_json::from_value(settings).unwrap();
        let subset = SubsetScorer::by_definition(criterion, &design);
        search.run(&mut SearchContext::new(subset, &mut Silent, 0)).unwrap()
    };
    for kind in ["greedy", "floating", "rank", "random"] {
        let free = walk(json!({"kind": kind, "choose": "last", "tolerance": null}));
        for (patience, size) in [(Value::Null, 1), (json!(2), 3)] {
            let given = json!({"kind": kind, "choose": "last", "tolerance": 10.0, "patience": patience});
            let path = walk(given);
            assert_eq!(path.entries.len(), size, "{kind} {patience}");
            let alike = path.entries.iter().zip(&free.entries).all(|(a, b)| a.subset == b.subset);
            // Of three or more, floating takes columns back on the way.
            assert!(alike || kind == "floating", "{kind} {patience}");
        }
    }
}
