//! Laws of a criterion on one design.

mod few_rows;
mod forks;
mod held_out_rows;
mod repeated_scores;

use crate::law_violation::{attempt, equals, in_pool, law, must, no_nan, on_each, same_bits, same_score};
use crate::trial::Subject;
use crate::{LawResult, LawViolation, SplitMix64, data, tries_all_cases};
use vaglio_core::{gather, prelude::*};
use vaglio_search::SubsetScorer;

/// Checks all laws of a criterion on a design; with a ridge readout, also on changed copies of it.
///
/// # Errors
/// Fails with every violated law.
pub fn check_criterion(criterion: &dyn Criterion, design: &Design, tolerance: f64) -> LawResult {
    check(criterion, design, tolerance, further_calls())
}

/// Laws of a criterion on one design: its shortcut equals its definition along any sequence of subset changes.
///
/// Every law uses the non-constant columns, at least three of them. [`check_criterion`] checks all.
#[derive(Clone, Copy)]
pub struct CriterionLaws<'d> {
    pub(crate) criterion: &'d dyn Criterion,
    pub(crate) design: &'d Design,
    pub(crate) tolerance: f64,
}

impl<'d> CriterionLaws<'d> {
    /// Creates the laws; `tolerance` is relative, with a millionth of the empty subset's score as the floor.
    pub fn new(criterion: &'d dyn Criterion, design: &'d Design, tolerance: f64) -> Self {
        CriterionLaws { criterion, design, tolerance }
    }

    /// The criterion with the tolerance of scores.
    pub(crate) fn subject(self) -> Subject<'d> {
        self.exact().within(self.tolerance)
    }

    /// The criterion without a tolerance, for laws that compare bits.
    pub(crate) fn exact(self) -> Subject<'d> {
        Subject::new(self.criterion, self.design)
    }
}

/// Number of calls after which the drift law repeats the first score, on the first standard design.
const CALLS: usize = 1000;

/// Returns the number of such calls on every other design: as many with `VAGLIO_CASES=all`.
fn further_calls() -> usize {
    if tries_all_cases() { CALLS } else { 50 }
}

fn check(criterion: &dyn Criterion, design: &Design, tolerance: f64, calls: usize) -> LawResult {
    law("check", || attempt("the design", || criterion.check(design)))?;
    let laws = CriterionLaws::new(criterion, design, tolerance);
    let first = laws.first_score();
    let own = LawViolation::among([
        laws.never_nan(),
        laws.any_order(),
        laws.additions(),
        laws.removals(),
        laws.resets(),
        laws.candidate_order(),
        laws.best_addition(),
        laws.best_removal(),
        laws.forks(),
        laws.estimates(),
        laws.walk(40, 1),
        laws.traces(),
        laws.held_out(),
        laws.other_thread(),
    ]);
    let drift = first.and_then(|(subset, score)| laws.drift(&subset, score, calls));
    if design.readout().is_none() {
        return LawViolation::among([own, drift]);
    }
    let varied = LawViolation::among([
        laws.duplicates_tie(),
        laws.permutation(),
        laws.lambdas(),
        laws.row_weights(),
        laws.bytes(),
        laws.few_rows(),
    ]);
    LawViolation::among([own, drift, varied])
}

/// Checks all laws of a criterion on each of [`data::standard_designs`] that it accepts.
///
/// # Errors
/// Fails with every violated law, or if the criterion accepts no design.
pub fn check_criterion_on_standard_data(criterion: &dyn Criterion, tolerance: f64) -> LawResult {
    let mut calls = [CALLS].into_iter();
    law("check", || {
        on_each(
            data::standard_designs(),
            |design| criterion.check(design).is_ok(),
            |design| check(criterion, design, tolerance, calls.next().unwrap_or_else(further_calls)),
        )
    })
}

