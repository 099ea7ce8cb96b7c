//! Beam search keeps every law, is greedy search at width 1 and a search of all subsets at a large width.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

use vaglio_beam::Beam;
use vaglio_core::{Criterion, Design};
use vaglio_dependence::{Mrmr, Scheme};
use vaglio_search::{
    Choose, Exhaustive, FeatureRef, Greedy, Path, Polish, Search, SearchContext, Silent, SubsetScorer,
};
use vaglio_testkit::{check_search, check_search_on_standard_data, data, registry};

const CRITERIA: [Mrmr; 2] = [Mrmr { scheme: Scheme::Difference }, Mrmr { scheme: Scheme::Quotient }];

fn path(search: &Search, criterion: &dyn Criterion, design: &Design) -> Path {
    search.check(criterion, design).unwrap();
    let subset = SubsetScorer::open(criterion, design, &search.extent(design).unwrap()).unwrap();
    search.run(&mut SearchContext::new(subset, &mut Silent, 0)).unwrap()
}

fn designs() -> Vec<Design> {
    vec![
        data::regression(30, 9, 1).weighted().design(&[0.5], true),
        data::regression(25, 7, 2).duplicates(2).constants(1).design(&[0.5], true),
        data::multiclass(30, 8, 3, 3).collinear(0.2).design(&[0.5], true),
    ]
}

fn wide(width: usize) -> Search {
    Search::new(Beam { width }).choose(Choose::Last)
}

#[test]
fn every_law_holds_on_the_standard_data() {
    for criterion in CRITERIA {
        for width in [1, 2, 5] {
            check_search_on_standard_data(&wide(width), &criterion, 1e-11).unwrap();
        }
    }
}

#[test]
fn every_law_holds_with_blocks_and_swaps() {
    let design = data::regression(20, 8, 4).duplicates(1).design(&[0.5], true);
    let search: Search = serde_json::from_value(serde_json::json!({
        "kind": "beam", "width": 3, "max_features": 6, "blocks": {"b": [5, 3], "c": [4, 6]}, "polish": "swaps"
    }))
    .unwrap();
    check_search(&search, &CRITERIA[0], &design, 1e-11).unwrap();
}

#[test]
fn a_width_of_1_is_the_greedy_search() {
    let shared = |forced: Vec<FeatureRef>, polish| {
        let excluded = vec![FeatureRef::Index(3)];
        let greedy = Search::new(Greedy {})
            .forced(forced.clone())
            .excluded(excluded.clone())
            .tolerance(-0.2)
            .patience(1)
            .polish(polish);
        let beam =
            Search::new(Beam { width: 1 }).forced(forced).excluded(excluded).tolerance(-0.2).patience(1).polish(polish);
        (greedy, beam)
    };
    for design in designs() {
        for criterion in CRITERIA {
            for (forced, polish) in [(vec![], Polish::None), (vec![FeatureRef::Index(4)], Polish::Swaps)] {
                let (greedy, beam) = shared(forced, polish);
                assert_eq!(path(&beam, &criterion, &design), path(&greedy, &criterion, &design));
            }
            assert_eq!(
                path(&wide(1), &criterion, &design).steps,
                path(&Search::new(Greedy {}), &criterion, &design).steps
            );
        }
    }
}

#[test]
fn a_large_width_finds_the_best_of_every_size() {
    let mut better = 0;
    for design in designs() {
        for criterion in CRITERIA {
            let all = path(&Search::new(Exhaustive::default()), &criterion, &design);
            let (beam, greedy) = (path(&wide(200), &criterion, &design), path(&wide(1), &criterion, &design));
            for ((best, found), first) in all.entries.iter().zip(&beam.entries).zip(&greedy.entries) {
                assert_eq!(best.subset.len(), found.subset.len());
                assert!((best.score.loss - found.score.loss).abs() <= 1e-12);
                better += usize::from(found.score.loss < first.score.loss - 1e-9);
            }
            assert_eq!(all.entries.len(), beam.entries.len());
        }
    }
    assert!(better > 0, "greedy search misses nothing here");
}

#[test]
fn no_subset_at_all_is_refused() {
    let error = wide(0).check(&CRITERIA[0], &designs()[0]).unwrap_err();
    assert_eq!(error.to_string(), "`width`: 0 subsets cannot be kept; 1 is the least");
}

#[test]
fn it_is_registered_and_written_as_it_is_read() {
    registry::check_registry(&[]).unwrap();
    let search: Search = serde_json::from_value(serde_json::json!({"kind": "beam"})).unwrap();
    assert_eq!(search, Search::new(Beam::default()));
    let written = serde_json::to_string(&search).unwrap();
    assert!(written.starts_with(r#"{"kind":"beam","max_features":null,"min_features":null,"width":5,"#), "{written}");
    let unknown = serde_json::json!({"kind": "beam", "widht": 3});
    assert!(serde_json::from_value::<Search>(unknown).is_err());
}
