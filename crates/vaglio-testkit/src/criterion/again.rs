//! Laws of repeated scores: after many calls, on another thread, and with another column storage.

use crate::broken::{Law, Tolerance};
use crate::trial::{evaluate, free, open, trail, trials, walked, whole};
use crate::{LawViolation, rebuild};
use vaglio_core::{Criterion, Design, Feature, Score, SubsetChange};

/// A subset's score has equal bits after `calls` others, by the definition and by the trials of one evaluator.
pub fn drift(criterion: &dyn Criterion, design: &Design, calls: usize) -> Result<(), LawViolation> {
    since(first(criterion, design)?, criterion, design, calls)
}

const DRIFT: Law = Law("drift");

/// Selects the subset that is scored first and last.
fn watched(design: &Design) -> Result<Vec<Feature>, LawViolation> {
    Ok(trail(DRIFT, design, 3, 26)?[..2].to_vec())
}

/// Scores the watched subset for the first time.
pub(super) fn first(criterion: &dyn Criterion, design: &Design) -> Result<Score, LawViolation> {
    evaluate(DRIFT, criterion, design, &watched(design)?)
}

/// Checks that a score is unchanged after `calls` others.
pub(super) fn since(
    first: Score,
    criterion: &dyn Criterion,
    design: &Design,
    calls: usize,
) -> Result<(), LawViolation> {
    let law = DRIFT;
    law.must(calls > 0, || "the calls".into(), "at least one", calls)?;
    let subset = &watched(design)?[..];
    let on = || format!("subset {subset:?} after {calls} calls");
    for call in 0..calls {
        evaluate(law, criterion, design, &subset[..call % 2])?;
    }
    law.bits(on, first, evaluate(law, criterion, design, subset)?)?;
    if !criterion.plan(design, &whole(design)).has_engine() {
        // Without an engine, trials call the definition, checked above.
        return Ok(());
    }
    let mut evaluator = walked(law, criterion, design, subset)?;
    let candidates = free(design, subset);
    let first = trials(law, &mut evaluator, SubsetChange::Addition, &candidates)?;
    for _ in 0..calls / candidates.len().max(1) {
        trials(law, &mut evaluator, SubsetChange::Addition, &candidates)?;
    }
    let last = trials(law, &mut evaluator, SubsetChange::Addition, &candidates)?;
    for ((candidate, first), last) in candidates.iter().zip(first).zip(last) {
        law.bits(|| format!("the addition of {candidate} to {}", on()), first, last)?;
    }
    Ok(())
}

/// The definition and a trial give equal bits on another thread.
pub fn other_thread(criterion: &dyn Criterion, design: &Design) -> Result<(), LawViolation> {
    let law = Law("other_thread");
    let trail = trail(law, design, 3, 27)?;
    let trace = || -> Result<[Score; 2], LawViolation> {
        let mut evaluator = open(law, criterion, design)?;
        law.ran(|| format!("a reset to {:?}", &trail[..2]), || evaluator.reset(&trail[..2]))?;
        let added = trials(law, &mut evaluator, SubsetChange::Addition, &trail[2..3])?;
        Ok([evaluate(law, criterion, design, &trail[..2])?, added[0]])
    };
    let here = trace()?;
    let there = std::thread::scope(|scope| scope.spawn(trace).join());
    let there = there.unwrap_or_else(|_| Err(law.broken("another thread", "a result", "a panic")))?;
    for (what, (here, there)) in ["the definition on", "a trial beside"].iter().zip(here.into_iter().zip(there)) {
        law.bits(|| format!("{what} subset {:?} on another thread", &trail[..2]), here, there)?;
    }
    Ok(())
}

/// Integers from 0 to 255 give equal scores stored as bytes and as doubles. The design needs a ridge readout.
pub fn bytes(criterion: &dyn Criterion, design: &Design, tolerance: f64) -> Result<(), LawViolation> {
    let law = Law("bytes");
    let stored = || rebuild::as_bytes_and_doubles(design);
    let (bytes, doubles) = law.ran(|| "the design with whole numbers".into(), stored)?;
    let refuses = |design: &Design| law.calm(|| "a check".into(), || criterion.check(design)).map(|made| made.is_err());
    if refuses(&bytes)? || refuses(&doubles)? {
        return Ok(());
    }
    let near = Tolerance::scores(criterion, &doubles, tolerance);
    let trail = trail(law, &bytes, 3, 28)?;
    for subset in (0..=trail.len()).map(|size| &trail[..size]) {
        let on = || format!("subset {subset:?} stored in bytes");
        let expected = evaluate(law, criterion, &doubles, subset)?;
        law.same(near, on, expected, evaluate(law, criterion, &bytes, subset)?)?;
        let scored = |design: &Design| -> Result<Vec<Score>, LawViolation> {
            let candidates: Vec<Feature> = free(design, subset);
            trials(law, &mut walked(law, criterion, design, subset)?, SubsetChange::Addition, &candidates)
        };
        for (expected, found) in scored(&doubles)?.into_iter().zip(scored(&bytes)?) {
            law.same(near, || format!("an addition to {}", on()), expected, found)?;
        }
    }
    Ok(())
}
