//! Additions and removals under the constraints of a search.
//!
//! Groups, heredity and budget are checked before a trial, so a change that breaks them costs nothing. Signs are checked
//! on the weights of the readout at the λ of a trial's score: for the best change first, then for the next best.

use crate::moves::rank;
use crate::space::Space;
use crate::walk::Walk;
use crate::{Rules, SubsetScorer};
use vaglio_core::{Action, Error, Feature, FoldLineage, Result, Score, StopReason, Winner};

/// Changes that break a constraint are not tried and score +∞.
impl Space<'_> {
    /// Constraints on the columns, if there are any.
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// Scores of the subset with each of the groups added, in their order; +∞ if that breaks a constraint.
    ///
    /// # Errors
    /// See [`SubsetScorer::score`].
    pub fn score_additions(&self, subset: &mut SubsetScorer<'_>, groups: &[Feature]) -> Result<Vec<Score>> {
        let change = Action::Add;
        let open = self.open(subset.selected(), change, groups);
        let mut trials = open.iter().zip(self.trials(subset, change, &open)?).peekable();
        let score = |group: &Feature| {
            let Some((_, trial)) = trials.next_if(|(next, _)| *next == group) else { return Ok(Score::WORST) };
            let is_free = trial.loss == f64::INFINITY || !self.has_signs();
            let keeps = is_free || self.features_keep_signs(&self.after(subset.selected(), change, *group), trial)?;
            Ok(if keeps { trial } else { Score::WORST })
        };
        groups.iter().map(score).collect()
    }

    /// Whether a subset with this score keeps the constraints.
    ///
    /// # Errors
    /// [`Error::Setting`] if a sign is required, the score has no λ and the readout has several.
    pub fn allows(&self, features: &[Feature], score: Score) -> Result<bool> {
        let keeps_rules = self.rules.as_ref().is_none_or(|rules| rules.allows(features));
        Ok(keeps_rules && self.features_keep_signs(features, score)?)
    }

    /// Whether the weights of the current subset have the required signs.
    pub(crate) fn keeps_signs(&self, subset: &mut SubsetScorer<'_>) -> Result<bool> {
        if !self.has_signs() {
            return Ok(true);
        }
        let score = subset.score()?;
        self.features_keep_signs(subset.selected(), score)
    }

    /// Columns of a subset whose weights at the λ of its score have a wrong sign; all columns if there are no weights.
    fn wrong_signs(&self, features: &[Feature], score: Score) -> Result<Vec<Feature>> {
        self.rules().map_or(Ok(Vec::new()), |rules| rules.wrong_signs(self.design, features, score))
    }

    /// Whether the weights of a subset have the required signs.
    pub(crate) fn features_keep_signs(&self, features: &[Feature], score: Score) -> Result<bool> {
        Ok(self.wrong_signs(features, score)?.is_empty())
    }

    /// Whether a constraint requires signs.
    pub(crate) fn has_signs(&self) -> bool {
        self.rules().is_some_and(Rules::has_signs)
    }

    /// Groups whose change breaks no constraint, signs not considered, in their order.
    pub(crate) fn open(&self, selected: &[Feature], change: Action, groups: &[Feature]) -> Vec<Feature> {
        let Some(rules) = &self.rules else { return groups.to_vec() };
        let may = |group: &Feature| match change {
            Action::Add => rules.may_add(selected, self.group(*group)),
            Action::Remove => rules.may_remove(selected, self.group(*group)),
        };
        groups.iter().copied().filter(may).collect()
    }

    /// Whether a group may be removed from a subset, signs not considered.
    pub(crate) fn may_remove(&self, selected: &[Feature], group: Feature) -> bool {
        !self.open(selected, Action::Remove, &[group]).is_empty()
    }

    /// Best group to add or remove that keeps the constraints; ties go to the lowest first feature. `None` if all score
    /// +∞. Of duplicates only the first is removed.
    pub(crate) fn best_change(
        &self,
        subset: &mut SubsetScorer<'_>,
        change: Action,
        groups: &[Feature],
    ) -> Result<Option<Winner>> {
        let mut open = self.open(subset.selected(), change, groups);
        let Some(best) = self.best_trial(subset, change, &open)? else { return Ok(None) };
        if !self.has_signs() {
            return Ok(Some(best));
        }
        let equals: Vec<Feature> = [best.feature].into_iter().chain(best.tied).collect();
        if let Some(best) = self.first_kept(subset.selected(), change, &equals, best.score)? {
            return Ok(Some(best));
        }
        open.retain(|group| !equals.contains(group));
        // Duplicates are checked one by one, since a constraint may name only one of them.
        let mut ranked = rank(self.trials(subset, change, &open)?, open);
        ranked.retain(|(score, _)| score.loss < f64::INFINITY);
        for equals in ranked.chunk_by(|(a, _), (b, _)| a.loss == b.loss) {
            let groups: Vec<Feature> = equals.iter().map(|(_, group)| *group).collect();
            if let Some(best) = self.first_kept(subset.selected(), change, &groups, equals[0].0)? {
                return Ok(Some(best));
            }
        }
        Ok(None)
    }

    /// Makes the best change; returns its score, or `None` if all score +∞.
    pub(crate) fn make_best_change(
        &self,
        subset: &mut SubsetScorer<'_>,
        change: Action,
        groups: &[Feature],
    ) -> Result<Option<Score>> {
        let Some(best) = self.best_change(subset, change, groups)? else { return Ok(None) };
        subset.apply_all(change, self.group(best.feature))?;
        Ok(Some(best.score))
    }

    /// First of several groups with equal scores that keeps the signs, with the others that do as ties.
    fn first_kept(
        &self,
        selected: &[Feature],
        change: Action,
        equals: &[Feature],
        score: Score,
    ) -> Result<Option<Winner>> {
        let mut kept = Vec::new();
        for &group in equals {
            if self.features_keep_signs(&self.after(selected, change, group), score)? {
                kept.push(group);
            }
        }
        kept.sort_unstable();
        let Some((&feature, tied)) = kept.split_first() else { return Ok(None) };
        Ok(Some(Winner { feature, score, tied: tied.to_vec() }))
    }
}

