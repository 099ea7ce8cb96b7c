//! Progress of a search of all subsets, with snapshots for resumption after an interruption.

use super::best_subsets::OpenSubtree;
use super::order::TreeOrder;
use crate::polish::best_exchange;
use crate::space::Space;
use crate::{Certificate, Event, Monitor, PathEntry, SubsetScorer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BinaryHeap;
use std::time::Instant;
use vaglio_core::{Action, Diagnostics, Feature, Recorder, Result, Score, StopReason, minimum};
use vaglio_kernels::tolerance::SCORE_ROUNDING;

/// The best subset of each size, with its features in increasing order.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct BestSubsets(Vec<Option<(Vec<Feature>, f64)>>);

impl BestSubsets {
    pub fn new(most: usize) -> Self {
        BestSubsets(vec![None; most + 1])
    }

    pub fn loss(&self, size: usize) -> f64 {
        self.0.get(size).and_then(Option::as_ref).map_or(f64::INFINITY, |(_, loss)| *loss)
    }

    /// The lowest loss of any size.
    pub fn lowest(&self) -> f64 {
        minimum(self.0.iter().flatten().map(|(_, loss)| *loss))
    }

    /// Offers a subset. Keeps it if it is the best of its size; ties go to the first in lexicographic order.
    pub fn offer(&mut self, subset: &[Feature], loss: f64) {
        if loss == f64::INFINITY || loss > self.loss(subset.len()) {
            return;
        }
        let Some(place) = self.0.get_mut(subset.len()) else { return };
        let mut sorted = subset.to_vec();
        sorted.sort_unstable();
        if place.as_ref().is_none_or(|(known, least)| loss < *least || sorted < *known) {
            *place = Some((sorted, loss));
        }
    }

    /// Fills in the subsets known before the tree where they are better, as after a stop.
    #[must_use]
    pub fn or(mut self, start: &BestSubsets) -> Self {
        for (subset, loss) in start.0.iter().flatten() {
            if *loss < self.loss(subset.len()) - SCORE_ROUNDING * loss.abs() {
                self.offer(subset, *loss);
            }
        }
        self
    }

    /// The entries of a path. Their scores are computed again, so that they do not depend on the way they were found.
    pub fn entries(self, subset: &mut SubsetScorer<'_>) -> Result<Vec<PathEntry>> {
        let mut entry = |(selected, _): (Vec<Feature>, f64)| {
            let score = subset.score_at(&selected)?;
            subset.entry(score)
        };
        self.0.into_iter().flatten().map(&mut entry).collect()
    }
}

/// The position and knowledge of a search.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct TreeState {
    /// The open subtrees, lowest bound first.
    pub open: BinaryHeap<OpenSubtree>,
    /// Best subsets known before the tree is entered.
    pub start: BestSubsets,
    /// Best subsets found in the tree.
    pub found: BestSubsets,
    pub visited: u64,
    /// Number of subsets that were ruled out one subtree at a time.
    pub pruned: u64,
    /// Diagnostics of trials before the recorder started.
    pub diagnostics: Option<Diagnostics>,
}

/// Progress of a search of all subsets: its position, its snapshots, and its end.
pub(crate) struct TreeProgress<'a> {
    pub order: &'a TreeOrder,
    pub space: &'a Space<'a>,
    /// The monitor, with the journal of the snapshots.
    pub monitor: Monitor<'a>,
    pub state: TreeState,
    /// Number of subsets.
    pub total: u64,
    pub stopped: Option<StopReason>,
    recorder: Recorder,
    /// Number of written snapshots, and the time of the last.
    written: (usize, Instant),
}

impl<'a> TreeProgress<'a> {
    pub fn new(order: &'a TreeOrder, space: &'a Space<'a>, monitor: &'a mut Monitor<'_>) -> Self {
        let journal = monitor.journal.within("tree");
        let nothing = BestSubsets::new(order.most);
        let (start, found) = (nothing.clone(), nothing);
        TreeProgress {
            order,
            space,
            monitor: monitor.with_journal(journal),
            state: TreeState { open: BinaryHeap::new(), start, found, visited: 0, pruned: 0, diagnostics: None },
            total: order.count(),
            stopped: None,
            recorder: Recorder::default(),
            written: (0, Instant::now()),
        }
    }

    /// Restores the last snapshot of an earlier run; false if there is none.
    pub fn recall(&mut self) -> bool {
        while let Some(state) = self.monitor.journal.recall(self.written.0 + 1) {
            self.state = state;
            self.written.0 += 1;
        }
        self.written.0 > 0
    }

