//! Search of all subsets with bounds from least squares fits: a tree that includes or excludes columns.
//!
//! Subtrees are explored in parallel, each on its own and with the knowledge from the start of the batch. Their
//! candidates are scored afterwards in one order. So the result, and every count of the certificate, is the same for
//! any number of threads.

mod bounds;
#[cfg(test)]
mod tests;

use crate::SubsetScorer;
use crate::best_subsets::{OpenSubtree, SearchOutcome};
use crate::near_best::NearBestCount;
use crate::order::TreeOrder;
use crate::space::Space;
use crate::tree::{BestSubsets, SearchSnapshots, add_best};
pub(crate) use bounds::{MOST_COLUMNS, SubsetBounds};
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use vaglio_core::{
    Answer, Certificate, Diagnostics, Error, Event, Feature, Monitor, Recorder, Result, Score, StopReason,
};

/// Name of bounds from least squares fits.
const LEAST_SQUARES: &str = "least_squares";
/// Number of subtrees explored in parallel.
const TOGETHER: usize = 16;

/// A subtree that is not explored yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RankedSubtree {
    /// Lower bound of the scores in the subtree, a finite number; the subtree has the bound of its squares.
    score_bound: f64,
    subtree: OpenSubtree,
}

impl Eq for RankedSubtree {}

impl Ord for RankedSubtree {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.subtree, &other.subtree);
        let by_score = self.score_bound.total_cmp(&other.score_bound);
        by_score.then_with(|| (&a.fixed, &a.excluded).cmp(&(&b.fixed, &b.excluded)))
    }
}

impl PartialOrd for RankedSubtree {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The position and knowledge of a search.
#[derive(Clone, Serialize, Deserialize)]
struct TreeState {
    open: BinaryHeap<Reverse<RankedSubtree>>,
    start: BestSubsets,
    found: BestSubsets,
    visited: u64,
    #[serde(default)]
    diagnostics: Option<Diagnostics>,
}

/// The search and its position.
pub(crate) struct BoundedTree<'a> {
    order: &'a TreeOrder,
    space: &'a Space<'a>,
    bounds: SubsetBounds,
    monitor: Monitor<'a>,
    record: SearchSnapshots,
    recorder: Recorder,
    known: TreeState,
    total: u64,
    stopped: Option<StopReason>,
}

impl<'a> BoundedTree<'a> {
    pub fn new(order: &'a TreeOrder, space: &'a Space<'a>, bounds: SubsetBounds, monitor: &'a mut Monitor<'_>) -> Self {
        let total = order.count();
        let journal = monitor.journal.within("tree");
        let open = Reverse(RankedSubtree { score_bound: f64::MIN, subtree: bounds.root(order) });
        let nothing = BestSubsets::new(order.most);
        let known =
            TreeState { open: [open].into(), start: nothing.clone(), found: nothing, visited: 0, diagnostics: None };
        let (monitor, record) = (monitor.with_journal(journal.clone()), SearchSnapshots::new(journal));
        BoundedTree {
            order,
            space,
            bounds,
            monitor,
            record,
            recorder: Recorder::default(),
            known,
            total,
            stopped: None,
        }
    }

    /// Visits every subset that is not proven worse, until the observer stops the search.
    ///
    /// # Errors
    /// Returns an error of the criterion's scores.
    pub fn search(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let before = subset.diagnostics();
        self.recorder = subset.recorder();
        self.recorder.take();
        let done = match self.record.last::<TreeState>() {
            Some(known) => {
                self.known = known;
                self.visit(subset)
            }
            None => {
                self.known.diagnostics = before;
                self.begin(subset).and_then(|()| self.visit(subset))
            }
        };
        subset.recall_diagnostics(self.diagnostics());
        match done {
            Err(Error::Stopped(reason)) => {
                self.stopped = Some(reason);
                Ok(())
            }
            done => done,
        }
    }

    fn diagnostics(&self) -> Option<Diagnostics> {
        Diagnostics::merge([self.known.diagnostics, self.recorder.diagnostics()])
    }

