//! Everything that a running search works with.

use crate::{Event, Monitor, Step, SubsetScorer};
use vaglio_core::{Action, PartOutputs, StopReason};

/// The context of a search: the current subset with the criterion and the design, and the monitor of the run.
pub struct SearchContext<'a> {
    /// The current subset with its scores, the criterion and the searched design; empty at the start.
    pub subset: SubsetScorer<'a>,
    /// The monitor of the run. Answers of the evaluator and steps are stored in its journal automatically.
    pub monitor: Monitor<'a>,
    /// Steps since the search began or restarted.
    taken: usize,
    /// Steps shown to the observer.
    shown: usize,
    /// The size at which the search pauses.
    until: Option<usize>,
    /// The seed from which every random choice follows.
    pub seed: u64,
    /// Findings of the search besides its path, such as an acceptance rate. Any values by name; `selection.json` and
    /// the report show them under `found`.
    pub found: PartOutputs,
}

impl<'a> SearchContext<'a> {
    /// Creates the context of a search that has not begun.
    pub fn new(mut subset: SubsetScorer<'a>, monitor: impl Into<Monitor<'a>>, seed: u64) -> Self {
        let monitor = monitor.into();
        subset.attach(&monitor);
        SearchContext { subset, monitor, taken: 0, shown: 0, until: None, seed, found: PartOutputs::default() }
    }

    /// Pauses the search at the first addition that reaches `size` features; it ends there as if out of patience. Only
    /// a search that can resume pauses: it asks only the context's subset, and uses no forks. `None` removes the pause.
    ///
    /// The first size must be set before the search begins; answers are then kept in memory.
    pub fn pause_at(&mut self, size: Option<usize>) {
        if size.is_some() && self.shown == 0 {
            self.subset.log.keep_all();
        }
        self.until = size;
    }

    /// Whether [`SearchContext::pause_at`] ended the search.
    pub fn is_paused(&self) -> bool {
        self.subset.log.is_paused()
    }

    /// Rewinds a paused search to its start. Called once more, it gets its recorded answers without trials and then
    /// continues. The observer sees no step twice. Returns false if the search went on after its pause.
    #[must_use]
    pub fn rewind(&mut self) -> bool {
        self.taken = 0;
        self.subset.rewind()
    }

    /// Restarts with another subset; the search then does not pause.
    pub fn restart(&mut self, mut subset: SubsetScorer<'a>) {
        subset.attach(&self.monitor);
        (self.subset, self.taken, self.until) = (subset, 0, None);
    }

    /// Reports the start to the observer, with the largest possible number of steps.
    pub(crate) fn begin(&mut self, steps: usize) {
        if self.shown == 0 {
            self.monitor.show(&Event::Begin { steps });
        }
    }

    /// Reports a step to the observer; returns the reason to end the search, if any.
    pub fn observe(&mut self, step: &Step) -> Option<StopReason> {
        self.taken += 1;
        if self.taken > self.shown {
            self.shown = self.taken;
            let stop = self.show(step);
            if stop.is_some() {
                return stop;
            }
        }
        let is_there = step.action == Action::Add && self.until.is_some_and(|size| step.size >= size);
        (is_there && self.subset.log.pause()).then_some(StopReason::Patience)
    }

    fn show(&mut self, step: &Step) -> Option<StopReason> {
        tracing::debug!(
            feature = %self.subset.design.names()[step.feature],
            action = ?step.action,
            size = step.size,
            loss = step.score.loss,
            lambda = step.score.lambda,
            "step"
        );
        if self.monitor.journal.is_top() {
            self.monitor.journal.keep(format!("step/{}", self.taken), step);
        }
        self.monitor.show(&Event::Step(step))
    }
}
