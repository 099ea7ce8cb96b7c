//! Walk from subset to subset: its steps, and the best subset seen of each size.

use crate::settings::SearchSettings;
use crate::space::Space;
use crate::{PathEntry, SearchContext, Step};
use vaglio_core::{Action, Error, Feature, Result, Score, StopReason, Winner};

/// Turns a stop of [`Walk::best_addition`] or [`Walk::best_removal`] into `None`.
///
/// # Errors
/// Any other error, and a stop of the whole run.
pub fn if_any(tried: Result<Winner>) -> Result<Option<Winner>> {
    match tried {
        Err(Error::Stopped(reason)) if !reason.is_partial() => Ok(None),
        tried => tried.map(Some),
    }
}

/// Walk so far, at the context's subset.
///
/// Each change of the subset is recorded as a step and shown to the observer, who may end the walk.
pub struct Walk<'w, 'c> {
    /// Subsets that the walk may visit.
    pub space: &'w Space<'w>,
    /// Context with the current subset. Code that changes the subset itself reports that by [`Walk::step`].
    pub context: &'w mut SearchContext<'c>,
    /// Whether the walk began at the empty subset rather than at all groups.
    pub(crate) began_empty: bool,
    /// Score of the current subset.
    pub score: Score,
    /// Score of the empty subset.
    pub empty: Score,
    /// Steps so far.
    pub steps: Vec<Step>,
    /// Best subset seen of each size, in increasing size.
    pub entries: Vec<PathEntry>,
    /// Number of consecutive steps that did not lower the score by the `tolerance`.
    pub(crate) misses: usize,
}

impl<'w, 'c> Walk<'w, 'c> {
    /// Starts at the context's subset, which is empty.
    pub(crate) fn new(space: &'w Space<'w>, context: &'w mut SearchContext<'c>) -> Result<Self> {
        space.check_choice(&mut context.subset)?;
        let empty = context.subset.score()?;
        let (steps, entries) = (Vec::new(), Vec::new());
        Ok(Walk { space, context, began_empty: true, score: empty, empty, steps, entries, misses: 0 })
    }

    /// The current subset, in order of entry.
    pub fn selected(&self) -> &[Feature] {
        self.context.subset.selected()
    }

    /// Number of features in the current subset.
    pub fn size(&self) -> usize {
        self.selected().len()
    }

    /// Whether the current subset has at least `min_features`.
    pub fn has_least(&self) -> bool {
        self.size() >= self.space.least.unwrap_or(0)
    }

    /// Loss of the empty subset; +∞ if it does not [compare](vaglio_core::CriterionTraits::compares_with_empty) with others.
    pub(crate) fn comparable_empty(&self) -> f64 {
        if self.context.subset.criterion.traits().compares_with_empty { self.empty.loss } else { f64::INFINITY }
    }

    /// Lowest loss so far. The empty subset counts if it [compares](vaglio_core::CriterionTraits::compares_with_empty) with
    /// others.
    pub fn lowest(&self) -> f64 {
        self.entries.iter().map(|entry| entry.score.loss).fold(self.comparable_empty(), f64::min)
    }

    /// Allows a step to a score, by the settings `tolerance` and `patience`: too many steps in a row that do not lower
    /// the lowest loss enough end the walk, from `min_features` on.
    ///
    /// # Errors
    /// See [`Walk::allow_drop`].
    pub fn allow(&mut self, score: Score) -> Result<(), StopReason> {
        self.allow_drop(self.lowest() - score.loss, self.has_least())
    }

    /// Allows a step that lowers the score by `drop`. A step that does not lower it enough is a miss, unless `counts` is
    /// false.
    ///
    /// # Errors
    /// [`StopReason::Tolerance`] or [`StopReason::Patience`] if there are too many misses in a row.
    pub fn allow_drop(&mut self, drop: f64, counts: bool) -> Result<(), StopReason> {
        let SearchSettings { tolerance, patience, .. } = self.space.settings;
        let stops = tolerance.is_some() || patience.is_some();
        let reached = tolerance.map_or(drop > 0.0, |tolerance| drop >= tolerance);
        if !stops || reached || !counts {
            self.misses = 0;
            return Ok(());
        }
        self.misses += 1;
        let reason = if patience.is_some() { StopReason::Patience } else { StopReason::Tolerance };
        if self.misses > patience.unwrap_or(0) { Err(reason) } else { Ok(()) }
    }

