//! Order of the groups in the tree of all subsets, with the number of subsets below each place.

use crate::SubsetScorer;
use crate::moves::rank;
use crate::space::Space;
use vaglio_core::{Action, Feature, Result};

/// The free groups in the order of the tree, with the number of subsets below each place.
pub(crate) struct TreeOrder {
    pub forced: Vec<Feature>,
    /// Features of all groups, one group after another.
    pub features: Vec<Feature>,
    /// Start of each group in `features`, and the end.
    starts: Vec<usize>,
    /// At `p` and `c`: subsets of the groups from place p on with c features in total.
    ways: Vec<Vec<u64>>,
    pub least: usize,
    pub most: usize,
}

impl TreeOrder {
    /// Orders groups by the scores of each with the forced ones, best first; ties by first feature.
    pub fn new(space: &Space<'_>, subset: &mut SubsetScorer<'_>) -> Result<Self> {
        let forced = space.forced_features();
        subset.reset(&forced)?;
        let candidates: Vec<Feature> = space.groups().concat();
        let kept = space.rules().map_or(usize::MAX, |rules| rules.most(&candidates));
        let (least, most) = (space.smallest(), space.largest().min(kept));
        let (mut features, mut starts) = (Vec::new(), vec![0]);
        let free = space.free();
        for (_, group) in rank(space.trials(subset, Action::Add, &free)?, free) {
            features.extend(space.group(group));
            starts.push(features.len());
        }
        let ways = ways(&starts, most.saturating_sub(forced.len()));
        Ok(TreeOrder { forced, features, starts, ways, least, most })
    }

    pub fn places(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn group(&self, place: usize) -> &[Feature] {
        &self.features[self.starts[place]..self.starts[place + 1]]
    }

    /// The features of the groups from a place on.
    pub fn later(&self, place: usize) -> &[Feature] {
        &self.features[self.starts[place]..]
    }

    /// Sizes of results below a subset of `size` features, with the number of results of each size. The subset may grow
    /// by groups from `place` on.
    pub fn below(&self, place: usize, size: usize) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.ways[place].iter().copied().enumerate().skip(1);
        let (least, most) = (self.least, self.most);
        counts
            .map(move |(more, count)| (size + more, count))
            .filter(move |(size, count)| *count > 0 && (least..=most).contains(size))
    }

    /// The sizes of results, from `least` on.
    pub fn sizes(&self, least: usize) -> impl Iterator<Item = usize> {
        let base = self.forced.len();
        let is_made = move |size: &usize| *size >= base && self.ways[0].get(size - base).is_some_and(|ways| *ways > 0);
        (least.max(self.least)..=self.most).filter(is_made)
    }

    /// Number of results with `size` given features and at least `least_groups` of the groups that `is_free` admits.
    pub fn count_of(&self, size: usize, least_groups: usize, is_free: impl Fn(&[Feature]) -> bool) -> u64 {
        let remaining = self.most.saturating_sub(size);
        let mut starts = vec![0];
        let mut alone = 0;
        for group in (0..self.places()).map(|place| self.group(place)).filter(|group| is_free(group)) {
            starts.push(starts[starts.len() - 1] + group.len());
            alone += u64::from((self.least..=self.most).contains(&(size + group.len())));
        }
        let more = |(more, _): &(usize, &u64)| *more > 0 && size + more >= self.least;
        let all = ways(&starts, remaining)[0]
            .iter()
            .enumerate()
            .filter(more)
            .fold(0, |sum: u64, (_, n)| sum.saturating_add(*n));
        if least_groups > 1 { all.saturating_sub(alone) } else { all }
    }

    /// Number of subsets that may be the result, with the forced features.
    pub fn count(&self) -> u64 {
        self.count_below(0, self.forced.len()).saturating_add(u64::from(self.takes_forced()))
    }

    /// Whether the forced features alone may be the result.
    pub fn takes_forced(&self) -> bool {
        !self.forced.is_empty() && self.forced.len() >= self.least
    }

    pub fn count_below(&self, place: usize, size: usize) -> u64 {
        self.below(place, size).fold(0, |sum: u64, (_, count)| sum.saturating_add(count))
    }
}

fn ways(starts: &[usize], remaining: usize) -> Vec<Vec<u64>> {
    let places = starts.len() - 1;
    let mut ways = vec![vec![0_u64; remaining + 1]; places + 1];
    ways[places][0] = 1;
    for place in (0..places).rev() {
        let size = starts[place + 1] - starts[place];
        let mut row = ways[place + 1].clone();
        for total in size..=remaining {
            row[total] = row[total].saturating_add(ways[place + 1][total - size]);
        }
        ways[place] = row;
    }
    ways
}
