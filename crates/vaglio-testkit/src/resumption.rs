//! The law of evaluators with skippable trials: a resumed walk gives equal bits.

use crate::Broken;
use crate::broken::Law;
use crate::trial::{free, open, trail};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use vaglio_core::{Criterion, Design, Journal, Keeper, Monitor, Score, SearchContext, Silent};

/// Recorded answers of a walk, in order.
#[derive(Default)]
struct Notes {
    known: BTreeMap<String, String>,
    kept: Mutex<Vec<(String, String)>>,
}

impl Keeper for Notes {
    fn recall(&self, key: &str) -> Option<String> {
        self.known.get(key).cloned()
    }

    fn keep(&self, key: &str, value: &str) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push((key.into(), value.into()));
    }

    fn keeps_all(&self) -> bool {
        true
    }
}

/// A walk resumed from any number of recorded answers gives the same bits as a full walk:
/// [`vaglio_core::Evaluator::can_skip`] is true only for trials without side effects.
pub fn goes_on(criterion: &dyn Criterion, design: &Design) -> Result<(), Broken> {
    let law = Law("goes_on");
    trail(law, design, 3, 0)?;
    let (expected, answers) = walked(law, criterion, design, &[])?;
    for count in 0..=answers.len() {
        let on = || format!("a walk that knows the first {count} answers");
        let (found, _) = walked(law, criterion, design, &answers[..count])?;
        law.must(found.len() == expected.len(), on, "as many scores", found.len())?;
        for (&expected, found) in expected.iter().zip(found) {
            law.bits(on, expected, found)?;
        }
    }
    Ok(())
}

/// Answers with their keys.
type Kept = Vec<(String, String)>;

/// Runs a walk with some known answers; returns its scores and all answers.
fn walked(
    law: Law,
    criterion: &dyn Criterion,
    design: &Design,
    known: &[(String, String)],
) -> Result<(Vec<Score>, Kept), Broken> {
    let mut silent = Silent;
    let notes = Arc::new(Notes { known: known.iter().cloned().collect(), kept: Mutex::default() });
    let monitor = Monitor { journal: Journal::new(Arc::<Notes>::clone(&notes)), ..Monitor::from(&mut silent) };
    let subset = open(law, criterion, design)?;
    let mut context = SearchContext::new(criterion, design, subset, monitor, 0);
    let mut scores = Vec::new();
    let all = free(design, &[]).len();
    for step in "+++-+a-+".chars() {
        let subset = &mut context.subset;
        let before = subset.selected().to_vec();
        let on = || format!("`{step}` at subset {before:?}");
        let outside = free(design, &before);
        if step == '+' && before.len() + 1 < all {
            let best = law.ran(on, || subset.best_addition(&outside))?;
            scores.extend(best.as_ref().map(|best| best.score));
            law.ran(on, || subset.add(best.map_or(outside[0], |best| best.feature)))?;
        } else if step == '-' && before.len() > 1 {
            let best = law.ran(on, || subset.best_removal(&before))?;
            scores.extend(best.as_ref().map(|best| best.score));
            law.ran(on, || subset.remove(best.map_or(before[0], |best: vaglio_core::Winner| best.feature)))?;
        } else if step == 'a' {
            let mut found = vec![Score::WORST; outside.len()];
            law.ran(on, || subset.score_additions(&outside, &mut found))?;
            scores.extend(found);
        }
        scores.push(law.ran(on, || subset.score())?);
        let error = law.ran(on, || subset.standard_error())?;
        scores.extend(error.map(Score::of));
    }
    drop(context);
    let mut kept = notes.kept.lock().unwrap_or_else(PoisonError::into_inner);
    // Repeated trials record known answers again; only new ones are added.
    let new: Kept = kept.drain(..).filter(|(key, _)| !notes.known.contains_key(key)).collect();
    Ok((scores, known.iter().cloned().chain(new).collect()))
}
