//! Every law of a search fails on a faulty one, and holds on a correct one.

use crate::common::{ByDefinition, Forward, Shrink, TOLERANCE, broken_law, design, holds};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{Answer, Feature, Path, Result, Score, SearchExtent, Silent, Step, StopReason, Winner, saved};
use vaglio_search::{Search, SearchContext, SearchStrategy, Space, StrategyTraits, SubsetScorer};
use vaglio_testkit::{check_search, check_search_on_standard_data, criterion, data, search};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Fault {
    None,
    StepScore,
    StepSize,
    EmptyScore,
    AddsTwice,
    EntryScore,
    EntryOrder,
    EntrySubset,
    EntryMissing,
    EntriesUnsorted,
    NotTheBest,
    ChosenOutside,
    NothingChosen,
    Unobserved,
    IgnoresStop,
    OwnReason,
    OutlineShort,
    Random,
    HighestWins,
    TiesUnseen,
    TakesConstants,
    CountsConstants,
    PanicsOnNothing,
    FailsOnNothing,
    StepOnNothing,
    NanScore,
    Threads,
    StandardError,
    /// No fault: a search may end at any size.
    EndsEarly,
    /// No fault: the settings decide which size is the result.
    ChoosesFirst,
}

/// A greedy search with one fault.
#[saved(SearchStrategy, "wrong")]
pub struct Wrong {
    pub fault: Fault,
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

static THREADS: AtomicUsize = AtomicUsize::new(1);

impl SearchStrategy for Wrong {
    fn run(&self, _: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let candidates = context.candidates().to_vec();
        if candidates.is_empty() {
            match self.fault {
                Fault::PanicsOnNothing => panic!("an index is out of bounds"),
                Fault::FailsOnNothing => return Err(vaglio_core::Error::setting("max_features", "no candidates")),
                _ => {}
            }
        }
        let mut path = self.walk(context, &candidates)?;
        match self.fault {
            Fault::StepScore => path.steps[1].score.loss += 1e-3,
            Fault::StepSize => path.steps[1].size = 3,
            Fault::EmptyScore => path.empty.loss += 1e-3,
            Fault::EntryScore => path.entries[1].score.loss -= 1e-3,
            Fault::EntryOrder => path.entries[2].subset.swap(0, 2),
            Fault::EntrySubset => path.entries[0].subset = vec![path.entries[1].subset[1]],
            Fault::EntryMissing => drop(path.entries.remove(1)),
            Fault::EntriesUnsorted => path.entries.reverse(),
            Fault::CountsConstants => path.allowed = context.names().len() - 1..=usize::MAX,
            Fault::ChosenOutside => path.chosen = Some(path.entries.len()),
            Fault::NothingChosen => path.chosen = None,
            Fault::OwnReason if path.stop_reason.is_partial() => path.stop_reason = StopReason::Limit,
            Fault::StandardError => path.entries[1].standard_error = Some(0.0),
            Fault::ChoosesFirst if !path.entries.is_empty() => path.chosen = Some(0),
            Fault::NanScore => path.steps[0].score.loss = f64::NAN,
            Fault::StepOnNothing if path.entries.is_empty() => path.stop_reason = StopReason::Limit,
            Fault::Threads => path.steps[0].score.loss *= 1.0 + 1e-15 * THREADS.load(Ordering::SeqCst) as f64,
            _ => {}
        }
        Ok(path)
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let candidates = space.features();
        let steps = if self.fault == Fault::OutlineShort { 1 } else { candidates + 1 };
        Ok(SearchExtent { start: 0, largest: candidates + 1, trials: 100.0, steps })
    }

    fn traits(&self) -> StrategyTraits<'_> {
        StrategyTraits { settings: &[], ..StrategyTraits::default() }
    }
}

