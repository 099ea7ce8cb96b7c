//! Trials of groups: the scores of a subset with a group added or removed.

use crate::SubsetScorer;
use crate::space::Space;
use vaglio_core::{Feature, Result, Score, Winner};

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
impl Space<'_> {
    /// Scores of the subset with each of the groups added, in their order, constraints not considered.
    ///
    /// # Errors
    /// See [`SubsetScorer::score`].
    pub(crate) fn trials(&self, subset: &mut SubsetScorer<'_>, groups: &[usize]) -> Result<Vec<Score>> {
        let (alone, blocks) = self.split_blocks(groups);
        let mut alone_scores = vec![Score::WORST; alone.len()];
        if !alone.is_empty() {
            subset.score_additions(&alone, &mut alone_scores)?;
        }
        let block_scores = self.blocks_added(subset, &blocks)?;
        let (mut alone, mut blocks) = (alone_scores.into_iter(), block_scores.into_iter());
        let next = |&group: &usize| if self.groups[group].len() == 1 { alone.next() } else { blocks.next() };
        Ok(groups.iter().filter_map(next).collect())
    }

    /// Groups with the scores of their trials, best first; ties by first feature.
    pub(crate) fn ranked(&self, subset: &mut SubsetScorer<'_>, groups: Vec<usize>) -> Result<Vec<(Score, usize)>> {
        let mut ranked: Vec<(Score, usize)> = self.trials(subset, &groups)?.into_iter().zip(groups).collect();
        ranked.sort_by(|(a, x), (b, y)| a.loss.total_cmp(&b.loss).then(x.cmp(y)));
        Ok(ranked)
    }

    /// Scores of the subset with each of the groups removed, in their order. Duplicates get the score of the first.
    ///
    /// # Errors
    /// See [`SubsetScorer::score`].
    pub(crate) fn score_removals(&self, subset: &mut SubsetScorer<'_>, groups: &[usize]) -> Result<Vec<Score>> {
        let (distinct, first) = self.distinct(groups);
        let (alone, blocks) = self.split_blocks(&distinct);
        let mut alone_scores = vec![Score::WORST; alone.len()];
        if !alone.is_empty() {
            subset.score_removals(&alone, &mut alone_scores)?;
        }
        let block_scores = self.blocks_removed(subset, &blocks)?;
        let mut scores = vec![Score::WORST; self.groups.len()];
        let (mut alone, mut blocks) = (alone_scores.into_iter(), block_scores.into_iter());
        for group in distinct {
            let next = if self.groups[group].len() == 1 { alone.next() } else { blocks.next() };
            scores[group] = next.unwrap_or(Score::WORST);
        }
        let score = |&group: &usize| first[self.originals()[group]].map_or(Score::WORST, |tried| scores[tried]);
        Ok(groups.iter().map(score).collect())
    }

    /// Removes groups that duplicate an earlier one; returns also, for each original, the group that is tried.
    fn distinct(&self, groups: &[usize]) -> (Vec<usize>, Vec<Option<usize>>) {
        let originals = self.originals();
        let mut first = vec![None; self.groups.len()];
        let tried = |group: &usize| *first[originals[*group]].get_or_insert(*group) == *group;
        let distinct = groups.iter().copied().filter(tried).collect();
        (distinct, first)
    }

    /// Best of the groups to add, constraints not considered.
    pub(crate) fn best_added(&self, subset: &mut SubsetScorer<'_>, groups: &[usize]) -> Result<Option<Move>> {
        let (alone, blocks) = self.split_blocks(groups);
        let winner = if alone.is_empty() { None } else { subset.best_addition(&alone)? };
        let scores = self.blocks_added(subset, &blocks)?;
        Ok(self.best(winner, &blocks, &scores))
    }

    /// Best of the groups to remove, constraints not considered; among duplicates only the first is tried.
    pub(crate) fn best_removed(&self, subset: &mut SubsetScorer<'_>, groups: &[usize]) -> Result<Option<Move>> {
        let originals = self.originals();
        let (distinct, _) = self.distinct(groups);
        let (alone, blocks) = self.split_blocks(&distinct);
        let winner = if alone.is_empty() { None } else { subset.best_removal(&alone)? };
        let scores = self.blocks_removed(subset, &blocks)?;
        Ok(self.best(winner, &blocks, &scores).map(|mut best| {
            let winners = best.tied.iter().filter_map(|&f| self.group_of(f)).chain([best.group]);
            let winners: Vec<usize> = winners.map(|group| originals[group]).collect();
            let ties = groups.iter().filter(|group| winners.contains(&originals[**group]) && **group != best.group);
            best.tied = ties.map(|&group| self.groups[group][0]).collect();
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

    fn blocks_added(&self, subset: &mut SubsetScorer<'_>, blocks: &[usize]) -> Result<Vec<Score>> {
        blocks.iter().map(|&block| subset.score_with(&self.groups[block])).collect()
    }

    fn blocks_removed(&self, subset: &mut SubsetScorer<'_>, blocks: &[usize]) -> Result<Vec<Score>> {
        let before = subset.selected().to_vec();
        let mut scores = Vec::with_capacity(blocks.len());
        for block in blocks.iter().map(|&block| &self.groups[block]) {
            let rest: Vec<Feature> = before.iter().copied().filter(|f| !block.contains(f)).collect();
            subset.reset(&rest)?;
            scores.push(subset.score()?);
        }
        if !blocks.is_empty() {
            subset.reset(&before)?;
        }
        Ok(scores)
    }
}
