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
        let mut near = NearBest { limit: lowest + more, ..NearBest::default() };
        near.is_whole = tree.collect_near_best(subset, &mut near)?;
        near.count = near.subsets.len() as u64;
        let mut with = BTreeMap::<Feature, u64>::new();
        near.subsets.iter().flat_map(|(features, _)| features).for_each(|&f| *with.entry(f).or_default() += 1);
        let columns_in = |count: u64| {
            tree.columns().iter().copied().filter(|f| with.get(f).copied().unwrap_or(0) == count).collect()
        };
        (near.in_all, near.in_none) = (columns_in(near.count), columns_in(0));
        near.subsets.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        near.subsets.truncate(self.count);
        Ok(Some(near))
    }
}