    /// Goes to all groups without a step; under constraints, to the first subset below that keeps them.
    ///
    /// # Errors
    /// [`Error::Stopped`] if no subset keeps the constraints.
    pub fn fill(&mut self) -> Result<()> {
        let mut all: Vec<Feature> = self.space.groups().concat();
        all.sort_unstable();
        self.context.subset.reset(&all)?;
        self.began_empty = false;
        self.repair()?;
        self.score = self.context.subset.score()?;
        self.record(self.score)
    }

    /// Adds the forced groups.
    ///
    /// # Errors
    /// See [`Walk::step`].
    pub fn enter_forced(&mut self) -> Result<()> {
        if self.space.rules().is_some() && !self.space.forced.is_empty() {
            return self.enter_forced_together();
        }
        for &group in &self.space.forced {
            let score = self.addition(group)?;
            self.add(Winner { feature: group, score, tied: Vec::new() })?;
        }
        Ok(())
    }

    /// Whether a group is in the current subset.
    pub fn has(&self, group: Feature) -> bool {
        self.selected().contains(&group)
    }

    /// Groups outside the current subset, in order.
    pub fn outside(&self) -> Vec<Feature> {
        self.space.members(self.selected(), false)
    }

    /// Whether the current subset with the group added has at most `max_features`.
    pub fn has_room(&self, group: Feature) -> bool {
        self.size() + self.space.group(group).len() <= self.space.most
    }

    /// Score of the current subset with a group added.
    pub fn addition(&mut self, group: Feature) -> Result<Score> {
        Ok(self.space.score_additions(&mut self.context.subset, &[group])?[0])
    }

    /// Groups that can be added within `max_features` and the constraints, signs not considered, in order.
    ///
    /// # Errors
    /// The stop reason if there is none.
    pub fn fitting(&self) -> Result<Vec<Feature>, StopReason> {
        let outside = self.outside();
        let fitting: Vec<Feature> = outside.iter().copied().filter(|&group| self.has_room(group)).collect();
        let has_room = !fitting.is_empty();
        let fitting = self.space.open(self.selected(), Action::Add, &fitting);
        match fitting.is_empty() {
            false => Ok(fitting),
            true if has_room => Err(StopReason::Constraints),
            true if outside.is_empty() && self.size() < self.space.most => Err(StopReason::NoCandidates),
            true => Err(StopReason::MaxFeatures),
        }
    }

    /// Best group to add within `max_features`.
    ///
    /// # Errors
    /// [`Error::Stopped`] with the reason if there is none.
    pub fn best_addition(&mut self) -> Result<Winner> {
        let fitting = self.fitting()?;
        let best = self.best_change(Action::Add, &fitting)?;
        Ok(best.ok_or_else(|| self.none_left())?)
    }

    /// Best group to remove that is not forced and leaves at least `least` features.
    ///
    /// # Errors
    /// [`Error::Stopped`] with the reason if there is none.
    pub fn best_removal(&mut self, least: usize) -> Result<Winner> {
        let removable = self.removable(least);
        if removable.is_empty() {
            return Err(StopReason::MinFeatures.into());
        }
        let best = self.best_change(Action::Remove, &removable)?;
        Ok(best.ok_or_else(|| self.none_left())?)
    }

    /// Best of the groups to add or remove, with its ties; `None` if all score +∞. Of duplicates only the first is removed.
    pub fn best_change(&mut self, change: Action, groups: &[Feature]) -> Result<Option<Winner>> {
        self.space.best_change(&mut self.context.subset, change, groups)
    }

    /// Groups of the current subset that are not forced and leave at least `least` features.
    pub(crate) fn removable(&self, least: usize) -> Vec<Feature> {
        let is_free = |group: &Feature| !self.space.forced.contains(group);
        let can = |group: &Feature| is_free(group) && self.space.group(*group).len() + least <= self.size();
        self.space.members(self.selected(), true).into_iter().filter(can).collect()
    }

