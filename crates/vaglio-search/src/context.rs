//! Everything that a running search works with.

use crate::{Event, Monitor, Step, SubsetScorer};
use vaglio_core::{Action, PartOutputs, StopReason};

/// The context of a search: the current subset with the criterion and the design, and the monitor of the run.
pub struct SearchContext<'a> {
    /// The current subset with its scores, the criterion and the searched design; empty at the start.
    pub subset: SubsetScorer<'a>,
    /// The monitor of the run. Answers of the evaluator and steps are stored in its journal automatically.
    pub monitor: Monitor<'a>,
    /// Steps so far.
    taken: usize,
    /// Number of first steps that an earlier search of the run took. They are shown as [`Event::Tick`], and nothing is
    /// journaled again.
    pub known: usize,
    /// The size at which the search ends: at the first addition that reaches it, as if out of patience. A chain, a
    /// search that polishes and one whose path is judged at penalties go on.
    pub until: Option<usize>,
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
        let found = PartOutputs::default();
        SearchContext { subset, monitor, taken: 0, known: 0, until: None, seed, found }
    }

    /// Reports the start to the observer, with the largest possible number of steps.
    pub(crate) fn begin(&mut self, steps: usize) {
        self.subset.is_known = self.known > 0;
        if self.known == 0 {
            self.monitor.show(&Event::Stage { what: "search", pieces: steps });
        }
    }

    /// Reports a step to the observer; returns the reason to end the search, if any.
    pub fn observe(&mut self, step: &Step) -> Option<StopReason> {
        self.taken += 1;
        self.subset.is_known = self.taken < self.known;
        let stop = if self.taken > self.known { self.show(step) } else { self.monitor.show(&Event::Tick) };
        let is_there = step.action == Action::Add && self.until.is_some_and(|size| step.size >= size);
        stop.or(is_there.then_some(StopReason::Patience))
    }

    fn show(&mut self, step: &Step) -> Option<StopReason> {
        tracing::debug!(
            feature = %self.subset.design.problem().names()[step.feature],
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
