//! Search of all subsets with bounds from least squares fits: a tree that includes or excludes columns.
//!
//! Subtrees are explored in parallel, each on its own and with the knowledge from the start of the batch. Their
//! candidates are scored afterwards in one order. So the result, and every count of the certificate, is the same for
//! any number of threads.

use super::best_subsets::{OpenSubtree, SearchOutcome, SubsetSquares};
use super::order::TreeOrder;
use super::progress::{BestSubsets, TreeProgress};
use crate::path::NearBest;
use crate::space::Space;
use crate::{Certificate, Monitor, SubsetScorer};
use vaglio_core::{Error, Feature, Result, StopReason, gather, minimum};
use vaglio_kernels::parallel;

/// Largest number of columns with cached products.
pub(crate) const MOST_COLUMNS: usize = 4096;
/// Largest number of nodes per subtree if some size has no limit.
const PART_WITHOUT_LIMIT: usize = 1 << 12;
/// Name of bounds from least squares fits.
const LEAST_SQUARES: &str = "least_squares";
/// Maximum number of near-best subsets that are counted.
const MOST_NEAR_BEST: usize = 100_000;
/// Number of subtrees explored in parallel.
const TOGETHER: usize = 16;

/// The squares of the subsets of an order, whose groups enter as a whole. `None` if the criterion has no such bounds or
/// there are too many columns.
pub(crate) fn subset_squares(order: &TreeOrder, subset: &SubsetScorer<'_>) -> Option<SubsetSquares> {
    let mut features: Vec<Feature> = order.forced.iter().chain(&order.features).copied().collect();
    features.sort_unstable();
    if features.len() > MOST_COLUMNS {
        return None;
    }
    let bound = subset.squares(&features)?;
    let squares = SubsetSquares::new(features, bound)?;
    let places = |at: usize| order.group(at).iter().filter_map(|&feature| squares.place(feature)).collect();
    let blocks: Vec<Vec<usize>> = (0..order.places()).map(places).collect();
    Some(squares.with_blocks(blocks.iter().map(Vec::as_slice)))
}

/// The search and its position.
pub(crate) struct BoundedTree<'a> {
    squares: SubsetSquares,
    progress: TreeProgress<'a>,
}

impl<'a> BoundedTree<'a> {
    pub fn new(
        order: &'a TreeOrder,
        space: &'a Space<'a>,
        squares: SubsetSquares,
        monitor: &'a mut Monitor<'_>,
    ) -> Self {
        let mut tree = BoundedTree { squares, progress: TreeProgress::new(order, space, monitor) };
        let root = tree.root();
        tree.progress.state.open.push(root);
        tree
    }

    /// The tree of all subsets.
    fn root(&self) -> OpenSubtree {
        let forced = self.progress.order.forced.iter();
        OpenSubtree::new(forced.filter_map(|&feature| self.squares.place(feature)).collect())
    }

    /// Visits every subset that is not proven worse, until the observer stops the search. Returns the best subsets, the
    /// certificate, and the stop reason.
    pub fn search(&mut self, subset: &mut SubsetScorer<'_>) -> Result<(BestSubsets, Certificate, StopReason)> {
        let before = subset.diagnostics;
        self.progress.start_recorder(subset);
        let done = match self.progress.recall() {
            true => self.visit(subset),
            false => {
                self.progress.state.diagnostics = before;
                self.begin(subset).and_then(|()| self.visit(subset))
            }
        };
        subset.diagnostics = self.progress.diagnostics();
        match done {
            Err(Error::Stopped(reason)) => self.progress.stopped = Some(reason),
            done => done?,
        }
        let TreeProgress { state, total, .. } = &self.progress;
        let pruned = total.saturating_sub(self.open_count()).saturating_sub(state.visited);
        let left = minimum(state.open.iter().map(OpenSubtree::score_bound));
        Ok(self.progress.finish(left, pruned, Some(LEAST_SQUARES)))
    }

    /// Starts with the forced columns, and with subsets whose fits leave small squares.
    fn begin(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        let order = self.progress.order;
        subset.reset(&order.forced)?;
        self.progress.visit_forced(subset)?;
        let Some(root) = self.progress.state.open.peek() else { return Ok(()) };
        let start = || Ok(self.squares.start(&root.fixed, order.most));
        let starts = self.progress.monitor.stop.ends(start)?;
        for places in starts {
            if places.len() >= order.least && !self.ask() {
                let features = self.squares.features_at(&places);
                let score = subset.score_at(&features)?;
                if self.progress.space.allows(&features, score)? {
                    self.progress.propose(&features, score.loss);
                }
            }
        }
        if self.progress.space.rules().is_none() {
            return Ok(());
        }
        // A greedy search gives subsets that keep the constraints.
        self.progress.propose_greedy(subset, false)
    }

    fn visit(&mut self, subset: &mut SubsetScorer<'_>) -> Result<()> {
        while !self.progress.state.open.is_empty() && !self.ask() {
            let limits = self.limits(|size| self.progress.threshold(size));
            let mut next: Vec<OpenSubtree> = Vec::with_capacity(TOGETHER);
            while next.len() < TOGETHER
                && let Some(open) = self.progress.state.open.pop()
            {
                if !self.is_ruled_out(&open) {
                    next.push(open);
                }
            }
            let explored = self.explore(&next, &limits);
            let SearchOutcome { candidates, open } = explored.inspect_err(|_| self.leave_open(next))?;
            self.leave_open(open);
            for (squares, places) in candidates {
                let size = places.len();
                if self.squares.loss_of_squares(squares, size) > self.progress.threshold(size) {
                    continue;
                }
                let features = self.squares.features_at(&places);
                let score = subset.score_at(&features)?;
                self.progress.visit(&features, score)?;
            }
            self.progress.keep();
        }
        Ok(())
    }