impl CriterionLaws<'_> {
    /// Scores are never NaN while all columns enter and leave again; standard errors are neither NaN nor negative.
    pub fn never_nan(self) -> LawResult {
        law("never_nan", || {
            let subject = self.exact();
            let all = subject.trail(usize::MAX, 11)?;
            let mut evaluator = subject.open()?;
            for size in 0..=all.len() {
                let subset = &all[..size];
                let on = format_args!("subset {subset:?}");
                subject.evaluate(subset)?;
                no_nan(on, attempt(on, || evaluator.score())?.loss)?;
                if let Some(error) = attempt(on, || evaluator.standard_error())? {
                    must(error >= 0.0, on, "a standard error of 0 or more", error)?;
                }
                subject.additions(&mut evaluator, &all[size..])?;
                subject.trials(&mut evaluator, Action::Remove, subset)?;
                if let Some(&next) = all.get(size) {
                    attempt(on, || evaluator.add(next))?;
                }
            }
            for &feature in &all {
                let on = format_args!("all columns, with {feature} removed");
                attempt(on, || evaluator.remove(feature))?;
                no_nan(on, attempt(on, || evaluator.score())?.loss)?;
            }
            Ok(())
        })
    }

    /// The definition gives one score per subset, whatever the order of its columns.
    pub fn any_order(self) -> LawResult {
        law("any_order", || {
            let subject = self.subject();
            let subset = subject.trail(4, 12)?;
            let reversed: Vec<Feature> = subset.iter().rev().copied().collect();
            subject.is_defined(format_args!("subset {reversed:?}"), &subset, subject.evaluate(&reversed)?)
        })
    }

    /// An addition trial equals `add` plus `score` and the definition, and changes no state.
    pub fn additions(self) -> LawResult {
        law("additions", || one_step(self.subject(), Action::Add))
    }

    /// A removal trial equals `remove` plus `score` and the definition, and changes no state.
    pub fn removals(self) -> LawResult {
        law("removals", || one_step(self.subject(), Action::Remove))
    }

    /// `reset` equals one-by-one additions from the empty subset, whatever the previous state of the evaluator.
    pub fn resets(self) -> LawResult {
        law("resets", || {
            let subject = self.subject();
            let trail = subject.trail(5, 14)?;
            let mut reset = subject.open()?;
            for subset in [&trail[1..], &trail[..2], &[], &trail[..1]] {
                let on = format_args!("a reset to {subset:?}");
                let mut walked = subject.walk(subset)?;
                attempt(on, || reset.reset(subset))?;
                equals(on, subset, reset.selected())?;
                same_score(subject.near, on, attempt(on, || walked.score())?, attempt(on, || reset.score())?)?;
                let candidates = subject.candidates(Action::Add, subset);
                let expected = subject.additions(&mut walked, &candidates)?;
                let found = subject.additions(&mut reset, &candidates)?;
                for ((candidate, expected), found) in candidates.iter().zip(expected).zip(found) {
                    same_score(subject.near, format_args!("{on}, then the trial of {candidate}"), expected, found)?;
                }
            }
            Ok(())
        })
    }

    /// Candidate order changes no bit of the scores.
    pub fn candidate_order(self) -> LawResult {
        law("candidate_order", || {
            let subject = self.exact();
            let trail = subject.trail(4, 15)?;
            for (subset, trial) in [
                (&trail[..0], Action::Add),
                (&trail[..2], Action::Add),
                (&trail[..3], Action::Remove),
                (&trail[..], Action::Remove),
            ] {
                let candidates = subject.candidates(trial, subset);
                if candidates.len() < 2 {
                    continue;
                }
                let scored = |order: &[usize]| -> LawResult<Vec<Score>> {
                    let given = gather(&candidates, order);
                    subject.trials(&mut subject.walk(subset)?, trial, &given)
                };
                let forward: Vec<usize> = (0..candidates.len()).collect();
                let expected = scored(&forward)?;
                for order in [forward.into_iter().rev().collect(), SplitMix64::new(16).order(candidates.len())] {
                    for (&at, found) in order.iter().zip(scored(&order)?) {
                        let on =
                            format_args!("the {trial:?} of {} to subset {subset:?} in another order", candidates[at]);
                        same_bits(on.to_string().to_lowercase(), expected[at], found)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// The best addition equals [`Winner::among`] of the scores of all: same column and ties in any candidate order,
    /// same score within the tolerance.
    pub fn best_addition(self) -> LawResult {
        law("best_addition", || best(self.subject(), Action::Add))
    }

    /// The best removal equals [`Winner::among`] of the scores of all, in the same way as
    /// [`CriterionLaws::best_addition`].
    pub fn best_removal(self) -> LawResult {
        law("best_removal", || best(self.subject(), Action::Remove))
    }

    /// The engine of a search is the planned one. Its estimate of work and memory is unknown, or finite and
    /// non-negative, and has a reason.
    pub fn estimates(self) -> LawResult {
        law("estimates", || {
            let subject = self.exact();
            let largest = subject.trail(usize::MAX, 0)?.len();
            for size in [1, largest] {
                let on = format_args!("a search to {size} columns");
                let extent = SearchExtent::forward(largest, size);
                let estimate = attempt(on, || Ok(self.criterion.plan(self.design, &extent).estimate))?;
                let taken = attempt(on, || SubsetScorer::open(self.criterion, self.design, &extent))?.engine();
                equals(format_args!("the engine of {on}"), estimate.engine, taken)?;
                let real = |v: f64| v.is_finite() && v >= 0.0;
                let sound = !estimate.is_known() || real(estimate.flops) && real(estimate.bytes);
                must(sound && !estimate.reason.is_empty(), on, "numbers of 0 or more and a reason", &estimate)?;
            }
            Ok(())
        })
    }

    /// Scores and trials equal the definition along a random walk of additions and removals.
    ///
    /// The caller chooses the design, and with it λ and the collinearity of the columns.
    pub fn walk(self, steps: usize, seed: u64) -> LawResult {
        law("walk", || {
            let subject = self.subject();
            must(steps > 0, "a walk", "at least one step", steps)?;
            subject.trail(3, seed)?;
            let mut random = SplitMix64::new(seed);
            let mut evaluator = subject.open()?;
            let mut subset: Vec<Feature> = Vec::new();
            for step in 1..=steps {
                let outside = subject.candidates(Action::Add, &subset);
                let grow = subset.is_empty() || (!outside.is_empty() && random.uniform() < 0.55);
                let (trial, from) = if grow { (Action::Add, &outside) } else { (Action::Remove, &subset) };
                let feature = from[random.below(from.len())];
                let scored = subject.trials(&mut evaluator, trial, &[feature])?;
                subset = commit_and_compare(subject, &mut evaluator, trial, feature, scored[0])
                    .map_err(|broken| broken.within(&format!("step {step} of a walk")))?;
            }
            Ok(())
        })
    }

    /// One, two and three threads give equal bits.
    pub fn threads(self) -> LawResult {
        law("threads", || {
            let subject = self.exact();
            let trail = subject.trail(4, 19)?;
            let trace = || -> LawResult<Vec<Score>> {
                let mut evaluator = subject.open()?;
                let mut scores = Vec::new();
                for &feature in &trail {
                    let candidates = subject.candidates(Action::Add, evaluator.selected());
                    scores.extend(subject.additions(&mut evaluator, &candidates)?);
                    attempt(format_args!("the addition of {feature}"), || evaluator.add(feature))?;
                    scores.push(attempt(format_args!("the addition of {feature}"), || evaluator.score())?);
                }
                scores.extend(subject.trials(&mut evaluator, Action::Remove, &trail)?);
                Ok(scores)
            };
            let mut first: Option<Vec<Score>> = None;
            for count in 1..=3 {
                let on = format_args!("{count} threads");
                let found = in_pool(count, trace)?;
                for (&expected, found) in first.get_or_insert_with(|| found.clone()).iter().zip(found) {
                    same_bits(on, expected, found)?;
                }
            }
            Ok(())
        })
    }
}

fn one_step(subject: Subject<'_>, trial: Action) -> LawResult {
    let trail = subject.trail(5, 13)?;
    let sizes = if trial == Action::Add { 0..trail.len() } else { 1..trail.len() + 1 };
    for subset in sizes.map(|size| &trail[..size]) {
        let mut walked = subject.walk(subset)?;
        let candidates = subject.candidates(trial, subset);
        let scores = subject.trials(&mut walked, trial, &candidates)?;
        for (&candidate, &score) in candidates.iter().zip(&scores) {
            commit_and_compare(subject, &mut subject.reset(subset)?, trial, candidate, score)?;
        }
        let on = format_args!("subset {subset:?} after its trials");
        equals(on, subset, walked.selected())?;
        subject.is_defined(on, subset, attempt(on, || walked.score())?)?;
    }
    Ok(())
}

/// Commits a change whose trial gave a score; compares both with the definition. Returns the changed subset.
fn commit_and_compare(
    subject: Subject<'_>,
    evaluator: &mut SubsetScorer<'_>,
    change: Action,
    feature: Feature,
    score: Score,
) -> LawResult<Vec<Feature>> {
    let (near, before) = (subject.near, evaluator.selected());
    let on = &format!("the {change:?} of {feature} to subset {before:?}").to_lowercase();
    let changed = change.apply_to(before, feature);
    let defined = subject.evaluate(&changed)?;
    same_score(near, format_args!("{on} as a trial"), defined, score)?;
    attempt(on, || evaluator.apply(change, feature))?;
    same_score(near, format_args!("{on} when committed"), defined, attempt(on, || evaluator.score())?)?;
    equals(format_args!("{on} when committed"), &changed[..], evaluator.selected())?;
    Ok(changed)
}

fn best(subject: Subject<'_>, trial: Action) -> LawResult {
    let all = subject.design.candidates();
    let steps = subject.trail(4, 17)?.len().min(all.len() - 1);
    let start = if trial == Action::Remove { &all[..] } else { &[] };
    let (mut scored, mut asked) = (subject.reset(start)?, subject.reset(start)?);
    for _ in 0..steps {
        let subset = scored.selected().to_vec();
        let on = &format!("{trial:?} to subset {subset:?}").to_lowercase();
        let candidates = subject.candidates(trial, &subset);
        let shuffled = gather(&candidates, &SplitMix64::new(18).order(candidates.len()));
        let expected = Winner::among(&candidates, &subject.trials(&mut scored, trial, &candidates)?);
        for order in [&candidates, &shuffled] {
            let found = attempt(on, || asked.best(trial, order))?;
            let who = |w: &Option<Winner>| w.as_ref().map(|w| (w.feature, w.tied.clone()));
            equals(on, &who(&expected), &who(&found))?;
            if let (Some(expected), Some(found)) = (&expected, &found) {
                same_score(subject.near, on, expected.score, found.score)?;
            }
        }
        // If all scores are +∞ there is no winner; the walk continues with any column.
        let next = expected.map_or(candidates[0], |winner| winner.feature);
        attempt(on, || scored.apply(trial, next))?;
        attempt(on, || asked.apply(trial, next))?;
    }
    Ok(())
}