    /// Writes a snapshot if it is worth its time.
    pub fn keep(&mut self) {
        if self.monitor.journal.is_worth(self.written.1, 1 + self.state.open.len() / 4) {
            let snapshot = TreeState { diagnostics: self.diagnostics(), ..self.state.clone() };
            self.written = (self.written.0 + 1, Instant::now());
            self.monitor.journal.keep(self.written.0, &snapshot);
        }
    }

    /// Counts the diagnostics of later trials apart from those before.
    pub fn start_recorder(&mut self, subset: &SubsetScorer<'_>) {
        self.recorder = subset.shortcut.recorder.clone();
        self.recorder.take();
    }

    /// The diagnostics of all trials so far.
    pub fn diagnostics(&self) -> Option<Diagnostics> {
        Diagnostics::merge([self.state.diagnostics, self.recorder.diagnostics()])
    }

    /// Score that a bound must exceed to rule out a size.
    pub fn threshold(&self, size: usize) -> f64 {
        let start = self.state.start.loss(size);
        self.state.found.loss(size).min(start + SCORE_ROUNDING * start.abs())
    }

    /// Scores the forced columns, the current subset, if they may be the result.
    pub fn visit_forced(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        if self.order.takes_forced() { self.visit(&self.order.forced, subset.score()?) } else { Ok(()) }
    }

    /// Counts a scored subset, and offers it if it keeps the signs.
    pub fn visit(&mut self, subset: &[Feature], score: Score) -> Result<()> {
        self.state.visited += 1;
        if score.loss <= self.state.found.loss(subset.len()) && self.space.features_keep_signs(subset, score)? {
            self.state.found.offer(subset, score.loss);
        }
        Ok(())
    }

    /// Offers a subset that is known before the tree is entered.
    pub fn propose(&mut self, subset: &[Feature], loss: f64) {
        if subset.len() >= self.order.least {
            self.state.start.offer(subset, loss);
        }
    }

    /// Proposes the subsets of a greedy search, which keep the constraints; with `exchanges`, also the subsets that
    /// exchanges reach from each.
    pub fn propose_greedy(&mut self, subset: &mut SubsetScorer<'_>, exchanges: bool) -> Result<()> {
        subset.reset(&self.order.forced)?;
        while !self.ask(self.state.visited)
            && let Some(loss) = self.add_best(subset)?
        {
            let at = subset.selected().to_vec();
            self.propose(&at, loss);
            if exchanges {
                self.exchange(subset, at.clone(), loss)?;
                subset.reset(&at)?;
            }
        }
        Ok(())
    }

    /// Adds the best group that fits within the largest size; returns the loss, or `None` if there is none.
    fn add_best(&self, subset: &mut SubsetScorer<'_>) -> Result<Option<f64>> {
        let (space, remaining) = (self.space, self.order.most - subset.selected().len());
        let mut open = space.members(subset.selected(), false);
        open.retain(|&group| space.group(group).len() <= remaining);
        Ok(space.make_best_change(subset, Action::Add, &open)?.map(|score| score.loss))
    }

    /// Exchanges groups while that lowers the score.
    fn exchange(&mut self, subset: &mut SubsetScorer<'_>, mut at: Vec<Feature>, mut loss: f64) -> Result<()> {
        let space = self.space;
        while let Some((out, entering)) = best_exchange(space, subset, &at)? {
            if loss - entering.score.loss <= SCORE_ROUNDING * loss.abs() {
                break;
            }
            loss = entering.score.loss;
            at = space.after(&space.after(&at, Action::Remove, out), Action::Add, entering.feature);
            self.propose(&at, loss);
        }
        Ok(())
    }

    /// Asks the observer whether to stop after `done` subsets.
    pub fn ask(&mut self, done: u64) -> bool {
        let visited = Event::Visited { done: done as f64, of: self.total as f64 };
        if self.stopped.is_none() {
            self.stopped = self.monitor.show(&visited);
        }
        self.stopped.is_some()
    }

    /// The best subsets, the certificate, and the stop reason. `left` is the lowest bound of the part that a stop leaves
    /// out, and `bound` names the source of bounds.
    pub fn finish(
        &self,
        left: f64,
        pruned: u64,
        bound: Option<&'static str>,
    ) -> (BestSubsets, Certificate, StopReason) {
        let found = self.state.found.clone().or(&self.state.start);
        let gap = (found.lowest() - left).max(0.0);
        let optimal = self.stopped.is_none();
        let gap = if optimal { Some(0.0) } else { gap.is_finite().then_some(gap) };
        let bound = bound.filter(|_| pruned > 0).map(Cow::Borrowed);
        let certificate = Certificate { optimal, visited: self.state.visited, pruned, gap, bound };
        (found, certificate, self.stopped.unwrap_or(StopReason::AllSubsets))
    }
}