    /// Explores subtrees in parallel, unless the search is stopped meanwhile. Returns the subsets not ruled out, best
    /// bound first, and unexplored subtrees.
    fn explore(&self, next: &[OpenSubtree], limits: &[f64]) -> Result<SearchOutcome> {
        let (squares, rules) = (&self.squares, self.progress.space.rules());
        // Every subset of a size without a limit is a candidate.
        let budget = if limits.contains(&f64::INFINITY) { PART_WITHOUT_LIMIT } else { squares.part() };
        let may = |fixed: &[usize], free: &[usize]| {
            let is_free = |f: Feature| squares.place(f).is_some_and(|place| free.contains(&place));
            rules.is_none_or(|rules| rules.may_grow(&gather(&squares.features, fixed), is_free))
        };
        self.progress.monitor.stop.ends(|| {
            let mut all = SearchOutcome::default();
            for part in parallel::map_slice(next, |open| squares.explore(open, limits, budget, &may)) {
                all.candidates.extend(part.candidates);
                all.open.extend(part.open);
            }
            all.candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
            Ok(all)
        })
    }

    fn leave_open(&mut self, subtrees: Vec<OpenSubtree>) {
        for subtree in subtrees {
            let losses = self.sizes(&subtree).map(|size| self.squares.loss_of_squares(subtree.squares_bound, size));
            let score_bound = minimum(losses);
            self.progress.state.open.push(subtree.with_score_bound(score_bound));
        }
    }

    /// Columns that subsets may contain, forced ones included.
    pub fn columns(&self) -> &[Feature] {
        &self.squares.features
    }

    /// Collects the subsets with scores up to the limit of `near`, after a search. Returns whether these are all.
    pub fn collect_near_best(&mut self, subset: &mut SubsetScorer<'_>, near: &mut NearBest) -> Result<bool> {
        let order = self.progress.order;
        if order.takes_forced() {
            let mut forced = order.forced.clone();
            forced.sort_unstable();
            self.offer_near_best(subset, forced, near)?;
        }
        let limits = self.limits(|_| near.limit);
        let mut open = vec![self.root()];
        while !open.is_empty() {
            if near.subsets.len() >= MOST_NEAR_BEST || self.ask() {
                self.progress.stopped = None;
                return Ok(false);
            }
            let next = open.split_off(open.len().saturating_sub(TOGETHER));
            let SearchOutcome { candidates, open: more } = match self.explore(&next, &limits) {
                Err(Error::Stopped(_)) => return Ok(false),
                explored => explored?,
            };
            open.extend(more);
            for (_, places) in candidates {
                let features = self.squares.features_at(&places);
                self.offer_near_best(subset, features, near)?;
            }
        }
        Ok(near.subsets.len() < MOST_NEAR_BEST)
    }

    /// Adds a subset, in increasing order, if its score is within the limit.
    fn offer_near_best(
        &self,
        subset: &mut SubsetScorer<'_>,
        features: Vec<Feature>,
        near: &mut NearBest,
    ) -> Result<()> {
        let score = subset.score_at(&features)?;
        let fits = near.subsets.len() < MOST_NEAR_BEST && score.loss <= near.limit;
        if fits && self.progress.space.features_keep_signs(&features, score)? {
            near.subsets.push((features, score.loss));
        }
        Ok(())
    }

    /// The squares, for each size, above which a subset scores above its threshold.
    fn limits(&self, threshold: impl Fn(usize) -> f64) -> Vec<f64> {
        let order = self.progress.order;
        let mut limits = vec![f64::NEG_INFINITY; order.most + 1];
        order.sizes(0).for_each(|size| limits[size] = self.squares.limit(size, threshold(size)));
        limits
    }

    /// The sizes of subsets in a subtree.
    fn sizes(&self, open: &OpenSubtree) -> impl Iterator<Item = usize> {
        self.progress.order.sizes(open.fixed.len() + 1 + usize::from(open.begun))
    }

    fn is_ruled_out(&self, open: &OpenSubtree) -> bool {
        self.sizes(open).all(|size| open.score_bound() > self.progress.threshold(size))
    }

    /// Number of subsets in the open subtrees.
    fn open_count(&self) -> u64 {
        let below = |OpenSubtree { fixed, excluded, begun, .. }: &OpenSubtree| {
            let is_free = |group: &[Feature]| {
                let place = self.squares.place(group[0]);
                place.is_some_and(|place| !fixed.contains(&place) && !excluded.contains(&place))
            };
            self.progress.order.count_of(fixed.len(), 1 + usize::from(*begun), is_free)
        };
        self.progress.state.open.iter().map(below).fold(0, u64::saturating_add)
    }

    /// Asks the observer whether to stop.
    fn ask(&mut self) -> bool {
        let done = self.progress.total.saturating_sub(self.open_count());
        self.progress.ask(done)
    }
}
