//! Additions and removals under the constraints of a search.
//!
//! Groups, heredity and budget are checked before a trial, so a change that breaks them costs nothing. Signs are checked
//! on the weights of the readout at the λ of a trial's score: for the best change first, then for the next best.

use crate::moves::Move;
use crate::space::Space;
use crate::walk::{Walk, WalkEnd, WalkResult};
use crate::{Rules, SubsetScorer};
use vaglio_core::{Action, Column, Design, Error, Feature, Result, Score, StopReason};
use vaglio_kernels::ridge::Ridge;

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
    pub fn score_additions(&self, subset: &mut SubsetScorer<'_>, groups: &[usize]) -> Result<Vec<Score>> {
        let Some(rules) = &self.rules else { return self.trials(subset, groups) };
        let open = self.open(rules, subset.selected(), groups, Action::Add);
        let mut scored = open.iter().zip(self.trials(subset, &open)?).peekable();
        let mut scores = vec![Score::WORST; groups.len()];
        for (group, score) in groups.iter().zip(&mut scores) {
            let Some((_, trial)) = scored.next_if(|(open, _)| *open == group) else { continue };
            if self.keeps_signs_with(subset, *group, trial, Action::Add)? {
                *score = trial;
            }
        }
        Ok(scores)
    }

    /// Best group to add that keeps the constraints; ties go to the lowest first feature. `None` if all score +∞.
    ///
    /// # Errors
    /// See [`SubsetScorer::score`].
    pub fn best_addition(&self, subset: &mut SubsetScorer<'_>, groups: &[usize]) -> Result<Option<Move>> {
        self.best_kept(subset, groups, Action::Add)
    }

    /// Best group to remove that keeps the constraints.
    ///
    /// Among duplicates only the first is tried: removing another leaves equal columns in another order, whose score
    /// differs only by rounding.
    ///
    /// # Errors
    /// See [`SubsetScorer::score`].
    pub fn best_removal(&self, subset: &mut SubsetScorer<'_>, groups: &[usize]) -> Result<Option<Move>> {
        self.best_kept(subset, groups, Action::Remove)
    }

    /// Whether a subset with this score keeps the constraints.
    ///
    /// # Errors
    /// [`Error::Setting`] if a sign is required, the score has no λ and the readout has several.
    pub fn allows(&self, subset: &mut SubsetScorer<'_>, features: &[Feature], score: Score) -> Result<bool> {
        let Some(rules) = &self.rules else { return Ok(true) };
        Ok(rules.allows(features) && self.keeps_signs(subset, features, score)?)
    }

    /// Whether a subset's weights have the required signs at the λ of its score. Cost O(m·s²) if a sign is required.
    ///
    /// # Errors
    /// [`Error::Setting`] if the score has no λ and the readout has several.
    fn keeps_signs(&self, subset: &mut SubsetScorer<'_>, features: &[Feature], score: Score) -> Result<bool> {
        Ok(self.wrong_signs(subset, features, score)?.is_empty())
    }

    /// Whether the weights of the current subset have the required signs.
    pub(crate) fn is_of_signs(&self, subset: &mut SubsetScorer<'_>) -> Result<bool> {
        if !self.rules.as_ref().is_some_and(Rules::has_signs) {
            return Ok(true);
        }
        let (features, score) = (subset.selected().to_vec(), subset.score()?);
        self.keeps_signs(subset, &features, score)
    }

    /// Columns of a subset whose weights have a wrong sign; all columns if there are no weights.
    pub(crate) fn wrong_signs(
        &self,
        subset: &mut SubsetScorer<'_>,
        features: &[Feature],
        score: Score,
    ) -> Result<Vec<Feature>> {
        match self.asks_signs(features) {
            true => subset.finding(features, || self.wrong_weights(features, score)),
            false => Ok(Vec::new()),
        }
    }

    /// Whether the weights of a subset have the required signs; for searches that never pause.
    pub(crate) fn is_of_those_signs(&self, features: &[Feature], score: Score) -> Result<bool> {
        Ok(!self.asks_signs(features) || self.wrong_weights(features, score)?.is_empty())
    }

    fn asks_signs(&self, features: &[Feature]) -> bool {
        self.rules.as_ref().is_some_and(|rules| features.iter().any(|f| rules.sign(*f).is_some()))
    }

    fn wrong_weights(&self, features: &[Feature], score: Score) -> Result<Vec<Feature>> {
        self.rules.as_ref().map_or(Ok(Vec::new()), |rules| wrong_signs(rules, self.design, features, score))
    }

    fn keeps_signs_with(
        &self,
        subset: &mut SubsetScorer<'_>,
        group: usize,
        score: Score,
        action: Action,
    ) -> Result<bool> {
        if score.loss == f64::INFINITY || !self.rules.as_ref().is_some_and(Rules::has_signs) {
            return Ok(true);
        }
        let moved = &self.groups[group];
        let features: Vec<Feature> = match action {
            Action::Add => subset.selected().iter().chain(moved).copied().collect(),
            Action::Remove => subset.selected().iter().copied().filter(|f| !moved.contains(f)).collect(),
        };
        self.keeps_signs(subset, &features, score)
    }

    /// Groups whose change breaks no constraint, signs not considered, in their order.
    fn open(&self, rules: &Rules, selected: &[Feature], groups: &[usize], action: Action) -> Vec<usize> {
        let at = rules.at(selected);
        let may = |group: &usize| match action {
            Action::Add => at.may_add(&self.groups[*group]),
            Action::Remove => at.may_remove(&self.groups[*group]),
        };
        groups.iter().copied().filter(may).collect()
    }

    /// Groups that may be added to a subset, signs not considered.
    pub(crate) fn addable(&self, selected: &[Feature], groups: Vec<usize>) -> Vec<usize> {
        match &self.rules {
            Some(rules) => self.open(rules, selected, &groups, Action::Add),
            None => groups,
        }
    }

    /// Groups with products that may be added now that their factors are selected, signs not considered.
    pub(crate) fn waited(&self, selected: &[Feature], groups: &[usize]) -> Vec<usize> {
        let Some(rules) = &self.rules else { return Vec::new() };
        let is_product = |group: &usize| self.groups[*group].iter().any(|f| rules.is_product(*f));
        let products: Vec<usize> = groups.iter().copied().filter(is_product).collect();
        self.open(rules, selected, &products, Action::Add)
    }

    /// Whether a group may be removed from a subset, signs not considered.
    pub(crate) fn may_remove(&self, selected: &[Feature], group: usize) -> bool {
        self.rules.as_ref().is_none_or(|rules| rules.at(selected).may_remove(&self.groups[group]))
    }

    fn best_of(&self, subset: &mut SubsetScorer<'_>, groups: &[usize], action: Action) -> Result<Option<Move>> {
        match action {
            Action::Add => self.best_added(subset, groups),
            Action::Remove => self.best_removed(subset, groups),
        }
    }

    fn best_kept(&self, subset: &mut SubsetScorer<'_>, groups: &[usize], action: Action) -> Result<Option<Move>> {
        let Some(rules) = &self.rules else { return self.best_of(subset, groups, action) };
        let mut open = self.open(rules, subset.selected(), groups, action);
        while let Some(best) = self.best_of(subset, &open, action)? {
            if !rules.has_signs() {
                return Ok(Some(best));
            }
            let tied = best.tied.iter().filter_map(|&first| self.group_of(first));
            let equals: Vec<usize> = [best.group].into_iter().chain(tied).collect();
            if let Some(best) = self.first_kept(subset, &equals, best.score, action)? {
                return Ok(Some(best));
            }
            open.retain(|group| !equals.contains(group));
            // Duplicates are tried one by one, since a constraint may name only one of them.
            if action == Action::Add {
                return self.best_ranked_addition(subset, open);
            }
        }
        Ok(None)
    }

    /// Best of some groups to add that keeps the signs, each tried.
    fn best_ranked_addition(&self, subset: &mut SubsetScorer<'_>, groups: Vec<usize>) -> Result<Option<Move>> {
        let mut ranked = self.ranked(subset, groups)?;
        ranked.retain(|(score, _)| score.loss < f64::INFINITY);
        for equals in ranked.chunk_by(|(a, _), (b, _)| a.loss == b.loss) {
            let groups: Vec<usize> = equals.iter().map(|(_, group)| *group).collect();
            if let Some(best) = self.first_kept(subset, &groups, equals[0].0, Action::Add)? {
                return Ok(Some(best));
            }
        }
        Ok(None)
    }

    /// First of several groups with equal scores that keeps the signs, with the others that do as ties.
    fn first_kept(
        &self,
        subset: &mut SubsetScorer<'_>,
        equals: &[usize],
        score: Score,
        action: Action,
    ) -> Result<Option<Move>> {
        let mut kept = Vec::new();
        for &group in equals {
            if self.keeps_signs_with(subset, group, score, action)? {
                kept.push(group);
            }
        }
        kept.sort_unstable();
        let Some((&group, tied)) = kept.split_first() else { return Ok(None) };
        let tied = tied.iter().map(|&group| self.groups[group][0]).collect();
        Ok(Some(Move { group, score, tied }))
    }
}