    /// Reason that no group of an order is left to add; `is_full` if one had no room.
    pub(crate) fn end_of_order(&self, is_full: bool) -> StopReason {
        if is_full || self.size() >= self.space.most { StopReason::MaxFeatures } else { self.none_left() }
    }

    /// Adds a group.
    ///
    /// # Errors
    /// See [`Walk::step`].
    pub fn add(&mut self, chosen: Winner) -> Result<()> {
        self.change(Action::Add, chosen)
    }

    /// Removes a group.
    ///
    /// # Errors
    /// See [`Walk::step`].
    pub fn remove(&mut self, chosen: Winner) -> Result<()> {
        self.change(Action::Remove, chosen)
    }

    fn change(&mut self, change: Action, chosen: Winner) -> Result<()> {
        let features = self.space.group(chosen.feature);
        self.context.subset.apply_all(change, features)?;
        self.record_moves(change, features, chosen.score, chosen.tied)
    }

    /// Goes to the subset `selected` of whole groups in at most two steps: removes the other features, then adds the
    /// missing ones. If the common part breaks a constraint, the first step removes all but the forced features.
    ///
    /// # Errors
    /// See [`Walk::step`].
    pub fn go_to(&mut self, selected: &[Feature], score: Score) -> Result<()> {
        let without = |all: &[Feature], others: &[Feature]| {
            let mut left: Vec<Feature> = all.iter().copied().filter(|f| !others.contains(f)).collect();
            left.sort_unstable();
            left
        };
        let from = self.selected().to_vec();
        let mut subset: Vec<Feature> = from.iter().copied().filter(|f| selected.contains(f)).collect();
        if self.space.rules().is_some() && subset.len() < from.len().min(selected.len()) {
            let score = self.context.subset.try_subset(&subset)?;
            if !self.space.allows(&subset, score)? {
                subset = self.space.forced_features();
            }
        }
        let (leaving, entering) = (without(&from, &subset), without(selected, &subset));
        self.move_together(Action::Remove, &leaving, entering.is_empty().then_some(score))?;
        self.move_together(Action::Add, &entering, Some(score))
    }

    /// Adds or removes features in one step, given in increasing order; scores the result unless its score is known.
    pub(crate) fn move_together(&mut self, action: Action, features: &[Feature], score: Option<Score>) -> Result<()> {
        if features.is_empty() {
            return Ok(());
        }
        let mut subset = self.selected().to_vec();
        action.follow(features, &mut subset);
        self.context.subset.reset(&subset)?;
        let score = score.map_or_else(|| self.context.subset.score(), Ok)?;
        self.record_moves(action, features, score, Vec::new())
    }

    /// Adds several groups in one step.
    pub(crate) fn add_together(&mut self, groups: &[Feature]) -> Result<()> {
        let mut entering = self.space.features_of(groups);
        entering.sort_unstable();
        self.move_together(Action::Add, &entering, None)
    }

    /// Reports features that were added or removed, in increasing order.
    pub(crate) fn record_moves(
        &mut self,
        action: Action,
        features: &[Feature],
        score: Score,
        tied: Vec<Feature>,
    ) -> Result<()> {
        let Some((&feature, with)) = features.split_first() else { return Ok(()) };
        self.step(Step { with: with.to_vec(), tied, ..Step::new(action, feature, score, 0) })
    }

    /// Records and shows a step that was made on the context's subset; the size is filled in.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the observer ends the search; errors of the criterion.
    pub fn step(&mut self, mut step: Step) -> Result<()> {
        step.size = self.size();
        self.score = step.score;
        self.record(step.score)?;
        let stop = self.context.observe(&step);
        self.steps.push(step);
        stop.map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Records the current subset if it is the best seen of its size.
    pub(crate) fn record(&mut self, score: Score) -> Result<()> {
        let size = self.size();
        if size == 0 {
            return Ok(());
        }
        let place = self.entries.binary_search_by_key(&size, |entry| entry.subset.len());
        if place.is_ok_and(|at| self.entries[at].score.loss <= score.loss) {
            return Ok(());
        }
        let entry = self.context.subset.entry(score)?;
        match place {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
        Ok(())
    }
}