impl Wrong {
    fn walk(&self, context: &mut SearchContext<'_>, candidates: &[Feature]) -> Result<Path> {
        let empty = context.subset.score()?;
        let mut path = Path::stopped(empty, StopReason::NoCandidates);
        path.allowed = 0..=usize::MAX;
        loop {
            let chosen = context.subset.selected().to_vec();
            let free: Vec<Feature> = candidates.iter().copied().filter(|f| !chosen.contains(f)).collect();
            if self.fault == Fault::EndsEarly && free.len() == 1 {
                break;
            }
            let Some(winner) = self.winner(context, &free, chosen.len())? else { break };
            context.subset.add(winner.feature)?;
            let (size, score) = (chosen.len() + 1, winner.score);
            let mut step = Step::new(vaglio_core::Action::Add, winner.feature, score, size);
            step.tied = winner.tied;
            path.entries.push(vaglio_core::PathEntry::new(context.subset.selected().to_vec(), score));
            path.steps.push(step.clone());
            if self.fault == Fault::AddsTwice && size == 2 {
                path.steps.push(step.clone());
            }
            let answer =
                if self.fault == Fault::Unobserved && size == 2 { Answer::Continue } else { context.observe(&step) };
            if let (Answer::Stop(reason), true) = (answer, self.fault != Fault::IgnoresStop) {
                path.stop_reason = reason;
                break;
            }
        }
        if self.fault == Fault::NotTheBest && path.steps.len() > 2 {
            let second = path.steps[1].feature;
            context.subset.reset(&[])?;
            let score = crate::common::addition(&mut context.subset, second)?;
            path.entries[0] = vaglio_core::PathEntry::new(vec![second], score);
        }
        path.chosen = if path.entries.is_empty() { None } else { Some(path.entries.len() - 1) };
        Ok(path)
    }

    fn winner(&self, context: &mut SearchContext<'_>, free: &[Feature], size: usize) -> Result<Option<Winner>> {
        if self.fault == Fault::TakesConstants && size == 2 {
            let constant = context.names().len() - 1;
            let score = crate::common::addition(&mut context.subset, constant)?;
            return Ok(Some(Winner { feature: constant, score, tied: vec![] }));
        }
        let Some(mut winner) = context.subset.best_addition(free)? else { return Ok(None) };
        match self.fault {
            Fault::Random if CALLS.replace(CALLS.get() + 1) % 5 == 3 => {
                let feature = free[free.len() - 1];
                winner =
                    Winner { feature, score: crate::common::addition(&mut context.subset, feature)?, tied: vec![] };
            }
            Fault::HighestWins => {
                if let Some(last) = winner.tied.pop() {
                    winner.feature = last;
                    winner.tied.clear();
                }
            }
            Fault::TiesUnseen => winner.tied.clear(),
            _ => {}
        }
        Ok(Some(winner))
    }
}

fn law_of(fault: Fault) -> &'static str {
    broken_law(check_search(&Search::new(Wrong { fault }), &ByDefinition {}, &design(), TOLERANCE))
}

#[test]
fn what_is_right_keeps_every_law() {
    for fault in [Fault::None, Fault::EndsEarly, Fault::ChoosesFirst] {
        holds(check_search(&Search::new(Wrong { fault }), &ByDefinition {}, &design(), TOLERANCE));
    }
    holds(check_search(&Search::new(Forward {}), &ByDefinition {}, &design(), TOLERANCE));
}

#[test]
fn a_search_that_starts_from_all_columns_keeps_every_law() {
    holds(check_search(&Search::new(Shrink {}), &ByDefinition {}, &design(), TOLERANCE));
}

#[test]
fn what_is_right_keeps_every_law_on_the_standard_data() {
    holds(check_search_on_standard_data(&Search::new(Forward {}), &ByDefinition {}, TOLERANCE));
    holds(check_search_on_standard_data(&Search::new(Shrink {}), &ByDefinition {}, TOLERANCE));
}

#[test]
fn wrong_steps_are_found() {
    for fault in
        [Fault::StepScore, Fault::StepSize, Fault::EmptyScore, Fault::AddsTwice, Fault::Unobserved, Fault::NanScore]
    {
        assert_eq!(law_of(fault), "steps", "{fault:?}");
    }
}

#[test]
fn wrong_entries_are_found() {
    for fault in [
        Fault::EntryScore,
        Fault::EntryOrder,
        Fault::EntrySubset,
        Fault::EntryMissing,
        Fault::EntriesUnsorted,
        Fault::NotTheBest,
        Fault::ChosenOutside,
        Fault::NothingChosen,
        Fault::StandardError,
    ] {
        let outcome = search::entries(&Search::new(Wrong { fault }), &ByDefinition {}, &design(), TOLERANCE);
        assert_eq!(broken_law(outcome), "entries", "{fault:?}");
    }
}