    /// Starts with the forced columns, and with subsets whose fits leave small squares.
    fn begin(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let order = self.order;
        if !order.forced.is_empty() && order.forced.len() >= order.least {
            let score = scored(subset, &order.forced)?;
            if self.space.features_keep_signs(&order.forced, score)? {
                self.known.found.offer(&order.forced, &[], score.loss);
            }
            self.known.visited += 1;
        }
        let Some(Reverse(root)) = self.known.open.peek() else { return Ok(()) };
        let starts = self.monitor.stop.ends(|| Ok(self.bounds.squares.start(&root.subtree.fixed, order.most)))?;
        for places in starts {
            if places.len() >= order.least && !self.ask() {
                let features = self.bounds.features(&places);
                let score = scored(subset, &features)?;
                if self.space.allows(subset, &features, score)? {
                    self.known.start.offer(&features, &[], score.loss);
                }
            }
        }
        if self.space.rules().is_none() {
            return Ok(());
        }
        // A greedy search gives subsets that keep the constraints.
        subset.reset(&order.forced)?;
        while !self.ask()
            && let Some(loss) = add_best(order, self.space, subset)?
        {
            if subset.selected().len() >= order.least {
                self.known.start.offer(subset.selected(), &[], loss);
            }
        }
        Ok(())
    }

    fn visit(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        while !self.known.open.is_empty() && !self.ask() {
            let limits = self.limits(|size| self.threshold(size));
            let mut next: Vec<OpenSubtree> = Vec::with_capacity(TOGETHER);
            while next.len() < TOGETHER
                && let Some(Reverse(open)) = self.known.open.pop()
            {
                if !self.is_ruled_out(&open) {
                    next.push(open.subtree);
                }
            }
            let explored = self.explored(&next, &limits);
            let SearchOutcome { candidates, open, .. } = explored.inspect_err(|_| self.leave_open(next))?;
            self.leave_open(open);
            for (squares, places) in candidates {
                let size = places.len();
                if self.bounds.loss_of_squares(squares, size) > self.threshold(size) {
                    continue;
                }
                let features = self.bounds.features(&places);
                let score = scored(subset, &features)?;
                let is_offered = score.loss <= self.known.found.loss(size);
                if is_offered && self.space.features_keep_signs(&features, score)? {
                    self.known.found.offer(&features, &[], score.loss);
                }
                self.known.visited += 1;
            }
            if self.record.is_worth(1 + self.known.open.len() / 4) {
                let known = TreeState { diagnostics: self.diagnostics(), ..self.known.clone() };
                self.record.write(&known);
            }
        }
        Ok(())
    }

    /// Explores subtrees, unless the search is stopped meanwhile.
    fn explored(&self, next: &[OpenSubtree], limits: &[f64]) -> Result<SearchOutcome> {
        self.monitor.stop.ends(|| Ok(self.bounds.explored(next, limits, self.space.rules())))
    }

    fn leave_open(&mut self, subtrees: Vec<OpenSubtree>) {
        for subtree in subtrees {
            let losses = self.sizes(&subtree).map(|size| self.bounds.loss_of_squares(subtree.bound, size));
            // A finite number, which a snapshot can hold.
            let score_bound = losses.fold(f64::INFINITY, f64::min).clamp(f64::MIN, f64::MAX);
            self.known.open.push(Reverse(RankedSubtree { score_bound, subtree }));
        }
    }

    /// Columns that subsets may contain, forced ones included.
    pub fn free(&self) -> &[Feature] {
        &self.bounds.columns
    }

