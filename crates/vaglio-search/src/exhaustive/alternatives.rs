//! Subsets nearly as good as the best.

use super::bounded_tree::BoundedTree;
use crate::path::NearBest;
use crate::{PathEntry, SubsetScorer};
use std::collections::BTreeMap;
use vaglio_core::{Error, Feature, Result, setting};

/// Which subsets are listed beside the best.
#[setting]
#[derive(Copy, PartialEq)]
pub struct Alternatives {
    /// Largest excess over the lowest score: a part of it, or `one_se`, its standard error.
    #[default(ScoreMargin::Part(0.01))]
    pub within: ScoreMargin,
    /// Maximum number of listed subsets, the best first; all are counted, up to a hundred thousand.
    #[default(100)]
    pub count: usize,
}

/// Largest excess over the lowest score.
#[setting]
#[derive(Copy, PartialEq)]
#[serde(expecting = "expected a number or `one_se`")]
pub enum ScoreMargin {
    /// The standard error of the lowest score.
    OneSe,
    /// This part of it.
    #[serde(untagged)]
    Part(f64),
}

impl From<f64> for ScoreMargin {
    fn from(part: f64) -> Self {
        ScoreMargin::Part(part)
    }
}

impl Alternatives {
    /// Allows an excess of one standard error of the lowest score.
    #[must_use]
    pub fn within_one_se(self) -> Self {
        Alternatives { within: ScoreMargin::OneSe, ..self }
    }

    /// Largest excess as a part of the lowest score; `None` for its standard error.
    pub fn part(&self) -> Option<f64> {
        if let ScoreMargin::Part(part) = self.within { Some(part) } else { None }
    }

    /// Refuses settings without a list.
    ///
    /// # Errors
    /// [`Error::Setting`] under `alternatives`.
    pub fn check(&self) -> Result<()> {
        match self.part() {
            Some(part) if !(part.is_finite() && part >= 0.0) => {
                Err(Error::setting("alternatives.within", format!("{part} is not a finite number from 0 on")))
            }
            _ if self.count == 0 => Err(Error::setting("alternatives.count", "0 cannot be listed; 1 is the least")),
            _ => Ok(()),
        }
    }

    /// Lists the near-best subsets of a search whose best subsets are known.
    pub(crate) fn find(
        &self,
        entries: &[PathEntry],
        tree: &mut BoundedTree<'_>,
        subset: &mut SubsetScorer<'_>,
    ) -> Result<Option<NearBest>> {
        let Some(best) = entries.iter().min_by(|a, b| a.score.loss.total_cmp(&b.score.loss)) else { return Ok(None) };
        let lowest = best.score.loss;
        let more = match self.part() {
            Some(part) => part * lowest.abs(),
            None => best.standard_error.ok_or_else(|| {
                Error::setting(
                    "alternatives.within",
                    "the score of this criterion has no standard error; give a number",
                )
            })?,
        };
        if !(lowest + more).is_finite() {
            return Ok(None);
        }
        let mut counted = NearBestCount::new(lowest + more, self.count);
        let is_whole = tree.near_best(subset, &mut counted)?;
        Ok(Some(counted.near_best(tree.free(), is_whole)))
    }
}

/// Maximum number of subsets that are counted.
const MOST: u64 = 100_000;

/// Near-best subsets found so far.
pub(crate) struct NearBestCount {
    pub limit: f64,
    listed: usize,
    count: u64,
    /// Number of subsets that contain each column.
    with: BTreeMap<Feature, u64>,
    subsets: Vec<(Vec<Feature>, f64)>,
}

impl NearBestCount {
    pub fn new(limit: f64, listed: usize) -> Self {
        NearBestCount { limit, listed, count: 0, with: Default::default(), subsets: Vec::new() }
    }

    pub fn is_full(&self) -> bool {
        self.count >= MOST
    }

    /// Counts a subset, sorted in increasing order, if its score is within the limit.
    pub fn offer(&mut self, features: Vec<Feature>, loss: f64) {
        if loss > self.limit || self.is_full() {
            return;
        }
        self.count += 1;
        features.iter().for_each(|&feature| *self.with.entry(feature).or_default() += 1);
        self.subsets.push((features, loss));
        if self.subsets.len() > 2 * self.listed.max(1000) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.subsets.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        self.subsets.truncate(self.listed);
    }

    pub fn near_best(mut self, columns: &[Feature], is_whole: bool) -> NearBest {
        self.cut();
        let NearBestCount { limit, count, with, subsets, .. } = self;
        let features_in =
            |wanted: u64| columns.iter().copied().filter(|f| with.get(f).copied().unwrap_or(0) == wanted).collect();
        NearBest { limit, count, is_whole, in_all: features_in(count), in_none: features_in(0), subsets }
    }
}