#[test]
fn a_search_that_is_not_repeatable_is_found() {
    let outcome = search::deterministic(&Search::new(Wrong { fault: Fault::Random }), &ByDefinition {}, &design());
    assert_eq!(broken_law(outcome), "deterministic");
}

#[test]
fn a_search_that_depends_on_the_number_of_threads_is_found() {
    let in_pool = |threads: usize, work: &mut (dyn FnMut() + Send)| {
        THREADS.store(threads, Ordering::SeqCst);
        work();
    };
    let wrong = Search::new(Wrong { fault: Fault::Threads });
    assert_eq!(broken_law(search::threads(&wrong, &ByDefinition {}, &design(), &in_pool)), "threads");
    holds(search::threads(&Search::new(Forward {}), &ByDefinition {}, &design(), &in_pool));
    assert_eq!(
        broken_law(search::threads(&Search::new(Forward {}), &ByDefinition {}, &design(), &|_, _| ())),
        "threads"
    );
}

#[test]
fn bounds_that_are_passed_are_found() {
    assert_eq!(law_of(Fault::OutlineShort), "extent");
}

#[test]
fn a_stop_that_is_not_heeded_is_found() {
    assert_eq!(law_of(Fault::IgnoresStop), "stops");
    assert_eq!(law_of(Fault::OwnReason), "stops");
}

#[test]
fn ties_to_the_highest_index_or_unseen_are_found() {
    for fault in [Fault::HighestWins, Fault::TiesUnseen] {
        assert_eq!(
            broken_law(search::ties(&Search::new(Wrong { fault }), &ByDefinition {}, &design())),
            "ties",
            "{fault:?}"
        );
    }
}

#[test]
fn a_constant_column_that_is_selected_is_found() {
    let outcome = search::constants(&Search::new(Wrong { fault: Fault::TakesConstants }), &ByDefinition {}, &design());
    assert_eq!(broken_law(outcome), "constants");
}

#[test]
fn a_search_that_asks_for_columns_that_are_constant_is_found() {
    assert_eq!(law_of(Fault::CountsConstants), "lacking");
}

#[test]
fn a_search_that_cannot_do_without_candidates_is_found() {
    for fault in [Fault::PanicsOnNothing, Fault::FailsOnNothing, Fault::StepOnNothing] {
        assert_eq!(law_of(fault), "no_candidates", "{fault:?}");
    }
}

/// Reports its constraints but ignores them.
#[saved(SearchStrategy, "careless")]
#[derive(Default)]
pub struct Careless {}

impl SearchStrategy for Careless {
    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        Forward {}.run(space, context)
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        Forward {}.extent(space)
    }

    fn traits(&self) -> StrategyTraits<'_> {
        StrategyTraits { settings: &["constraints"], ..StrategyTraits::default() }
    }
}

#[test]
fn a_search_that_forgets_its_constraints_is_found() {
    let outcome = search::constraints(&Search::new(Careless {}), &ByDefinition {}, &design());
    assert_eq!(broken_law(outcome), "constraints");
    holds(search::constraints(&Search::new(Forward {}), &ByDefinition {}, &design()));
}

#[test]
fn a_path_with_nothing_to_see_is_refused() {
    let one = data::regression(12, 1, 1).constants(2).design(&[1.0], true);
    assert_eq!(broken_law(search::stops(&Search::new(Forward {}), &ByDefinition {}, &one, TOLERANCE)), "stops");
    assert_eq!(broken_law(search::ties(&Search::new(Forward {}), &ByDefinition {}, &one)), "ties");
    let none = data::regression(12, 0, 1).constants(2).design(&[1.0], true);
    assert_eq!(broken_law(search::entries(&Search::new(Forward {}), &ByDefinition {}, &none, TOLERANCE)), "entries");
}

#[test]
fn the_right_search_is_what_the_laws_of_its_criterion_say() {
    let design = design();
    holds(criterion::best_addition(&ByDefinition {}, &design, TOLERANCE));
    let criterion = &ByDefinition {};
    let subset = SubsetScorer::open(criterion, &design, &SearchExtent::forward(0, 0)).unwrap();
    let path =
        Search::new(Forward {}).run(&mut SearchContext::new(criterion, &design, subset, &mut Silent, 0)).unwrap();
    assert!(path.steps[0].score.loss < path.empty.loss, "{:?}", Score::new(path.empty.loss));
}
