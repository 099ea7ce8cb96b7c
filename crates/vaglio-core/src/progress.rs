//! How far work is.

use crate::{Answer, Event, Observer};
use std::time::{Duration, Instant};

/// How far a piece of the work is: a search, or the folds that choose its size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HowFar<'e> {
    /// What is under way: `search`, `choose`, or another stage by its name.
    pub what: &'e str,
    /// The share of it that is done, from 0 to 1.
    pub share: f64,
    /// How long the rest would take at the pace so far; `None` before anything is done.
    pub left: Option<Duration>,
}

/// An observer of how far the work is.
///
/// A fit has several pieces of work, each from 0 to 1: the folds that choose the size (`choose`) take longest as a rule, then the
/// search. A search may end before all of its steps.
///
/// # Example
/// ```
/// use vaglio_core::{Event, HowFar, Observer, Progress};
///
/// let mut shares = Vec::new();
/// let mut progress = Progress::new(|far: &HowFar<'_>| shares.push((far.what.to_owned(), far.share)));
/// progress.observe(&Event::Stage { what: "choose", pieces: 2 });
/// progress.observe(&Event::Piece);
/// progress.observe(&Event::Piece);
/// assert_eq!(shares, [("choose".to_owned(), 0.0), ("choose".to_owned(), 0.5), ("choose".to_owned(), 1.0)]);
/// ```
#[derive(Debug)]
pub struct Progress<F> {
    show: F,
    what: String,
    done: f64,
    of: f64,
    begun: Instant,
}

impl<F: FnMut(&HowFar<'_>) + Send> Progress<F> {
    /// An observer that calls `show` whenever a piece of the work begins or goes on.
    pub fn new(show: F) -> Self {
        Progress { show, what: String::new(), done: 0.0, of: 0.0, begun: Instant::now() }
    }

    fn begin(&mut self, what: &str, of: usize) {
        (self.what, self.done, self.of, self.begun) = (what.to_owned(), 0.0, of as f64, Instant::now());
    }

    fn show(&mut self) {
        let share = if self.of > 0.0 { (self.done / self.of).min(1.0) } else { 0.0 };
        let rest = self.begun.elapsed().as_secs_f64() * (1.0 - share) / share;
        let left = Duration::try_from_secs_f64(rest).ok().filter(|_| share > 0.0);
        (self.show)(&HowFar { what: &self.what, share, left });
    }
}

impl<F: FnMut(&HowFar<'_>) + Send> Observer for Progress<F> {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        match *event {
            Event::Begin { steps } => self.begin("search", steps),
            Event::Stage { what, pieces } => self.begin(what, pieces),
            Event::Step(_) | Event::Piece => self.done += 1.0,
            Event::Visited { done, of } => (self.done, self.of) = (done, of),
            Event::Tick => return Answer::Continue,
        }
        self.show();
        Answer::Continue
    }
}
