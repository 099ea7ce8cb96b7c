//! Rounds of removals: how many features leave together, which, and the sizes that this leads to.

use crate::space::Space;
use crate::walk::{Flow, Walk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::{Action, Error, Feature, Result, Score, StopReason};

/// How many features leave at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number from 1 on, or a share between 0 and 1")]
pub enum RemovalStep {
    /// So many.
    Number(usize),
    /// This share of those that are left, rounded down, at least one.
    Share(f64),
}

impl RemovalStep {
    /// One after the other.
    pub const ONE: Self = RemovalStep::Number(1);

    /// Refuses what is no number of features.
    pub(crate) fn check(self) -> Result<()> {
        let refused = |found: String| {
            Err(Error::setting("step", format!("{found}; 0.1 removes a tenth of the columns, 5 five at a time")))
        };
        match self {
            RemovalStep::Number(0) => refused("no column would leave".into()),
            RemovalStep::Share(share) if !(share > 0.0 && share < 1.0) => {
                refused(format!("{share} is neither a share between 0 and 1 nor a whole number"))
            }
            _ => Ok(()),
        }
    }

    /// The size after a round.
    fn after(self, size: usize) -> usize {
        let leaving = match self {
            RemovalStep::Number(number) => number,
            RemovalStep::Share(share) => (share * size as f64) as usize,
        };
        size.saturating_sub(leaving.max(1))
    }
}

impl From<usize> for RemovalStep {
    fn from(number: usize) -> Self {
        RemovalStep::Number(number)
    }
}

impl From<f64> for RemovalStep {
    fn from(share: f64) -> Self {
        RemovalStep::Share(share)
    }
}

/// The sizes of a walk down, falling.
///
/// They follow from the number of columns, those that are constant included, so that walks on folds, where more columns may be
/// constant, come through the same. The largest size that may be the result and the smallest are among them.
pub(crate) fn sizes(step: RemovalStep, space: &Space<'_>, least: usize) -> Vec<usize> {
    let constant = (0..space.design.features()).filter(|&feature| space.design.is_constant(feature)).count();
    let (most, mut size) = (space.most.max(least), space.features() + constant);
    let mut sizes = Vec::new();
    while size > least {
        let next = step.after(size).max(least);
        size = if size > most { next.max(most) } else { next };
        sizes.push(size);
    }
    sizes.retain(|&size| size < space.features());
    sizes
}

impl Walk<'_, '_> {
    /// The groups that are missed least, each tried alone, until no more than `left` features remain: those that are not forced
    /// and leave at least so many, in the order of their scores. Of equal groups one stays while others may go. Under
    /// constraints, signs aside, those stay without which what is left would break one.
    ///
    /// # Errors
    /// See [`Walk::new`].
    pub fn cheapest_removals(&mut self, left: usize) -> Result<Vec<usize>> {
        let selected = self.context.subset.selected().to_vec();
        let can = |group: &usize| self.inside[*group] && self.space.may_remove(&selected, *group);
        let removable: Vec<usize> = self.space.free().into_iter().filter(can).collect();
        let scores = self.space.score_removals(&mut self.context.subset, &removable)?;
        let originals = self.space.originals();
        let mut copies = vec![0; self.inside.len()];
        let mut last = copies.clone();
        for group in (0..self.inside.len()).filter(|&group| self.inside[group]) {
            copies[originals[group]] += 1;
            last[originals[group]] = group;
        }
        let stays = |group: usize| copies[originals[group]] > 1 && last[originals[group]] == group;
        let mut ranked: Vec<(Score, usize)> = scores.into_iter().zip(removable).collect();
        ranked.sort_by(|(a, x), (b, y)| stays(*x).cmp(&stays(*y)).then(a.loss.total_cmp(&b.loss)).then(x.cmp(y)));
        let mut staying = selected;
        let fits = |(_, group): &(Score, usize)| {
            let own = &self.space.groups[*group];
            let is_in = own.len() + left <= staying.len() && self.space.may_remove(&staying, *group);
            if is_in {
                staying.retain(|feature| !own.contains(feature));
            }
            is_in
        };
        Ok(ranked.into_iter().filter(fits).map(|(_, group)| group).collect())
    }

    /// Removes groups in one step, whose score is that of what is left; where `allow` refuses the drop of the score, they stay.
    /// Whether they left: they stay as well where what is left would have a weight of another sign than it is to have.
    ///
    /// # Errors
    /// [`crate::End`], as of every step; the reason that `allow` gives.
    pub fn remove_together(
        &mut self,
        groups: &[usize],
        allow: impl FnOnce(f64) -> std::result::Result<(), StopReason>,
    ) -> Flow<bool> {
        let mut leaving: Vec<Feature> = groups.iter().flat_map(|&group| &self.space.groups[group]).copied().collect();
        leaving.sort_unstable();
        let before = self.context.subset.selected().to_vec();
        leaving.iter().try_for_each(|&feature| self.context.subset.remove(feature))?;
        let score = self.context.subset.score()?;
        if !self.space.is_of_signs(&mut self.context.subset)? {
            self.context.subset.reset(&before)?;
            return Ok(false);
        }
        if let Err(reason) = allow(self.score.loss - score.loss) {
            self.context.subset.reset(&before)?;
            return Err(reason.into());
        }
        groups.iter().for_each(|&group| self.inside[group] = false);
        self.moved(Action::Remove, &leaving, score, Vec::new())?;
        Ok(true)
    }
}
