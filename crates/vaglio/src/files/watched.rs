//! What watches a run from files to files: its observer, its journal, and the time that it may take.

use super::journal::Book;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vaglio_core::{Answer, Journal, Observer, Step, StopReason, StopSign};

/// An observer with a journal and a limit of time.
pub(super) struct Watched<'o> {
    observer: &'o mut dyn Observer,
    journal: Journal,
    sign: StopSign,
}

impl<'o> Watched<'o> {
    /// From `start` on for as long as `most`.
    pub fn new(observer: &'o mut dyn Observer, book: &Arc<Book>, start: Instant, most: Option<Duration>) -> Self {
        let journal = if book.is_kept() { Journal::new(Arc::<Book>::clone(book)) } else { Journal::default() };
        let (of_observer, book) = (observer.sign(), Arc::clone(book));
        let sign = StopSign::new(move || {
            let is_over = || most.is_some_and(|most| start.elapsed() >= most);
            let limited = || is_over().then_some(StopReason::Limit);
            // A journal that cannot go on ends the run, which fails then.
            let failed = || book.has_failed().then_some(StopReason::Interrupted);
            of_observer.reason().or_else(failed).or_else(limited)
        });
        Watched { observer, journal, sign }
    }

    fn unless_over(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Continue => self.sign.reason().map_or(Answer::Continue, Answer::Stop),
            stop => stop,
        }
    }
}

impl Observer for Watched<'_> {
    fn begin(&mut self, steps: usize) {
        self.observer.begin(steps);
    }

    fn step(&mut self, step: &Step) -> Answer {
        let answer = self.observer.step(step);
        self.unless_over(answer)
    }

    fn stage(&mut self, what: &str, pieces: usize) {
        self.observer.stage(what, pieces);
    }

    fn piece(&mut self) {
        self.observer.piece();
    }

    fn tick(&mut self) -> Answer {
        let answer = self.observer.tick();
        self.unless_over(answer)
    }

    fn visited(&mut self, done: f64, of: f64) -> Answer {
        let answer = self.observer.visited(done, of);
        self.unless_over(answer)
    }

    fn journal(&self) -> Journal {
        self.journal.clone()
    }

    fn sign(&self) -> StopSign {
        self.sign.clone()
    }
}