impl Walk<'_, '_> {
    /// Stop reason if groups are left but none may be added or removed.
    pub fn none_left(&self) -> StopReason {
        if self.space.rules().is_some() { StopReason::Constraints } else { StopReason::NoCandidates }
    }

    /// Adds the forced groups in one step, since one alone may break a constraint that all together keep.
    pub(crate) fn enter_forced_together(&mut self) -> Result<()> {
        let forced = self.space.forced_features();
        let score = self.context.subset.try_subset(&forced)?;
        let others = self.space.wrong_signs(&forced, score)?;
        match others.first() {
            None => self.add_together(&self.space.forced.clone()),
            Some(_) if matches!(self.space.design.run().lineage, FoldLineage::Subset { .. }) => {
                Err(StopReason::Constraints.into())
            }
            Some(&other) => {
                let name = &self.space.design.problem().names()[other];
                let message = format!(
                    "the weight of `{name}` among the forced columns has the other sign than `constraints.signs` asks"
                );
                Err(Error::setting("forced", message))
            }
        }
    }

    /// Removes the cheapest of the columns that break a constraint until the subset keeps all of them; without steps.
    pub(crate) fn repair(&mut self) -> Result<()> {
        loop {
            let at_fault = self.at_fault()?;
            if at_fault.is_empty() {
                return Ok(());
            }
            let selected = self.selected();
            let mut open = self.space.open(selected, Action::Remove, &self.removable(self.space.smallest()));
            let is_at_fault = |group: &Feature| self.space.group(*group).iter().any(|f| at_fault.contains(f));
            if open.iter().any(is_at_fault) {
                open.retain(is_at_fault);
            }
            let best = self.space.best_trial(&mut self.context.subset, Action::Remove, &open)?;
            let best = best.ok_or(StopReason::Constraints)?;
            self.context.subset.apply_all(Action::Remove, self.space.group(best.feature))?;
        }
    }

    /// Columns involved in a broken constraint of the current subset; none if it keeps all constraints.
    fn at_fault(&mut self) -> Result<Vec<Feature>> {
        let selected = self.selected().to_vec();
        let at_fault = self.space.rules().map_or_else(Vec::new, |rules| rules.at_fault(&selected));
        if !at_fault.is_empty() || !self.space.has_signs() {
            return Ok(at_fault);
        }
        let score = self.context.subset.score()?;
        self.space.wrong_signs(&selected, score)
    }
}
