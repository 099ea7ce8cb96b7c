//! Progress of long work, and the observer of a pipeline's fits.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vaglio_core::{StopReason, StopSign, lock};
use vaglio_search::{Event, Observer};

/// Progress of the current stage, computed from events.
///
/// A fit has several stages, each from 0 to 1. They are tuning, the folds that choose the size, and the search. The
/// folds are called `choose` (`choose 2` for an extended grid of λ) and usually take longest. The share follows the
/// sizes that the search of each fold has reached.
///
/// # Example
/// ```
/// use vaglio_search::{Event, Observer};
/// use vaglio_pipeline::Progress;
///
/// let mut shares = Vec::new();
/// let mut observer = Progress::observer(|progress| shares.push((progress.what.clone(), progress.share())));
/// observer.observe(&Event::Stage { what: "choose", pieces: 2 });
/// observer.observe(&Event::Piece);
/// observer.observe(&Event::Piece);
/// drop(observer);
/// assert_eq!(shares, [("choose".to_owned(), 0.0), ("choose".to_owned(), 0.5), ("choose".to_owned(), 1.0)]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// The stage: `search`, `choose`, or another name.
    pub what: String,
    /// Number of pieces or steps done.
    pub done: f64,
    /// Number of all pieces, or the largest possible number of steps.
    pub of: f64,
    pieces: f64,
    /// Pieces of an unfinished search, done and total, to resume after another stage.
    search: [f64; 3],
    /// Time of the stage's start or resumption, and the share done then.
    begun: Option<(Instant, f64)>,
}

impl Progress {
    /// An observer that calls `show` when a piece of the work begins or advances.
    pub fn observer(show: impl FnMut(&Progress) + Send) -> impl Observer {
        ShownProgress { show, progress: Progress::default() }
    }

    /// Processes an event; returns whether it concerns a stage.
    pub fn see(&mut self, event: &Event<'_>) -> bool {
        match *event {
            Event::Stage { what, pieces } => self.begin(what, [0.0, 0.0, pieces as f64]),
            Event::Step(_) if self.what != "search" => {
                let [pieces, done, of] = self.search;
                let pieces = pieces + 1.0;
                self.begin("search", [pieces, done.max(pieces), of]);
            }
            Event::Step(_) | Event::Piece => {
                self.pieces += 1.0;
                self.done = self.done.max(self.pieces);
            }
            Event::Share(share) => self.done = self.done.max(share * self.of),
            Event::Visited { done, of } => (self.done, self.of) = (done, of),
            _ => return false,
        }
        if self.what == "search" {
            self.search = [self.pieces, self.done, self.of];
        }
        true
    }

    fn begin(&mut self, what: &str, [pieces, done, of]: [f64; 3]) {
        (self.pieces, self.done, self.of) = (pieces, done, of);
        what.clone_into(&mut self.what);
        self.begun = Some((Instant::now(), self.share()));
    }

    /// The share that is done, from 0 to 1.
    pub fn share(&self) -> f64 {
        if self.of > 0.0 { (self.done / self.of).min(1.0) } else { 0.0 }
    }

    /// Estimated time left at the current pace; `None` before anything is done.
    pub fn left(&self) -> Option<Duration> {
        let ((begun, from), share) = (self.begun?, self.share());
        let rest = begun.elapsed().as_secs_f64() * (1.0 - share) / (share - from);
        Duration::try_from_secs_f64(rest).ok().filter(|_| share > from)
    }
}

/// An observer that calls a function with the progress.
struct ShownProgress<F> {
    show: F,
    progress: Progress,
}

impl<F: FnMut(&Progress) + Send> Observer for ShownProgress<F> {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        if self.progress.see(event) {
            (self.show)(&self.progress);
        }
        None
    }
}

/// Observer and stop sign of a pipeline's fits, shared by clones; the observer is locked for each event.
#[derive(Clone, Default)]
pub struct SharedMonitor {
    pub observer: Option<Arc<Mutex<dyn Observer>>>,
    pub stop: StopSign,
}

impl Observer for SharedMonitor {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        self.observer.as_ref().and_then(|observer| lock(observer).observe(event))
    }
}

impl fmt::Debug for SharedMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.observer.is_some() { "an observer" } else { "no observer" })
    }
}
