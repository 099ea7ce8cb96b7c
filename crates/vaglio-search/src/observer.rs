//! Observers of a run: progress, journal and stop sign.

use crate::{Journal, Step};
use vaglio_core::{StopReason, StopSign};

/// An event of a run; events come in order.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The search made a step.
    Step(&'e Step),
    /// A stage begins: the steps of a search, or pieces that take many steps each, such as walks on folds.
    Stage {
        /// The name of the stage: `search`, or another.
        what: &'e str,
        /// The number of pieces, or the largest possible number of steps.
        pieces: usize,
    },
    /// A piece of the stage is done.
    Piece,
    /// Work on the stage continues; the argument is the share done in total, from 0 to 1.
    Share(f64),
    /// Work without visible steps continues, such as walks on folds.
    Tick,
    /// A search without steps has visited some subsets; sent at its start and repeatedly.
    Visited {
        /// Number of subsets visited or ruled out.
        done: f64,
        /// Number of all subsets.
        of: f64,
    },
}

/// Watches a run: progress on a screen, values of every step, an early stop.
///
/// # Example
/// ```
/// use vaglio_core::StopReason;
/// use vaglio_search::{Event, Observer};
///
/// /// Ends the search at a score that is low enough.
/// struct LowEnough(f64);
///
/// impl Observer for LowEnough {
///     fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
///         match event {
///             Event::Step(step) if step.score.loss <= self.0 => Some(StopReason::Limit),
///             _ => None,
///         }
///     }
/// }
/// ```
pub trait Observer: Send {
    /// Receives an event. `Some` ends the work after [`Event::Step`], [`Event::Tick`] or [`Event::Visited`]; the path so
    /// far is the result.
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason>;
}

/// An observer that ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _: &Event<'_>) -> Option<StopReason> {
        None
    }
}

/// Services of a run: observer, journal and stop sign.
pub struct Monitor<'o> {
    /// The observer of the progress.
    pub observer: &'o mut dyn Observer,
    /// The journal of finished work.
    pub journal: Journal,
    /// The stop sign, which may end work in the middle of a step.
    pub stop: StopSign,
}

impl Monitor<'_> {
    /// Sends an event to the observer. Returns the observer's reason to stop, else the stop sign's.
    pub fn show(&mut self, event: &Event<'_>) -> Option<StopReason> {
        self.observer.observe(event).or_else(|| self.stop.reason())
    }

    /// Borrows this monitor, with another journal.
    pub fn with_journal(&mut self, journal: Journal) -> Monitor<'_> {
        Monitor { observer: self.observer, journal, stop: self.stop.clone() }
    }
}

/// Creates a monitor with an observer only, without a journal and a stop sign.
impl<'o, O: Observer> From<&'o mut O> for Monitor<'o> {
    fn from(observer: &'o mut O) -> Self {
        Monitor { observer, journal: Journal::default(), stop: StopSign::default() }
    }
}

impl<'o, 'a: 'o> From<&'o mut (dyn Observer + 'a)> for Monitor<'o> {
    fn from(observer: &'o mut (dyn Observer + 'a)) -> Self {
        Monitor { observer, journal: Journal::default(), stop: StopSign::default() }
    }
}

impl<'o> From<&'o mut Monitor<'_>> for Monitor<'o> {
    fn from(monitor: &'o mut Monitor<'_>) -> Self {
        let journal = monitor.journal.clone();
        monitor.with_journal(journal)
    }
}
