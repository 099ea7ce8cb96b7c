//! Laws of a search without steps, and of one that moves several columns per step.

use super::RIGHT;
use crate::common::{TOLERANCE, broken_law, design};
use serde::{Deserialize, Serialize};
use vaglio_core::{Action, Feature, Result, SearchExtent, StopReason, saved};
use vaglio_search::{
    Certificate, Event, Path, PathEntry, Search, SearchContext, SearchSettings, SearchStrategy, Space, Step,
};
use vaglio_testkit::{SearchLaws, check_search};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    HighestCopy,
    NeverAsks,
    IgnoresStop,
    AsksOn,
    ProvesAfterAStop,
}

/// Finds the best single column, with a question before each.
#[saved(SearchStrategy, "best_one")]
struct BestOne {
    fault: Fault,
}

impl SearchStrategy for BestOne {
    fn run(&self, _: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let candidates = context.subset.design.candidates();
        let (evaluator, monitor) = (&mut context.subset, &mut context.monitor);
        let empty = evaluator.score()?;
        let mut best: Option<PathEntry> = None;
        let mut stopped = None;
        for (done, &feature) in candidates.iter().enumerate() {
            if self.fault != Fault::NeverAsks
                && let Some(reason) = monitor.show(&Event::Visited { done: done as f64, of: candidates.len() as f64 })
            {
                stopped = Some(reason);
                match self.fault {
                    Fault::IgnoresStop => stopped = None,
                    Fault::AsksOn => {}
                    _ => break,
                }
            }
            let score = crate::common::addition(evaluator, feature)?;
            let better = best.as_ref().is_none_or(|b| match self.fault {
                Fault::HighestCopy => score.loss <= b.score.loss,
                _ => score.loss < b.score.loss,
            });
            if better {
                best = Some(PathEntry::new(vec![feature], score));
            }
        }
        let optimal = stopped.is_none() || self.fault == Fault::ProvesAfterAStop;
        let entries: Vec<PathEntry> = best.into_iter().collect();
        let mut certificate = Certificate::default();
        certificate.optimal = optimal;
        let mut path = Path::stopped(empty, stopped.unwrap_or(StopReason::AllSubsets));
        (path.chosen, path.allowed) = ((!entries.is_empty()).then_some(0), 0..=1);
        (path.entries, path.certificate) = (entries, Some(certificate));
        Ok(path)
    }

    fn extent(&self, _: &Space<'_>) -> Result<SearchExtent> {
        Ok(SearchExtent { start: 0, largest: 1, trials: 100.0, steps: 0 })
    }

    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        shared.refuse(&SearchSettings::NAMES, "it has none")
    }
}

#[test]
fn a_search_without_steps_keeps_every_law() {
    check_search(&Search::new(BestOne { fault: Fault::None }), &RIGHT, &design(), TOLERANCE).unwrap();
}

#[test]
fn a_search_without_steps_that_is_wrong_is_found() {
    for fault in [Fault::NeverAsks, Fault::IgnoresStop, Fault::AsksOn, Fault::ProvesAfterAStop] {
        let (search, design) = (Search::new(BestOne { fault }), design());
        let full = SearchLaws::new(&search, &RIGHT, &design).unwrap();
        assert_eq!(broken_law(full.stops(TOLERANCE)), "stops", "{fault:?}");
    }
    let (search, design) = (Search::new(BestOne { fault: Fault::HighestCopy }), design());
    assert_eq!(broken_law(SearchLaws::new(&search, &RIGHT, &design).unwrap().ties()), "ties");
}

/// Adds all columns in pairs, then removes one pair.
#[saved(SearchStrategy, "pairs")]
struct Pairs {
    /// Whether a step names only its first column.
    forgets: bool,
}

impl SearchStrategy for Pairs {
    fn run(&self, _: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let empty = context.subset.score()?;
        let (mut steps, mut entries) = (Vec::new(), Vec::new());
        let candidates = context.subset.design.candidates();
        let mut moves: Vec<(Action, &[Feature])> = candidates.chunks(2).map(|pair| (Action::Add, pair)).collect();
        moves.extend(moves.last().map(|(_, pair)| (Action::Remove, *pair)));
        for (action, pair) in moves {
            for &feature in pair {
                match action {
                    Action::Add => context.subset.add(feature)?,
                    Action::Remove => context.subset.remove(feature)?,
                }
            }
            let subset = context.subset.selected().to_vec();
            let (score, size) = (context.subset.score()?, subset.len());
            let with = if self.forgets { Vec::new() } else { pair[1..].to_vec() };
            let mut step = Step::new(action, pair[0], score, size);
            step.with = with;
            if action == Action::Add {
                entries.push(PathEntry::new(subset, score));
            }
            context.observe(&step);
            steps.push(step);
        }
        let chosen = (!entries.is_empty()).then_some(0);
        let mut path = Path::stopped(empty, StopReason::NoCandidates);
        (path.steps, path.entries, path.chosen, path.allowed) = (steps, entries, chosen, 0..=2);
        Ok(path)
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let columns = space.features();
        Ok(SearchExtent { start: 0, largest: columns, trials: 0.0, steps: columns + 1 })
    }

    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        shared.refuse(&SearchSettings::NAMES, "it has none")
    }
}

#[test]
fn steps_of_several_columns_are_followed() {
    let (right, wrong) = (Search::new(Pairs { forgets: false }), Search::new(Pairs { forgets: true }));
    let design = design();
    let [right, wrong] = [&right, &wrong].map(|search| SearchLaws::new(search, &RIGHT, &design).unwrap());
    right.steps(TOLERANCE).unwrap();
    right.entries(TOLERANCE).unwrap();
    assert_eq!(broken_law(wrong.steps(TOLERANCE)), "steps");
}
