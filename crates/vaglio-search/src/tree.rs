//! The tree of all subsets, depth first, with subtrees left out that are proven worse.

use super::frame::{Frame, below};
use super::swaps;
use vaglio_core::{Answer, Branch, Certificate, Feature, Observer, PathEntry, Result, Score, StopReason, Subset};

/// The observer is asked at least every so many subsets.
const ASK_EVERY: u64 = 4096;

/// By how much a score of the first greedy search may be above the same subset's in the tree, by rounding.
const ROUNDING: f64 = 1e-9;

/// The units that are not forced in the order of the tree, and how many subsets stand below each place.
pub(super) struct Order {
    forced: Vec<Feature>,
    /// Columns of all units, one unit after another.
    columns: Vec<Feature>,
    /// Where each unit starts in `columns`, and the end.
    starts: Vec<usize>,
    /// At `p` and `c`: subsets of the units from place p on with c columns in total.
    ways: Vec<Vec<u64>>,
    least: usize,
    most: usize,
}

impl Order {
    /// The most useful first, by the scores of single units beside the forced ones; ties by first column.
    pub fn new(frame: &Frame, evaluator: &mut Subset<'_>) -> Result<Self> {
        let forced: Vec<Feature> = frame.forced.iter().flat_map(|&unit| frame.units[unit].clone()).collect();
        evaluator.reset(&forced)?;
        let (least, most) = (frame.least.unwrap_or(1).max(1), frame.largest());
        let free = frame.free();
        let mut scores: Vec<Score> = vec![Score::WORST; free.len()];
        if free.iter().all(|&unit| frame.units[unit].len() == 1) {
            let columns: Vec<Feature> = free.iter().map(|&unit| frame.units[unit][0]).collect();
            evaluator.score_additions(&columns, &mut scores)?;
        } else {
            for (score, &unit) in scores.iter_mut().zip(&free) {
                *score = frame.addition(evaluator, unit)?;
            }
        }
        let mut ranked: Vec<(f64, usize)> = scores.iter().map(|score| score.loss).zip(free).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut columns, mut starts) = (Vec::new(), vec![0]);
        for (_, unit) in ranked {
            columns.extend(&frame.units[unit]);
            starts.push(columns.len());
        }
        let ways = ways(&starts, most.saturating_sub(forced.len()));
        Ok(Order { forced, columns, starts, ways, least, most })
    }

    fn places(&self) -> usize {
        self.starts.len() - 1
    }

    fn unit(&self, place: usize) -> &[Feature] {
        &self.columns[self.starts[place]..self.starts[place + 1]]
    }

    fn later(&self, place: usize) -> &[Feature] {
        &self.columns[self.starts[place]..]
    }

    /// The sizes of the results that stand below a subset of `size` columns with the units from `place` on, with the
    /// number of each.
    fn below(&self, place: usize, size: usize) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.ways[place].iter().copied().enumerate().skip(1);
        let (least, most) = (self.least, self.most);
        counts
            .map(move |(more, count)| (size + more, count))
            .filter(move |(size, count)| *count > 0 && (least..=most).contains(size))
    }

    fn count_below(&self, place: usize, size: usize) -> u64 {
        self.below(place, size).map(|(_, count)| count).sum()
    }
}

fn ways(starts: &[usize], room: usize) -> Vec<Vec<u64>> {
    let places = starts.len() - 1;
    let mut ways = vec![vec![0_u64; room + 1]; places + 1];
    ways[places][0] = 1;
    for place in (0..places).rev() {
        let size = starts[place + 1] - starts[place];
        let mut row = ways[place + 1].clone();
        for total in size..=room {
            row[total] += ways[place + 1][total - size];
        }
        ways[place] = row;
    }
    ways
}

/// The best subset of each size, its columns in increasing order.
pub(super) struct Best(Vec<Option<(Vec<Feature>, f64)>>);

impl Best {
    fn new(most: usize) -> Self {
        Best(vec![None; most + 1])
    }

    fn loss(&self, size: usize) -> f64 {
        self.0.get(size).and_then(Option::as_ref).map_or(f64::INFINITY, |(_, loss)| *loss)
    }

    /// Keeps the subset of forced columns, those of a node and those of a unit, if it is better than what is known of
    /// its size, or as good and the first in lexicographic order.
    fn offer(&mut self, subset: &[Feature], unit: &[Feature], loss: f64) {
        let size = subset.len() + unit.len();
        if loss == f64::INFINITY || loss > self.loss(size) {
            return;
        }
        let Some(place) = self.0.get_mut(size) else { return };
        let mut sorted: Vec<Feature> = subset.iter().chain(unit).copied().collect();
        sorted.sort_unstable();
        if place.as_ref().is_none_or(|(known, least)| loss < *least || sorted < *known) {
            *place = Some((sorted, loss));
        }
    }