impl Walk<'_, '_> {
    /// Stop reason if groups are left but none may be added or removed.
    pub fn none_left(&self) -> StopReason {
        if self.space.rules().is_some() { StopReason::Constraints } else { StopReason::NoCandidates }
    }

    /// Adds the forced groups in one step, since one alone may break a constraint that all together keep.
    pub(crate) fn enter_forced_together(&mut self) -> WalkResult {
        let forced = self.space.forced_features();
        self.context.subset.reset(&forced)?;
        let score = self.context.subset.score()?;
        let others = self.space.wrong_signs(&mut self.context.subset, &forced, score)?;
        self.context.subset.reset(&[])?;
        match others.first() {
            None => self.add_together(&self.space.forced.clone()),
            Some(_) if self.space.design.root().is_some() => Err(StopReason::Constraints.into()),
            Some(&other) => {
                let name = &self.space.design.names()[other];
                let message = format!(
                    "the weight of `{name}` among the forced columns has the other sign than `constraints.signs` asks"
                );
                Err(Error::setting("forced", message).into())
            }
        }
    }

    /// Removes the cheapest of the columns that break a constraint until the subset keeps all of them; without steps.
    pub(crate) fn repair(&mut self) -> WalkResult {
        let least = self.space.least.unwrap_or(1).max(1);
        while let Some(at_fault) = self.at_fault()? {
            let selected = self.context.subset.selected();
            let can = |group: &usize| {
                let own = self.space.groups[*group].len();
                self.inside[*group] && own + least <= selected.len() && self.space.may_remove(selected, *group)
            };
            let mut open: Vec<usize> = self.space.free().into_iter().filter(can).collect();
            let is_at_fault = |group: &usize| self.space.groups[*group].iter().any(|f| at_fault.contains(f));
            if open.iter().any(is_at_fault) {
                open.retain(is_at_fault);
            }
            let best = match open.is_empty() {
                true => None,
                false => self.space.best_removed(&mut self.context.subset, &open)?,
            };
            let best = best.ok_or(WalkEnd::Stop(StopReason::Constraints))?;
            let leaving = &self.space.groups[best.group];
            leaving.iter().try_for_each(|&feature| self.context.subset.remove(feature))?;
            self.inside[best.group] = false;
        }
        Ok(())
    }