    /// Counts the subsets with scores within a limit, after a search. Returns whether all were counted.
    ///
    /// # Errors
    /// Returns an error of the criterion's scores.
    pub fn near_best(&mut self, subset: &mut SubsetScorer<'_>, counted: &mut NearBestCount) -> Result<bool> {
        let order = self.order;
        if !order.forced.is_empty() && order.forced.len() >= order.least {
            let mut forced = order.forced.clone();
            forced.sort_unstable();
            self.count(subset, forced, counted)?;
        }
        let limits = self.limits(|_| counted.limit);
        let mut open = vec![self.bounds.root(order)];
        while !open.is_empty() {
            if counted.is_full() || self.ask() {
                self.stopped = None;
                return Ok(false);
            }
            let next = open.split_off(open.len().saturating_sub(TOGETHER));
            let SearchOutcome { candidates, open: more, .. } = match self.explored(&next, &limits) {
                Err(Error::Stopped(_)) => return Ok(false),
                explored => explored?,
            };
            open.extend(more);
            for (_, places) in candidates {
                let features = self.bounds.features(&places);
                self.count(subset, features, counted)?;
            }
        }
        Ok(!counted.is_full())
    }

    fn count(&self, subset: &mut SubsetScorer<'_>, features: Vec<Feature>, counted: &mut NearBestCount) -> Result<()> {
        let score = scored(subset, &features)?;
        if score.loss <= counted.limit && self.space.features_keep_signs(&features, score)? {
            counted.offer(features, score.loss);
        }
        Ok(())
    }

    fn threshold(&self, size: usize) -> f64 {
        self.known.found.threshold(&self.known.start, size)
    }

    /// The squares, for each size, above which a subset scores above its threshold.
    fn limits(&self, threshold: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut limits = vec![f64::NEG_INFINITY; self.order.most + 1];
        self.order.sizes(0).for_each(|size| limits[size] = self.bounds.limit(size, threshold(size)));
        limits
    }

    /// The sizes of subsets in a subtree.
    fn sizes(&self, open: &OpenSubtree) -> impl Iterator<Item = usize> {
        self.order.sizes(open.fixed.len() + 1 + usize::from(open.begun))
    }

    fn is_ruled_out(&self, open: &RankedSubtree) -> bool {
        self.sizes(&open.subtree).all(|size| open.score_bound > self.threshold(size))
    }

    /// Number of subsets in the open subtrees.
    fn left(&self) -> u64 {
        let below = |Reverse(open): &Reverse<RankedSubtree>| {
            let OpenSubtree { fixed, excluded, begun, .. } = &open.subtree;
            let is_free = |group: &[Feature]| {
                let place = self.bounds.columns.binary_search(&group[0]).unwrap_or(0);
                !fixed.contains(&place) && !excluded.contains(&place)
            };
            self.order.count_of(fixed.len(), 1 + usize::from(*begun), is_free)
        };
        self.known.open.iter().map(below).fold(0, u64::saturating_add)
    }

    /// Asks the observer whether to stop.
    fn ask(&mut self) -> bool {
        if self.stopped.is_some() {
            return true;
        }
        let done = self.total.saturating_sub(self.left());
        let visited = Event::Visited { done: done as f64, of: self.total as f64 };
        if let Answer::Stop(reason) = self.monitor.show(&visited) {
            self.stopped = Some(reason);
        }
        self.stopped.is_some()
    }

    /// The best subsets, the certificate, and the stop reason.
    pub fn finish(&self) -> (BestSubsets, Certificate, StopReason) {
        let TreeState { open, start, found, visited, .. } = self.known.clone();
        let found = found.or(start);
        let pruned = self.total.saturating_sub(self.left()).saturating_sub(visited);
        // The smallest number stands for an unknown bound.
        let known = |bound: f64| if bound > f64::MIN { bound } else { f64::NEG_INFINITY };
        let left = open.iter().map(|Reverse(open)| known(open.score_bound)).fold(f64::INFINITY, f64::min);
        let mut certificate = found.certificate(self.stopped.is_none(), left, (pruned > 0).then_some(LEAST_SQUARES));
        (certificate.visited, certificate.pruned) = (visited, pruned);
        (found, certificate, self.stopped.unwrap_or(StopReason::AllSubsets))
    }
}

fn scored(subset: &mut SubsetScorer<'_>, features: &[Feature]) -> Result<Score> {
    subset.reset(features)?;
    subset.score()
}