    fn lowest(&self) -> f64 {
        self.0.iter().flatten().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min)
    }

    /// The entries of a path, scored anew, so that their scores do not depend on how they were found.
    pub fn entries(self, evaluator: &mut Subset<'_>) -> Result<Vec<PathEntry>> {
        let mut entry = |(subset, _): (Vec<Feature>, f64)| {
            evaluator.reset(&subset)?;
            let score = evaluator.score()?;
            Ok(PathEntry { subset, score, standard_error: evaluator.standard_error()? })
        };
        self.0.into_iter().flatten().map(&mut entry).collect()
    }
}

/// The search, and where it is.
pub(super) struct Tree<'a> {
    order: &'a Order,
    observer: &'a mut dyn Observer,
    /// By a greedy search and exchanges, before the tree is entered.
    start: Best,
    /// In the tree.
    found: Best,
    /// The subset of the node.
    subset: Vec<Feature>,
    total: u64,
    visited: u64,
    pruned: u64,
    asked: u64,
    stopped: Option<StopReason>,
    /// The lowest bound of what a stop has left out.
    open: f64,
}

impl<'a> Tree<'a> {
    pub fn new(frame: &Frame, order: &'a Order, observer: &'a mut dyn Observer) -> Self {
        let most = frame.largest();
        let base = order.forced.len();
        let total = order.count_below(0, base) + u64::from(base > 0 && base >= order.least);
        Tree {
            order,
            observer,
            start: Best::new(most),
            found: Best::new(most),
            subset: order.forced.clone(),
            total,
            visited: 0,
            pruned: 0,
            asked: 0,
            stopped: None,
            open: f64::INFINITY,
        }
    }

    /// Visits every subset that is not proven worse, or all until the observer stops it.
    pub fn search(&mut self, frame: &Frame, subset: &mut Subset<'_>) -> Result<()> {
        self.begin(frame, subset)?;
        let order = self.order;
        subset.reset(&order.forced)?;
        if !order.forced.is_empty() && order.forced.len() >= order.least {
            let score = subset.score()?;
            self.found.offer(&order.forced, &[], score.loss);
            self.visited += 1;
        }
        let mut root = subset.tree(order.later(0))?;
        if self.stopped.is_some() {
            return self.leave_open(&mut *root, 0, 0);
        }
        self.node(&mut *root, 0)
    }

    /// What was found, what is proven of it, and why the search ended.
    pub fn finish(self) -> (Best, Certificate, StopReason) {
        let Tree { start, mut found, visited, pruned, stopped, open, .. } = self;
        for (size, known) in start.0.into_iter().enumerate() {
            let Some((subset, loss)) = known else { continue };
            // What the tree has found counts; the greedy search fills in after a stop.
            if loss < found.loss(size) - ROUNDING * loss.abs() {
                found.offer(&subset, &[], loss);
            }
        }
        let optimal = stopped.is_none();
        let gap = (found.lowest() - open).max(0.0);
        let gap = if optimal { Some(0.0) } else { gap.is_finite().then_some(gap) };
        (found, Certificate { optimal, visited, pruned, gap }, stopped.unwrap_or(StopReason::AllSubsets))
    }

    /// A greedy search, and exchanges where subtrees can be proven worse by what they find.
    fn begin(&mut self, frame: &Frame, evaluator: &mut Subset<'_>) -> Result<()> {
        let order = self.order;
        let bounded = evaluator.tree(order.later(0))?.bound(0)? > f64::NEG_INFINITY;
        let mut inside = vec![false; frame.units.len()];
        frame.forced.iter().for_each(|&unit| inside[unit] = true);
        while !self.ask() {
            let room = order.most - evaluator.selected().len();
            let fits = |unit: &usize| !inside[*unit] && frame.units[*unit].len() <= room;
            let open: Vec<usize> = (0..inside.len()).filter(fits).collect();
            let Some(chosen) = frame.best_addition(evaluator, &open)? else { break };
            frame.units[chosen.unit].iter().try_for_each(|&feature| evaluator.add(feature))?;
            inside[chosen.unit] = true;
            self.propose(evaluator.selected(), chosen.score.loss);
            if bounded && self.total > (frame.columns as u64).pow(3) {
                self.exchange(frame, evaluator, &inside, chosen.score.loss)?;
            }
        }
        Ok(())
    }

