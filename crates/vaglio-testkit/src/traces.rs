//! The law of [`vaglio_core::CacheEffect`]: which candidates were tried changes no later bit.

use crate::law_violation::{attempt, law, must, same_bits};
use crate::trial::{Subject, whole};
use crate::{CriterionLaws, LawResult};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use vaglio_core::{Action, ProcessGroup, Score, lock};
use vaglio_search::{Journal, JournalStore, Monitor, SearchContext, Silent};

/// The answers of a walk, in order.
#[derive(Default)]
struct AnswerTrace {
    known: BTreeMap<String, String>,
    kept: Mutex<AnswersByKey>,
}

impl JournalStore for AnswerTrace {
    fn recall(&self, key: &str) -> Option<String> {
        self.known.get(key).cloned()
    }

    fn keep(&self, key: &str, value: &str) {
        lock(&self.kept).push((key.into(), value.into()));
    }

    fn keeps_all(&self) -> bool {
        true
    }
}

impl CriterionLaws<'_> {
    /// Tried candidates change no later bit, if [`vaglio_core::Evaluator::trace`] says so.
    ///
    /// * A walk of additions and removals gives equal bits after any number of recalled answers of an earlier walk.
    /// * So does a walk where another process computes half of the numbers that the criterion gathers.
    pub fn traces(self) -> LawResult {
        law("traces", || {
            let subject = self.exact();
            subject.trail(3, 0)?;
            let (expected, answers) = walk(subject, &[])?;
            let same = |on: &dyn Display, found: Vec<Score>| {
                must(found.len() == expected.len(), on, "as many scores", found.len())?;
                expected.iter().zip(found).try_for_each(|(&expected, found)| same_bits(on, expected, found))
            };
            for count in 0..=answers.len() {
                let (found, _) = walk(subject, &answers[..count])?;
                same(&format_args!("a walk that knows the first {count} answers"), found)?;
            }
            if !self.criterion.plan(self.design, &whole(self.design)).is_in_parts {
                return Ok(());
            }
            let halves = Arc::<Halves>::default();
            for own in [None, Some(0), Some(1)] {
                let group = Arc::new(HalfProcess { own, made: Arc::clone(&halves) });
                let shared = self.design.with_run(|run| run.process_group = Some(group));
                let (found, _) = walk(subject.with_design(&shared), &[])?;
                same(&format_args!("a walk of two processes, of which this is {own:?}"), found)?;
            }
            Ok(())
        })
    }
}

/// Both halves of the numbers of each work item.
type Halves = Mutex<BTreeMap<String, [Vec<f64>; 2]>>;

/// One of two processes: computes its own half of the numbers and receives the other. `None` computes both and stores
/// them for later.
#[derive(Debug)]
struct HalfProcess {
    own: Option<usize>,
    made: Arc<Halves>,
}

impl ProcessGroup for HalfProcess {
    fn gather(
        &self,
        kind: &str,
        which: &str,
        count: usize,
        compute: &mut dyn FnMut(Range<usize>) -> vaglio_core::Result<Vec<f64>>,
    ) -> vaglio_core::Result<Vec<Vec<f64>>> {
        let (ranges, key) = ([0..count / 2, count / 2..count], format!("{kind} {which}"));
        let mut halves = lock(&self.made).get(&key).cloned().unwrap_or_default();
        for (at, range) in ranges.into_iter().enumerate().filter(|(at, _)| self.own.is_none_or(|own| own == *at)) {
            halves[at] = compute(range)?;
        }
        if self.own.is_none() {
            lock(&self.made).insert(key, halves.clone());
        }
        Ok(halves.into())
    }
}

/// Answers with their keys.
type AnswersByKey = Vec<(String, String)>;

/// Runs a walk with some known answers; returns its scores and all answers.
fn walk(subject: Subject<'_>, known: &[(String, String)]) -> LawResult<(Vec<Score>, AnswersByKey)> {
    let mut silent = Silent;
    let notes = Arc::new(AnswerTrace { known: known.iter().cloned().collect(), kept: Mutex::default() });
    let monitor = Monitor { journal: Journal::new(Arc::<AnswerTrace>::clone(&notes)), ..Monitor::from(&mut silent) };
    let subset = subject.open()?;
    let mut context = SearchContext::new(subset, monitor, 0);
    let mut scores = Vec::new();
    let all = subject.design.candidates().len();
    for step in "+++-+a-+".chars() {
        let scorer = &mut context.subset;
        let before = scorer.selected().to_vec();
        let on = format_args!("`{step}` at subset {before:?}");
        let outside = subject.candidates(Action::Add, &before);
        let moved = match step {
            '+' if before.len() + 1 < all => Some((Action::Add, &outside)),
            '-' if before.len() > 1 => Some((Action::Remove, &before)),
            _ => None,
        };
        if let Some((change, candidates)) = moved {
            let best = attempt(on, || scorer.best(change, candidates))?;
            scores.extend(best.as_ref().map(|best| best.score));
            attempt(on, || scorer.apply(change, best.map_or(candidates[0], |best| best.feature)))?;
        } else if step == 'a' {
            scores.extend(attempt(on, || scorer.scores(Action::Add, &outside))?);
        }
        scores.push(attempt(on, || scorer.score())?);
        let error = attempt(on, || scorer.standard_error())?;
        scores.extend(error.map(Score::new));
    }
    drop(context);
    let mut kept = lock(&notes.kept);
    // Repeated trials record known answers again; only new ones are added.
    let new: AnswersByKey = kept.drain(..).filter(|(key, _)| !notes.known.contains_key(key)).collect();
    Ok((scores, known.iter().cloned().chain(new).collect()))
}
