//! The law of forks of an evaluator, and of lower bounds.

use super::CriterionLaws;
use crate::LawResult;
use crate::law_violation::{attempt, equals, law, must};
use crate::trial::Subject;
use vaglio_core::prelude::*;

impl CriterionLaws<'_> {
    /// A fork scores its subset and each of its expected columns like the definition, and leaves the evaluator
    /// unchanged. If there is no fork, the evaluator is moved and reset instead. Bounds are below all of these scores.
    pub fn forks(self) -> LawResult {
        law("forks", || {
            let subject = self.subject();
            subject.trail(3, 0)?;
            let columns = subject.design.candidates();
            let mut subset = subject.open()?;
            let root = attempt("the evaluator", || subset.lend())?;
            check_forks(subject, root, &[], &columns, 2)?;
            attempt("a reset to two columns", || subset.reset(&columns[1..3]))?;
            let root = attempt("the evaluator at two columns", || subset.lend())?;
            check(subject, root, &columns[1..3], &columns[3..])
        })
    }
}

/// Tests a fork for each column that may follow, and from each of these a fork for the first.
fn check_forks(
    subject: Subject<'_>,
    node: &mut dyn Evaluator,
    subset: &[Feature],
    later: &[Feature],
    depth: usize,
) -> LawResult {
    let count = if subset.is_empty() { later.len() - 2 } else { 1 };
    for (place, &column) in later.iter().enumerate().take(if depth == 0 { 0 } else { count }) {
        let larger = Action::Add.apply_to(subset, column);
        let on = format_args!("the fork at {larger:?}");
        let rest = &later[place + 1..];
        let before = scores(node, subset, later)?;
        let is_forked = match attempt(on, || node.fork(subset, &later[place..]))? {
            Some(mut fork) => {
                attempt(on, || fork.apply(Action::Add, subset, column))?;
                check(subject, &mut *fork, &larger, rest)?;
                check_forks(subject, &mut *fork, &larger, rest, depth - 1)?;
                true
            }
            None => false,
        };
        if is_forked {
            equals(on, &before, &scores(node, subset, later)?)?;
            continue;
        }
        attempt(on, || node.apply(Action::Add, subset, column))?;
        check(subject, node, &larger, rest)?;
        check_forks(subject, node, &larger, rest, depth - 1)?;
        attempt(on, || node.reset(subset))?;
    }
    Ok(())
}

/// Scores the subset with each of the columns, last column first.
fn scores(node: &mut dyn Evaluator, subset: &[Feature], later: &[Feature]) -> LawResult<Vec<(Feature, Score)>> {
    let candidates: Vec<Feature> = later.iter().rev().copied().collect();
    let on = format_args!("additions to {subset:?}");
    let scores = attempt(on, || node.scores(Action::Add, subset, &candidates))?;
    equals(on, &candidates.len(), &scores.len())?;
    Ok(candidates.into_iter().zip(scores).collect())
}

/// Compares the scores of an evaluator with the definition, and with its bounds.
fn check(subject: Subject<'_>, node: &mut dyn Evaluator, subset: &[Feature], later: &[Feature]) -> LawResult {
    let on = format_args!("the evaluator at {subset:?}");
    subject.is_defined(on, subset, attempt(on, || node.score(subset))?)?;
    let scores = scores(node, subset, later)?;
    let bound = attempt(on, || Ok(node.bound(subset, later, later.len())?.max(node.bound(subset, later, 1)?)))?;
    for (column, found) in scores {
        let larger = Action::Add.apply_to(subset, column);
        subject.is_defined(format_args!("{on}, the addition of {column}"), &larger, found)?;
        must(bound <= found.loss, on, format!("a bound of at most {}", found.loss), bound)?;
    }
    Ok(())
}
