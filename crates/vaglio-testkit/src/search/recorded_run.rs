//! Runs of a search with a record of its events.

use crate::LawResult;
use crate::law_violation::{attempt, law, must, no_nan, violation};
use vaglio_core::{Criterion, Design, StopReason};
use vaglio_search::{Event, Observer, Path, Search, SearchContext, Silent, Step, SubsetScorer};

pub const SEED: u64 = 7;

/// Fails at the first difference between paths; the debug format distinguishes all numbers.
pub fn same_path(on: &str, first: &Path, second: &Path) -> LawResult {
    let lines = |path: &Path| -> Vec<String> {
        let Path { empty, steps, entries, chosen, allowed, stop_reason, .. } = path;
        let rest =
            (chosen, allowed, stop_reason, &path.certificate, &path.alternatives, path.diagnostics, &path.stages);
        [format!("{empty:?} of the empty subset")]
            .into_iter()
            .chain(steps.iter().map(|step| format!("{step:?}")))
            .chain(entries.iter().map(|entry| format!("{entry:?}")))
            .chain([format!("{rest:?}")])
            .collect()
    };
    let (first, second) = (lines(first), lines(second));
    match first.iter().zip(&second).find(|(a, b)| a != b) {
        Some((expected, found)) => Err(violation(on, expected, found)),
        None => must(first.len() == second.len(), on, first.len(), second.len()),
    }
}

/// Laws of a search with a criterion on a design, on which it has run to its end.
pub struct SearchLaws<'a> {
    pub(super) search: &'a Search,
    pub(super) criterion: &'a dyn Criterion,
    pub(super) design: &'a Design,
    pub(super) path: Path,
    pub(super) events: RecordingObserver,
}

impl<'a> SearchLaws<'a> {
    /// Runs a search.
    ///
    /// # Errors
    /// Fails if the search fails, or its path has no entry or a score that is NaN.
    pub fn new(search: &'a Search, criterion: &'a dyn Criterion, design: &'a Design) -> LawResult<Self> {
        let mut events = RecordingObserver::default();
        let path = law("full_run", || full(search, criterion, design, &mut events))?;
        Ok(SearchLaws { search, criterion, design, path, events })
    }

    /// Runs the search again, on this design or another. Laws that compare bits on this design compare such runs: the
    /// caches that other laws fill may change the last bit of a score.
    pub(super) fn path_on(&self, design: &Design) -> LawResult<Path> {
        full(self.search, self.criterion, design, &mut Silent)
    }
}

/// Runs a full search; checks that it has entries and no NaN.
fn full(search: &Search, criterion: &dyn Criterion, design: &Design, events: &mut dyn Observer) -> LawResult<Path> {
    let path = run(search, criterion, design, events)?;
    for (number, step) in path.steps.iter().enumerate() {
        no_nan(format_args!("the score of step {}", number + 1), step.score.loss)?;
    }
    for entry in &path.entries {
        no_nan(format_args!("the score of entry {:?}", entry.subset), entry.score.loss)?;
    }
    must(!path.entries.is_empty(), "the whole path", "at least one entry", path.stop_reason)?;
    Ok(path)
}

pub fn run(
    search: &Search,
    criterion: &dyn Criterion,
    design: &Design,
    observer: &mut dyn Observer,
) -> LawResult<Path> {
    attempt("the columns", || search.check(criterion, design))?;
    let subset = attempt("opening a subset", || SubsetScorer::open(criterion, design, &search.extent(design)?))?;
    let mut context = SearchContext::new(subset, observer, SEED);
    attempt("the search", || search.run(&mut context))
}

/// An observer that records events, and stops after a given number.
#[derive(Default)]
pub struct RecordingObserver {
    pub seen: Vec<Step>,
    pub promised: Option<usize>,
    pub asked: usize,
    pub stop_after: Option<usize>,
}

impl RecordingObserver {
    fn answer(&self, count: usize) -> Option<StopReason> {
        (count >= self.stop_after?).then_some(StopReason::Interrupted)
    }
}

impl Observer for RecordingObserver {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        match *event {
            Event::Stage { pieces, .. } => self.promised = Some(pieces),
            Event::Step(step) => {
                self.seen.push(step.clone());
                return self.answer(self.seen.len());
            }
            Event::Visited { .. } => {
                self.asked += 1;
                return self.answer(self.asked);
            }
            _ => {}
        }
        None
    }
}
