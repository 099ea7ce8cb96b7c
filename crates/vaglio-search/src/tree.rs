//! The tree of all subsets, depth first, with subtrees left out that are proven worse.

use crate::moves::score_of_later;
use crate::polish::{Selected, best_exchange};
use crate::space::Space;
use vaglio_core::{Answer, Branch, Certificate, Feature, Observer, PathEntry, Result, Score, StopReason, Subset};

/// The most subsets between two questions to the observer.
const ASK_EVERY: u64 = 4096;

/// The part of a score by which rounding may put that of the first greedy search above the same subset's in the tree.
const ROUNDING: f64 = 1e-9;

/// The groups that are not forced in the order of the tree, and how many subsets there are below each place.
pub(crate) struct Order {
    forced: Vec<Feature>,
    /// Features of all groups, one group after another.
    features: Vec<Feature>,
    /// Where each group starts in `features`, and the end.
    starts: Vec<usize>,
    /// At `p` and `c`: subsets of the groups from place p on with c features in total.
    ways: Vec<Vec<u64>>,
    least: usize,
    most: usize,
}

impl Order {
    /// The most useful first, by the scores of single groups beside the forced ones; ties by first feature.
    pub fn new(space: &Space<'_>, subset: &mut Subset<'_>) -> Result<Self> {
        let forced = space.forced_features();
        subset.reset(&forced)?;
        let (least, most) = (space.least.unwrap_or(1).max(1), space.largest());
        let mut ranked: Vec<(Score, usize)> =
            space.score_additions(subset, &space.free())?.into_iter().zip(space.free()).collect();
        ranked.sort_by(|(a, x), (b, y)| a.loss.total_cmp(&b.loss).then(x.cmp(y)));
        let (mut features, mut starts) = (Vec::new(), vec![0]);
        for (_, group) in ranked {
            features.extend(&space.groups[group]);
            starts.push(features.len());
        }
        let ways = ways(&starts, most.saturating_sub(forced.len()));
        Ok(Order { forced, features, starts, ways, least, most })
    }

    fn places(&self) -> usize {
        self.starts.len() - 1
    }

    fn group(&self, place: usize) -> &[Feature] {
        &self.features[self.starts[place]..self.starts[place + 1]]
    }

    /// How many features stand from one place to a later one.
    fn between(&self, place: usize, later: usize) -> usize {
        self.starts[later] - self.starts[place]
    }

    /// The sizes of the results below a subset of `size` features with the groups from `place` on, with the number of
    /// each.
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

/// The best subset of each size, its features in increasing order.
pub(crate) struct Best(Vec<Option<(Vec<Feature>, f64)>>);

impl Best {
    fn new(most: usize) -> Self {
        Best(vec![None; most + 1])
    }

    fn loss(&self, size: usize) -> f64 {
        self.0.get(size).and_then(Option::as_ref).map_or(f64::INFINITY, |(_, loss)| *loss)
    }

    /// Keeps the subset of a node and a group if it is better than what is known of its size, or as good and the first in
    /// lexicographic order.
    fn offer(&mut self, subset: &[Feature], group: &[Feature], loss: f64) {
        let size = subset.len() + group.len();
        if loss == f64::INFINITY || loss > self.loss(size) {
            return;
        }
        let Some(place) = self.0.get_mut(size) else { return };
        let mut sorted: Vec<Feature> = subset.iter().chain(group).copied().collect();
        sorted.sort_unstable();
        if place.as_ref().is_none_or(|(known, least)| loss < *least || sorted < *known) {
            *place = Some((sorted, loss));
        }
    }

    fn lowest(&self) -> f64 {
        self.0.iter().flatten().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min)
    }

    /// The entries of a path, scored anew, so that their scores do not depend on how they were found.
    pub fn entries(self, subset: &mut Subset<'_>) -> Result<Vec<PathEntry>> {
        let mut entry = |(selected, _): (Vec<Feature>, f64)| {
            subset.reset(&selected)?;
            let score = subset.score()?;
            subset.entry(score)
        };
        self.0.into_iter().flatten().map(&mut entry).collect()
    }
}

