//! Rounds of removals: how many features are removed together, which, and the resulting sizes.

use crate::space::Space;
use crate::walk::Walk;
use vaglio_core::{Action, Error, Result, Score, setting};

/// How many features leave at a time.
#[setting]
#[derive(Copy, PartialEq)]
#[serde(untagged, expecting = "expected a whole number from 1 on, or a share between 0 and 1")]
pub enum RemovalStep {
    /// So many.
    Number(usize),
    /// This share of those that are left, rounded down, at least one.
    Share(f64),
}

impl RemovalStep {
    /// Removes one feature at a time.
    pub(crate) const ONE: Self = RemovalStep::Number(1);

    /// Refuses invalid numbers and shares.
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

    /// Size after a round.
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

/// Sizes that a backward search visits, decreasing.
///
/// They depend only on the number of columns, constant ones included. So searches on folds visit the same sizes, although
/// more columns may be constant there. The largest and the smallest size of the result are among them.
pub(crate) fn sizes(step: RemovalStep, space: &Space<'_>, least: usize) -> Vec<usize> {
    let (most, mut size) = (space.most.max(least), space.features() + space.design.problem().constant().len());
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
    /// Cheapest groups to remove, each tried alone, until `left` features remain, by increasing score. Kept are: forced
    /// groups; one of equal groups while others may be removed; groups whose removal would break a constraint, signs not
    /// considered.
    ///
    /// # Errors
    /// See [`Walk::new`].
    pub(crate) fn cheapest_removals(&mut self, left: usize) -> Result<Vec<usize>> {
        let selected = self.selected().to_vec();
        let removable = self.space.open(&selected, Action::Remove, &self.removable(0));
        let scores = self.space.trials(&mut self.context.subset, Action::Remove, &removable)?;
        let originals = self.space.originals();
        let mut copies = vec![0; originals.len()];
        let mut last = copies.clone();
        for group in self.space.members(&selected, true) {
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

    /// Removes groups in one step, unless that gives a weight a wrong sign; returns whether they were removed. A step
    /// that `counts` may be a miss.
    ///
    /// # Errors
    /// See [`Walk::step`] and [`Walk::allow`].
    pub(crate) fn remove_together(&mut self, groups: &[usize], counts: bool) -> Result<bool> {
        let mut leaving = self.space.features_of(groups);
        leaving.sort_unstable();
        let before = self.selected().to_vec();
        self.context.subset.apply_all(Action::Remove, &leaving)?;
        let score = self.context.subset.score()?;
        if !self.space.keeps_signs(&mut self.context.subset)? {
            self.context.subset.reset(&before)?;
            return Ok(false);
        }
        if let Err(reason) = self.allow(self.score.loss - score.loss, counts) {
            self.context.subset.reset(&before)?;
            return Err(reason.into());
        }
        self.record_moves(Action::Remove, &leaving, score, Vec::new())?;
        Ok(true)
    }
}
