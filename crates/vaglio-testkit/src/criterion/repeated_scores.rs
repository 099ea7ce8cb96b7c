//! Laws of repeated scores: after many calls, on another thread, and with another column storage.

use super::CriterionLaws;
use crate::law_violation::{attempt, law, no_panic, same_bits, same_score, violation};
use crate::trial::{Subject, prefixes, whole};
use crate::{LawResult, design_copies};
use vaglio_core::{Action, Design, Feature, Score};

impl CriterionLaws<'_> {
    /// Scores a subset, before any other law does.
    pub(super) fn first_score(self) -> LawResult<(Vec<Feature>, Score)> {
        law("drift", || {
            let subject = self.exact();
            let subset = subject.trail(3, 26)?[..2].to_vec();
            let score = subject.evaluate(&subset)?;
            Ok((subset, score))
        })
    }

    /// The first score has equal bits after `calls` others, by the definition and by the trials of one evaluator.
    pub(super) fn drift(self, subset: &[Feature], score: Score, calls: usize) -> LawResult {
        law("drift", || {
            let subject = self.exact();
            let Subject { criterion, design, .. } = subject;
            let on = format_args!("subset {subset:?} after {calls} calls");
            for call in 0..calls {
                subject.evaluate(&subset[..call % 2])?;
            }
            same_bits(on, score, subject.evaluate(subset)?)?;
            if !criterion.plan(design, &whole(design)).has_engine {
                // Without an engine, trials call the definition, checked above.
                return Ok(());
            }
            let mut evaluator = subject.walk(subset)?;
            let candidates = subject.candidates(Action::Add, subset);
            let first = subject.additions(&mut evaluator, &candidates)?;
            for _ in 0..calls / candidates.len().max(1) {
                subject.additions(&mut evaluator, &candidates)?;
            }
            let last = subject.additions(&mut evaluator, &candidates)?;
            for ((candidate, first), last) in candidates.iter().zip(first).zip(last) {
                same_bits(format_args!("the addition of {candidate} to {on}"), first, last)?;
            }
            Ok(())
        })
    }

    /// The definition and a trial give equal bits on another thread.
    pub fn other_thread(self) -> LawResult {
        law("other_thread", || {
            let subject = self.exact();
            let trail = subject.trail(3, 27)?;
            let trace = || -> LawResult<[Score; 2]> {
                let added = subject.additions(&mut subject.reset(&trail[..2])?, &trail[2..3])?;
                Ok([subject.evaluate(&trail[..2])?, added[0]])
            };
            let here = trace()?;
            let there = std::thread::scope(|scope| scope.spawn(trace).join());
            let there = there.unwrap_or_else(|_| Err(violation("another thread", "a result", "a panic")))?;
            for (what, (here, there)) in ["the definition on", "a trial beside"].iter().zip(here.into_iter().zip(there))
            {
                same_bits(format_args!("{what} subset {:?} on another thread", &trail[..2]), here, there)?;
            }
            Ok(())
        })
    }

    /// Integers from 0 to 255 give equal scores stored as bytes and as doubles. The design needs a ridge readout.
    pub fn bytes(self) -> LawResult {
        law("bytes", || {
            let stored = || design_copies::as_bytes_and_doubles(self.design);
            let (bytes, doubles) = attempt("the design with whole numbers", stored)?;
            let refuses =
                |design: &Design| no_panic("a check", || self.criterion.check(design)).map(|made| made.is_err());
            if refuses(&bytes)? || refuses(&doubles)? {
                return Ok(());
            }
            let doubles = CriterionLaws { design: &doubles, ..self }.subject();
            let bytes = doubles.with_design(&bytes);
            let trail = bytes.trail(3, 28)?;
            for subset in prefixes(&trail) {
                let on = format_args!("subset {subset:?} stored in bytes");
                doubles.is_defined(on, subset, bytes.evaluate(subset)?)?;
                let scored = |subject: Subject<'_>| {
                    subject.additions(&mut subject.walk(subset)?, &subject.candidates(Action::Add, subset))
                };
                for (expected, found) in scored(doubles)?.into_iter().zip(scored(bytes)?) {
                    same_score(doubles.near, format_args!("an addition to {on}"), expected, found)?;
                }
            }
            Ok(())
        })
    }
}