    /// Columns involved in a broken constraint of the current subset; `None` if it keeps all constraints.
    fn at_fault(&mut self) -> Result<Option<Vec<Feature>>> {
        let selected = self.context.subset.selected().to_vec();
        let Some(rules) = self.space.rules() else { return Ok(None) };
        let at_fault = rules.at(&selected).at_fault();
        if !at_fault.is_empty() {
            return Ok(Some(at_fault));
        }
        if !rules.has_signs() {
            return Ok(None);
        }
        let score = self.context.subset.score()?;
        let others = self.space.wrong_signs(&mut self.context.subset, &selected, score)?;
        Ok(Some(others).filter(|others| !others.is_empty()))
    }
}

/// Columns of a subset whose weights have a wrong sign at the λ of its score; all columns if there are no weights.
/// Cost O(m·s²).
///
/// # Errors
/// [`Error::Setting`] if the score has no λ and the readout has several.
pub fn wrong_signs(rules: &Rules, design: &Design, features: &[Feature], score: Score) -> Result<Vec<Feature>> {
    if !features.iter().any(|f| rules.sign(*f).is_some()) {
        return Ok(Vec::new());
    }
    let weights = weights(design, features, score.lambda)?;
    Ok(weights.map_or_else(|| features.to_vec(), |weights| rules.wrong_signs(features, weights)))
}

/// Weights of the readout on all rows of a design, in the order of the subset; `None` without a readout.
fn weights(design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<Option<Vec<f64>>> {
    let Some(readout) = design.readout() else { return Ok(None) };
    let lambda = match (lambda, &readout.lambdas[..]) {
        (Some(lambda), _) => lambda,
        (None, [only]) => *only,
        _ => {
            let message =
                "the criterion takes no lambda, by which weights would have their signs; give the learner a single one";
            return Err(Error::setting("constraints.signs", message));
        }
    };
    let scaled = design.in_units().map(|(units, scaled)| (scaled, units.lambda(lambda)));
    let (of, lambda) = scaled.unwrap_or((design, lambda));
    let columns: Vec<Column<'_>> = subset.iter().map(|&feature| of.column(feature)).collect();
    let weights = of.training_weights(&(0..of.rows()).collect::<Vec<usize>>());
    let ridge = Ridge::from_columns(&columns, of.targets(), weights.as_deref(), readout.intercept);
    let solved = ridge.and_then(|ridge| ridge.coefficients(lambda)).ok();
    Ok(solved.map(|(weights, _)| weights.column(0).to_vec()))
}