    /// Exchanges units of the evaluator's subset while that lowers its score, and comes back to it.
    fn exchange(&mut self, frame: &Frame, evaluator: &mut Subset<'_>, inside: &[bool], mut loss: f64) -> Result<()> {
        let before = evaluator.selected().to_vec();
        let (mut subset, mut inside) = (before.clone(), inside.to_vec());
        while let Some(best) = swaps::best_exchange(frame, evaluator, &subset, &inside)? {
            if loss - best.entering.score.loss <= ROUNDING * loss.abs() {
                break;
            }
            loss = best.entering.score.loss;
            subset.retain(|f| !frame.units[best.out].contains(f));
            subset.extend(&frame.units[best.entering.unit]);
            (inside[best.out], inside[best.entering.unit]) = (false, true);
            self.propose(&subset, loss);
        }
        evaluator.reset(&before)
    }

    fn propose(&mut self, subset: &[Feature], loss: f64) {
        if subset.len() >= self.order.least {
            self.start.offer(subset, &[], loss);
        }
    }

    /// Whether the observer stops the search.
    fn ask(&mut self) -> bool {
        self.asked = self.visited + self.pruned;
        if let Answer::Stop(reason) = self.observer.visited(self.asked as f64, self.total as f64) {
            self.stopped = Some(reason);
        }
        self.stopped.is_some()
    }

    /// Scores the subsets with one unit more from `place` on, then enters those with something below them.
    ///
    /// The node's later columns are those of the units from `place` on.
    fn node(&mut self, node: &mut dyn Branch, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        if order.below(place, size).next().is_none() {
            return Ok(());
        }
        let bound = node.bound(0)?;
        if order.below(place, size).all(|(size, _)| bound > self.threshold(size)) {
            self.pruned += order.count_below(place, size);
            return Ok(());
        }
        self.score_children(node, place)?;
        for child in place..order.places() {
            let larger = size + order.unit(child).len();
            if larger > order.most || order.below(child + 1, larger).next().is_none() {
                continue;
            }
            let due = size == order.forced.len() || self.visited + self.pruned >= self.asked + ASK_EVERY;
            if due && self.ask() {
                return self.leave_open(node, place, child);
            }
            self.subset.extend(order.unit(child));
            self.descend(&mut *node.child(order.starts[child] - order.starts[place])?, child, order.unit(child).len())?;
            self.subset.truncate(size);
            if self.stopped.is_some() {
                return self.leave_open(node, place, child + 1);
            }
        }
        Ok(())
    }

    /// Enters the node with all columns of a unit, of which the first has been added.
    fn descend(&mut self, node: &mut dyn Branch, unit: usize, columns: usize) -> Result<()> {
        if columns == 1 { self.node(node, unit + 1) } else { self.descend(&mut *node.child(0)?, unit, columns - 1) }
    }

    /// What a bound must be above to prove that there is nothing to find of a size.
    fn threshold(&self, size: usize) -> f64 {
        let start = self.start.loss(size);
        self.found.loss(size).min(start + ROUNDING * start.abs())
    }

    fn score_children(&mut self, node: &mut dyn Branch, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        let recorded = |child: &usize| (order.least..=order.most).contains(&(size + order.unit(*child).len()));
        let children = (place..order.places()).filter(recorded);
        let (alone, blocks): (Vec<usize>, Vec<usize>) = children.partition(|&child| order.unit(child).len() == 1);
        let first = |child: &usize| order.starts[*child] - order.starts[place];
        let mut scores = vec![Score::WORST; alone.len()];
        if !alone.is_empty() {
            node.score_additions(&alone.iter().map(first).collect::<Vec<_>>(), &mut scores)?;
        }
        for block in &blocks {
            scores.push(below(&mut *node.child(first(block))?, order.unit(*block).len() - 1)?);
        }
        for (child, score) in alone.into_iter().chain(blocks).zip(scores) {
            self.found.offer(&self.subset, order.unit(child), score.loss);
            self.visited += 1;
        }
        Ok(())
    }

    /// Notes the bound of what stands below this node from the unit `child` on, which a stop leaves out.
    fn leave_open(&mut self, node: &mut dyn Branch, place: usize, child: usize) -> Result<()> {
        if self.order.below(child, self.subset.len()).next().is_some() {
            self.open = self.open.min(node.bound(self.order.starts[child] - self.order.starts[place])?);
        }
        Ok(())
    }
}