/// The search, and where it is.
pub(crate) struct Tree<'a> {
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
    pub fn new(order: &'a Order, observer: &'a mut dyn Observer) -> Self {
        let base = order.forced.len();
        let total = order.count_below(0, base) + u64::from(base > 0 && base >= order.least);
        Tree {
            order,
            observer,
            start: Best::new(order.most),
            found: Best::new(order.most),
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
    pub fn search(&mut self, space: &Space<'_>, subset: &mut Subset<'_>) -> Result<()> {
        let order = self.order;
        self.begin(space, subset)?;
        subset.reset(&order.forced)?;
        if !order.forced.is_empty() && order.forced.len() >= order.least {
            self.found.offer(&order.forced, &[], subset.score()?.loss);
            self.visited += 1;
        }
        let mut root = subset.tree(&order.features)?;
        match self.stopped {
            Some(_) => self.leave_open(&mut *root, 0, 0),
            None => self.node(&mut *root, 0),
        }
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
    fn begin(&mut self, space: &Space<'_>, subset: &mut Subset<'_>) -> Result<()> {
        let order = self.order;
        let bounded = subset.tree(&order.features)?.bound(0)? > f64::NEG_INFINITY;
        let exchanges = bounded && self.total > (space.features() as u64).pow(3);
        let mut at = Selected::new(space, order.forced.clone());
        subset.reset(&at.features)?;
        while !self.ask() {
            let room = order.most - at.features.len();
            let fits = |group: &usize| !at.inside[*group] && space.groups[*group].len() <= room;
            let open: Vec<usize> = (0..at.inside.len()).filter(fits).collect();
            let Some(chosen) = space.best_addition(subset, &open)? else { break };
            space.groups[chosen.group].iter().try_for_each(|&feature| subset.add(feature))?;
            at.features.extend(&space.groups[chosen.group]);
            at.inside[chosen.group] = true;
            self.propose(&at.features, chosen.score.loss);
            if exchanges {
                self.exchange(space, subset, at.clone(), chosen.score.loss)?;
                subset.reset(&at.features)?;
            }
        }
        Ok(())
    }

    /// Exchanges groups while that lowers the score.
    fn exchange(&mut self, space: &Space<'_>, subset: &mut Subset<'_>, mut at: Selected, mut loss: f64) -> Result<()> {
        while let Some(best) = best_exchange(space, subset, &at)? {
            if loss - best.entering.score.loss <= ROUNDING * loss.abs() {
                break;
            }
            loss = best.entering.score.loss;
            at.features.retain(|f| !space.groups[best.out].contains(f));
            at.features.extend(&space.groups[best.entering.group]);
            (at.inside[best.out], at.inside[best.entering.group]) = (false, true);
            self.propose(&at.features, loss);
        }
        Ok(())
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

    /// Scores the subsets with one group more from `place` on, then enters those with something below them. The later
    /// features of the node are those of the groups from `place` on.
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
            let (group, at) = (order.group(child), order.between(place, child));
            let larger = size + group.len();
            if larger > order.most || order.below(child + 1, larger).next().is_none() {
                continue;
            }
            let due = size == order.forced.len() || self.visited + self.pruned >= self.asked + ASK_EVERY;
            if due && self.ask() {
                return self.leave_open(node, place, child);
            }
            self.subset.extend(group);
            self.descend(node, at, group.len(), child + 1)?;
            self.subset.truncate(size);
            if self.stopped.is_some() {
                return self.leave_open(node, place, child + 1);
            }
        }
        Ok(())
    }

    /// What a bound must be above to prove that there is nothing to find of a size.
    fn threshold(&self, size: usize) -> f64 {
        let start = self.start.loss(size);
        self.found.loss(size).min(start + ROUNDING * start.abs())
    }

    fn score_children(&mut self, node: &mut dyn Branch, place: usize) -> Result<()> {
        let (order, size) = (self.order, self.subset.len());
        let recorded = |child: &usize| (order.least..=order.most).contains(&(size + order.group(*child).len()));
        let children = (place..order.places()).filter(recorded);
        let (alone, blocks): (Vec<usize>, Vec<usize>) = children.partition(|&child| order.group(child).len() == 1);
        let places: Vec<usize> = alone.iter().map(|&child| order.between(place, child)).collect();
        let mut scores = vec![Score::WORST; places.len()];
        if !places.is_empty() {
            node.score_additions(&places, &mut scores)?;
        }
        for &child in &blocks {
            scores.push(score_of_later(node, order.between(place, child), order.group(child).len())?);
        }
        for (child, score) in alone.into_iter().chain(blocks).zip(scores) {
            self.found.offer(&self.subset, order.group(child), score.loss);
            self.visited += 1;
        }
        Ok(())
    }

    /// Enters the node with `count` of the later features, from the one at `at` on, added; the groups from `place` on may
    /// follow.
    fn descend(&mut self, node: &mut dyn Branch, at: usize, count: usize, place: usize) -> Result<()> {
        match count {
            0 => self.node(node, place),
            _ => self.descend(&mut *node.child(at)?, 0, count - 1, place),
        }
    }

    /// Notes the bound of what there is below a node at `place` from the group at `from` on, which a stop leaves out.
    fn leave_open(&mut self, node: &mut dyn Branch, place: usize, from: usize) -> Result<()> {
        if self.order.below(from, self.subset.len()).next().is_some() {
            self.open = self.open.min(node.bound(self.order.between(place, from))?);
        }
        Ok(())
    }
}
