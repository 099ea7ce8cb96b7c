//! Trials of groups: the scores of a subset with a group added or removed.

use crate::SubsetScorer;
use crate::space::Space;
use vaglio_core::{Action, Feature, Result, Score, Winner};

/// Addition or removal of a group, with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Index of the group in [`Space::groups`].
    pub group: usize,
    /// Score of the subset after the move.
    pub score: Score,
    /// First features of other groups that give the same score.
    pub tied: Vec<Feature>,
}

/// Trials leave the subset unchanged. Single features cost one trial of the evaluator, blocks one addition per feature.
/// Among duplicates only the first is removed: removing another leaves equal columns in another order, whose score
/// differs only by rounding.
impl Space<'_> {
    /// The features of a subset after adding or removing a group.
    pub(crate) fn after(&self, subset: &[Feature], change: Action, group: usize) -> Vec<Feature> {
        let mut after = subset.to_vec();
        change.follow(&self.groups[group], &mut after);
        after
    }

    /// Scores of the subset with each of the groups added or removed, in their order, constraints not considered.
    ///
    /// # Errors
    /// See [`SubsetScorer::score`].
    pub(crate) fn trials(&self, subset: &mut SubsetScorer<'_>, change: Action, groups: &[usize]) -> Result<Vec<Score>> {
        let distinct = self.distinct(change, groups);
        let (alone, blocks) = self.split_blocks(&distinct);
        let alone = if alone.is_empty() { Vec::new() } else { subset.scores(change, &alone)? };
        let (mut alone, mut blocks) = (alone.into_iter(), self.block_trials(subset, change, &blocks)?.into_iter());
        let mut scores = vec![Score::WORST; self.groups.len()];
        for group in distinct {
            let next = if self.groups[group].len() == 1 { alone.next() } else { blocks.next() };
            scores[self.tried_as(change, group)] = next.unwrap_or(Score::WORST);
        }
        Ok(groups.iter().map(|&group| scores[self.tried_as(change, group)]).collect())
    }

    /// Groups with the scores of their additions, best first; ties by first feature.
    pub(crate) fn ranked(&self, subset: &mut SubsetScorer<'_>, groups: Vec<usize>) -> Result<Vec<(Score, usize)>> {
        let scores = self.trials(subset, Action::Add, &groups)?;
        let mut ranked: Vec<(Score, usize)> = scores.into_iter().zip(groups).collect();
        ranked.sort_by(|(a, x), (b, y)| a.loss.total_cmp(&b.loss).then(x.cmp(y)));
        Ok(ranked)
    }

    /// The group whose trial counts for a group: the first of duplicates if they are removed.
    fn tried_as(&self, change: Action, group: usize) -> usize {
        if change == Action::Remove { self.originals()[group] } else { group }
    }

    /// Groups without duplicates of earlier ones if they are removed.
    fn distinct(&self, change: Action, groups: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.groups.len()];
        let is_first = |group: &usize| !std::mem::replace(&mut seen[self.tried_as(change, *group)], true);
        groups.iter().copied().filter(is_first).collect()
    }

    /// Best of the groups to add or remove, constraints not considered.
    pub(crate) fn best_trial(
        &self,
        subset: &mut SubsetScorer<'_>,
        change: Action,
        groups: &[usize],
    ) -> Result<Option<Move>> {
        let (alone, blocks) = self.split_blocks(&self.distinct(change, groups));
        let winner = if alone.is_empty() { None } else { subset.best(change, &alone)? };
        let scores = self.block_trials(subset, change, &blocks)?;
        let best = self.best(winner, &blocks, &scores);
        Ok(best.map(|mut best| {
            if change == Action::Remove {
                let winners = best.tied.iter().filter_map(|&f| self.group_of(f)).chain([best.group]);
                let winners: Vec<usize> = winners.map(|group| self.originals()[group]).collect();
                let is_tied = |group: &usize| winners.contains(&self.originals()[*group]) && *group != best.group;
                best.tied = groups.iter().filter(|group| is_tied(group)).map(|&group| self.groups[group][0]).collect();
            }
            best
        }))
    }

    /// Splits groups into single features and blocks.
    fn split_blocks(&self, groups: &[usize]) -> (Vec<Feature>, Vec<usize>) {
        let (alone, blocks): (Vec<usize>, Vec<usize>) =
            groups.iter().partition(|&&group| self.groups[group].len() == 1);
        (alone.into_iter().map(|group| self.groups[group][0]).collect(), blocks)
    }

    /// Best of the single features and blocks.
    fn best(&self, alone: Option<Winner>, blocks: &[usize], block_scores: &[Score]) -> Option<Move> {
        let (mut firsts, mut scores) = (Vec::new(), Vec::new());
        if let Some(Winner { feature, score, tied }) = alone {
            scores.resize(1 + tied.len(), score);
            firsts.push(feature);
            firsts.extend(tied);
        }
        firsts.extend(blocks.iter().map(|&block| self.groups[block][0]));
        scores.extend(block_scores);
        let Winner { feature, score, tied } = Winner::among(&firsts, &scores)?;
        Some(Move { group: self.group_of(feature)?, score, tied })
    }

    fn block_trials(&self, subset: &mut SubsetScorer<'_>, change: Action, blocks: &[usize]) -> Result<Vec<Score>> {
        if change == Action::Add {
            return blocks.iter().map(|&block| subset.score_with(&self.groups[block])).collect();
        }
        let before = subset.selected().to_vec();
        let mut scores = Vec::with_capacity(blocks.len());
        for &block in blocks {
            subset.reset(&self.after(&before, change, block))?;
            scores.push(subset.score()?);
        }
        if !blocks.is_empty() {
            subset.reset(&before)?;
        }
        Ok(scores)
    }
}
