//! Trials of groups: the scores of a subset with a group added or removed.

use crate::SubsetScorer;
use crate::space::Space;
use vaglio_core::{Action, Feature, Result, Score, Winner};

/// Groups with their scores, best first; ties by first feature.
pub(crate) fn rank(scores: Vec<Score>, groups: Vec<Feature>) -> Vec<(Score, Feature)> {
    let mut ranked: Vec<(Score, Feature)> = scores.into_iter().zip(groups).collect();
    ranked.sort_by(|(a, x), (b, y)| a.loss.total_cmp(&b.loss).then(x.cmp(y)));
    ranked
}

/// Trials leave the subset unchanged. Single features cost one trial of the evaluator, blocks one addition per feature.
/// Among duplicates only the first is removed: removing another leaves equal columns in another order, whose score
/// differs only by rounding.
impl Space<'_> {
    /// The features of a subset after adding or removing a group.
    pub(crate) fn after(&self, subset: &[Feature], change: Action, group: Feature) -> Vec<Feature> {
        let mut after = subset.to_vec();
        change.follow(self.group(group), &mut after);
        after
    }

    /// Scores of the subset with each of the groups added or removed, in their order, constraints not considered.
    pub(crate) fn trials(
        &self,
        subset: &mut SubsetScorer<'_>,
        change: Action,
        groups: &[Feature],
    ) -> Result<Vec<Score>> {
        let (alone, blocks) = self.distinct(change, groups);
        let mut found = if alone.is_empty() { Vec::new() } else { subset.scores(change, &alone)? };
        found.extend(self.block_trials(subset, change, &blocks)?);
        // Zeros are allocated without a pass over all features, so that a single trial costs none.
        let mut places = vec![0; self.design.features()];
        for (place, &group) in alone.iter().chain(&blocks).enumerate() {
            places[self.tried_as(change, group)] = place;
        }
        Ok(groups.iter().map(|&group| found[places[self.tried_as(change, group)]]).collect())
    }

    /// The group whose trial counts for a group: the first of duplicates if they are removed.
    fn tried_as(&self, change: Action, group: Feature) -> Feature {
        if change == Action::Remove { self.originals()[group] } else { group }
    }

    /// Single features and blocks among groups, without duplicates of earlier ones if they are removed.
    fn distinct(&self, change: Action, groups: &[Feature]) -> (Vec<Feature>, Vec<Feature>) {
        let mut seen = vec![false; self.design.features()];
        let is_first = |group: &Feature| !std::mem::replace(&mut seen[self.tried_as(change, *group)], true);
        groups.iter().copied().filter(is_first).partition(|&group| self.group(group).len() == 1)
    }

    /// Best of the groups to add or remove, constraints not considered.
    pub(crate) fn best_trial(
        &self,
        subset: &mut SubsetScorer<'_>,
        change: Action,
        groups: &[Feature],
    ) -> Result<Option<Winner>> {
        let (alone, blocks) = self.distinct(change, groups);
        let winner = if alone.is_empty() { None } else { subset.best(change, &alone)? };
        let (mut firsts, mut scores) = (Vec::new(), Vec::new());
        if let Some(Winner { feature, score, tied }) = winner {
            scores.resize(1 + tied.len(), score);
            firsts.push(feature);
            firsts.extend(tied);
        }
        firsts.extend(&blocks);
        scores.extend(self.block_trials(subset, change, &blocks)?);
        let Some(Winner { feature, score, mut tied }) = Winner::among(&firsts, &scores) else { return Ok(None) };
        if self.group(feature).is_empty() {
            return Ok(None);
        }
        if change == Action::Remove {
            let originals = self.originals();
            let winners: Vec<_> = tied.iter().chain([&feature]).filter_map(|&group| originals.get(group)).collect();
            let is_tied = |other: &Feature| winners.contains(&&originals[*other]) && *other != feature;
            tied = groups.iter().copied().filter(is_tied).collect();
        }
        Ok(Some(Winner { feature, score, tied }))
    }

    fn block_trials(&self, subset: &mut SubsetScorer<'_>, change: Action, blocks: &[Feature]) -> Result<Vec<Score>> {
        if change == Action::Add {
            return blocks.iter().map(|&block| subset.score_with(self.group(block))).collect();
        }
        let before = subset.selected().to_vec();
        let score = |&block: &Feature| subset.score_at(&self.after(&before, change, block));
        let scores = blocks.iter().map(score).collect::<Result<_>>()?;
        if !blocks.is_empty() {
            subset.reset(&before)?;
        }
        Ok(scores)
    }
}
