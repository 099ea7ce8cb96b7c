//! Every law of a search fails on a faulty one, and holds on a correct one.

mod shrink;
mod steps;
mod without_steps;

use crate::common::{TOLERANCE, breaks, broken_law};
use crate::criterion_laws::folds::{self, Folds};
use shrink::Shrink;
use std::collections::BTreeMap;
use steps::{Fault, Steps};
use vaglio_core::{Criterion, Design, Feature, Result, Score, SearchExtent, saved};
use vaglio_search::{Blocks, FeatureRef, Path, Search, SearchContext, SearchStrategy, Space};
use vaglio_testkit::{LawResult, SearchLaws, check_search, check_search_on_standard_data, data};

/// Faults with the law that finds each.
const FAULTS: [(Fault, &str); 35] = [
    (Fault::StepScore, "steps"),
    (Fault::StepSize, "steps"),
    (Fault::NanScore, "full_run"),
    (Fault::LambdaLost, "steps"),
    (Fault::EmptyScore, "steps"),
    (Fault::AddsTwice, "steps"),
    (Fault::Unobserved, "steps"),
    (Fault::EntryScore, "entries"),
    (Fault::EntryOrder, "entries"),
    (Fault::EntrySubset, "entries"),
    (Fault::EntryMissing, "entries"),
    (Fault::EntriesReversed, "entries"),
    (Fault::NotTheBest, "entries"),
    (Fault::ErrorsLarger, "entries"),
    (Fault::ChosenOutside, "entries"),
    (Fault::NothingChosen, "entries"),
    (Fault::RandomStep, "deterministic"),
    (Fault::ExtentShort, "extent"),
    (Fault::IgnoresStop, "stops"),
    (Fault::OwnReason, "stops"),
    (Fault::HighestWins, "ties"),
    (Fault::TiesUnseen, "ties"),
    (Fault::TakesConstants, "constants"),
    (Fault::CountsConstants, "lacking"),
    (Fault::PanicsOnNothing, "no_candidates"),
    (Fault::FailsOnNothing, "no_candidates"),
    (Fault::PartialOnNothing, "no_candidates"),
    (Fault::PanicsOnFewRows, "few_rows"),
    (Fault::OneTooMany, "settings"),
    (Fault::Excluded, "settings"),
    (Fault::MinFeatures, "settings"),
    (Fault::Tolerance, "settings"),
    (Fault::ChooseBest, "settings"),
    (Fault::Blocks, "settings"),
    (Fault::Forced, "settings"),
];

/// A correct criterion.
pub const RIGHT: Folds = Folds { fault: folds::Fault::None };

/// Builds a design with copies and constants, on which every law has cases to test.
fn design() -> Design {
    data::regression(14, 6, 3).weighted().duplicates(1).constants(1).design(&[0.3], true)
}

fn check(search: &Search) -> LawResult {
    check_search(search, &RIGHT, &design(), TOLERANCE)
}

fn steps() -> Search {
    Search::new(Steps::default())
}

#[test]
fn what_is_right_keeps_every_law() {
    check(&Search::new(Steps { fault: Fault::EndsEarly })).unwrap();
    check(&Search::new(Shrink {})).unwrap();
    check_search_on_standard_data(&steps(), &RIGHT, TOLERANCE).unwrap();
}

#[test]
fn every_fault_is_found_by_its_law() {
    FAULTS.into_iter().for_each(|(fault, law)| breaks(fault, law, check(&Search::new(Steps { fault }))));
}

#[test]
fn a_search_that_depends_on_the_number_of_threads_is_found() {
    let wrong = Search::new(Steps { fault: Fault::Pool });
    let (design, right) = (design(), steps());
    let [wrong, right] = [&wrong, &right].map(|search| SearchLaws::new(search, &RIGHT, &design).unwrap());
    assert_eq!(broken_law(wrong.threads()), "threads");
    right.threads().unwrap();
}

/// Settings that name columns, by name and by index, do not exempt a search from the laws.
#[test]
fn a_sound_search_with_settings_of_columns_keeps_every_law() {
    let by_name = |names: &[&str]| names.iter().map(|name| FeatureRef::from(*name)).collect::<Vec<_>>();
    let blocks = Blocks::Named(BTreeMap::from([("pair".to_owned(), by_name(&["x0", "x3"]))]));
    for search in [
        steps().forced(by_name(&["x2", "x1"])),
        steps().forced([FeatureRef::Index(2)]),
        steps().excluded(by_name(&["x0", "x1"])),
        steps().excluded([FeatureRef::Index(0)]),
        steps().min_features(3).max_features(4),
        steps().blocks(blocks),
    ] {
        let outcome = check_search(&search, &RIGHT, &design(), TOLERANCE);
        outcome.map_err(|broken| broken.within(&format!("{search:?}"))).unwrap();
    }
}

/// If the criterion cannot compare the empty subset and scores it lowest, a descending search stays there.
#[test]
fn a_search_that_rightly_stays_at_the_empty_subset_keeps_every_law() {
    #[saved(Criterion, "redundancy")]
    struct Redundancy {}

    impl Criterion for Redundancy {
        fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
            let inner = RIGHT.evaluate(design, subset)?;
            Ok(if subset.is_empty() { Score { loss: 0.0, ..inner } } else { Score { loss: 1.0 + inner.loss, ..inner } })
        }

        fn folds(&self, design: &Design) -> Result<vaglio_core::HeldOut> {
            RIGHT.folds(design)
        }
    }
    let search = Search::new(Steps { fault: Fault::Descends });
    check_search(&search, &Redundancy {}, &design(), TOLERANCE).unwrap();
    // The fault is also found under the other criterion.
    let wrong = Search::new(Steps { fault: Fault::EmptyScore }).tolerance(0.0);
    assert_eq!(broken_law(check_search(&wrong, &Redundancy {}, &design(), TOLERANCE)), "steps");
}

/// Reports its constraints but ignores them.
#[saved(SearchStrategy, "careless")]
#[derive(Default)]
struct Careless {}

impl SearchStrategy for Careless {
    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        Steps::default().run(space, context)
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        Steps::default().extent(space)
    }
}

#[test]
fn a_search_that_forgets_its_constraints_is_found() {
    let (search, design) = (Search::new(Careless {}), design());
    let full = SearchLaws::new(&search, &RIGHT, &design).unwrap();
    assert_eq!(broken_law(full.constraints()), "constraints");
}

#[test]
fn a_path_with_nothing_to_see_is_refused() {
    let one = data::regression(12, 1, 1).constants(2).design(&[1.0], true);
    let search = steps();
    let full = SearchLaws::new(&search, &RIGHT, &one).unwrap();
    assert_eq!(broken_law(full.stops(TOLERANCE)), "stops");
    assert_eq!(broken_law(full.ties()), "ties");
    let none = data::regression(12, 0, 1).constants(2).design(&[1.0], true);
    assert_eq!(broken_law(SearchLaws::new(&search, &RIGHT, &none).map(drop)), "full_run");
}
