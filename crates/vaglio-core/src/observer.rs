//! The progress, the journal and the stop sign of a run.

use crate::{Journal, Step, StopReason, StopSign};

/// An event of a run; events come in order.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A search starts that takes at most so many steps.
    Begin {
        /// Steps, at most.
        steps: usize,
    },
    /// A step of the search was taken.
    Step(&'e Step),
    /// A part of the work begins whose pieces are many steps each: walks on folds, repetitions.
    Stage {
        /// Its name.
        what: &'e str,
        /// Its pieces.
        pieces: usize,
    },
    /// A piece of the stage is done.
    Piece,
    /// Work on pieces of the stage goes on, of which this share is done in all, from 0 to 1.
    Share(f64),
    /// Work whose steps are not shown goes on, such as walks on folds.
    Tick,
    /// A search without steps has dealt with so many subsets; shown at its start and again and again.
    Visited {
        /// Subsets that were visited or ruled out.
        done: f64,
        /// All subsets.
        of: f64,
    },
}

/// An observer's answer to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Continue,
    /// End here; the path so far is the result.
    Stop(StopReason),
}

/// Sees a run as it happens: progress on a screen, figures of every step, an early end.
///
/// # Example
/// ```
/// use vaglio_core::{Answer, Event, Observer, StopReason};
///
/// /// Ends the search at a score that is low enough.
/// struct LowEnough(f64);
///
/// impl Observer for LowEnough {
///     fn observe(&mut self, event: &Event<'_>) -> Answer {
///         match event {
///             Event::Step(step) if step.score.loss <= self.0 => Answer::Stop(StopReason::Limit),
///             _ => Answer::Continue,
///         }
///     }
/// }
/// ```
pub trait Observer: Send {
    /// Sees an event; the answers to [`Event::Step`], [`Event::Tick`] and [`Event::Visited`] may end the work.
    fn observe(&mut self, event: &Event<'_>) -> Answer;
}

/// An observer that lets everything pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _: &Event<'_>) -> Answer {
        Answer::Continue
    }
}

/// What a run is given beside its settings. One with another journal or another observer is made of its fields.
pub struct Monitor<'o> {
    /// Who sees the progress.
    pub observer: &'o mut dyn Observer,
    /// Stores finished work and recalls that of an earlier run.
    pub journal: Journal,
    /// Whether work is to end, also in the middle of a step.
    pub stop: StopSign,
}

impl Monitor<'_> {
    /// Shows an event; the answer is that of the observer, or of the stop sign where the observer would go on.
    pub fn show(&mut self, event: &Event<'_>) -> Answer {
        match self.observer.observe(event) {
            Answer::Continue => self.stop.reason().map_or(Answer::Continue, Answer::Stop),
            stop => stop,
        }
    }

    /// A copy with another journal.
    pub fn with_journal(&mut self, journal: Journal) -> Monitor<'_> {
        Monitor { observer: self.observer, journal, stop: self.stop.clone() }
    }
}

/// An observer without a journal and a sign to stop.
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
