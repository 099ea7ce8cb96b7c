//! The law of searches that pause.

use super::recorded_run::{RecordingObserver, SEED, SearchLaws, same_path};
use crate::LawResult;
use crate::law_violation::Law;
use vaglio_search::{SearchContext, SubsetScorer};

impl SearchLaws<'_> {
    /// A search that pauses at given sizes and resumes takes an equal path, bit for bit, and reports every step once.
    pub fn pauses(&self) -> LawResult {
        let law = Law("pauses");
        let &SearchLaws { search, criterion, design, .. } = self;
        let mut whole = self.path_on(law, design)?;
        let opened = || law.run("a subset", || SubsetScorer::open(criterion, design, &search.extent(design)?));
        let mut witness = RecordingObserver::default();
        let mut context = SearchContext::new(opened()?, &mut witness, SEED);
        for (number, size) in [Some(1), Some(2), Some(4), None].into_iter().enumerate() {
            context.pause_at(size);
            if number > 0 && !context.rewind() {
                context.restart(opened()?);
            }
            let mut path = law.run("the search", || search.run(&mut context))?;
            let on = format_args!("a pause at {size:?}");
            let taken = path.steps.len();
            law.must(whole.steps.get(..taken) == Some(&path.steps[..]), on, "the first steps", &path.steps)?;
            if !context.is_paused() {
                path.diagnostics = path.diagnostics.or(whole.diagnostics);
                whole.diagnostics = path.diagnostics;
                same_path(law, "a search that paused", &whole, &path)?;
                drop(context);
                return law.must(witness.seen == whole.steps, "the observer", "to see every step once", &witness.seen);
            }
            let largest = path.entries.last().map_or(0, |entry| entry.subset.len());
            law.must(size.is_some_and(|size| size <= largest), on, "a subset of that size", largest)?;
        }
        Ok(())
    }
}
