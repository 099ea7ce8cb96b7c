//! Subsets nearly as good as the best.

use crate::bounded_tree::BoundedTree;
use crate::near_best::NearBestCount;
use crate::{NearBest, PathEntry, SubsetScorer};
use vaglio_core::{Error, Result, setting};

/// Which subsets are listed beside the best.
#[setting]
#[derive(Copy, PartialEq)]
pub struct Alternatives {
    /// How far above the lowest a score may be: a part of it, or `one_se`, its standard error.
    #[default(ScoreMargin::Part(0.01))]
    pub within: ScoreMargin,
    /// How many are listed at most, the best first; all are counted, up to a hundred thousand.
    #[default(100)]
    pub count: usize,
}

/// How far above the lowest score another may be.
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

impl Alternatives {
    /// Refuses settings without a list.
    ///
    /// # Errors
    /// [`Error::Setting`] under `alternatives`.
    pub fn check(&self) -> Result<()> {
        match self.within {
            ScoreMargin::Part(part) if !(part.is_finite() && part >= 0.0) => {
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
        let more = match self.within {
            ScoreMargin::Part(part) => part * lowest.abs(),
            ScoreMargin::OneSe => best.standard_error.ok_or_else(|| {
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
