//! What a search walks in: columns and blocks as units, with the limits of the walk, and the trials of units.

use super::copies;
use super::settings::Polish;
use std::cell::OnceCell;
use vaglio_core::{Branch, Choose, Design, Feature, Result, Score, Subset, Winner};

/// What the settings of a search say about a design.
pub(super) struct Frame {
    /// The columns that may be selected, as they move: alone, or as a block; each in increasing order, by first column.
    pub units: Vec<Vec<Feature>>,
    /// The units that enter first and never leave, in order.
    pub forced: Vec<usize>,
    /// How many columns the units have.
    pub columns: usize,
    /// The largest subset.
    pub most: usize,
    /// The smallest subset that may be the result, if set; at most `columns`.
    pub least: Option<usize>,
    pub tolerance: Option<f64>,
    pub patience: Option<usize>,
    pub choose: Choose,
    pub polish: Polish,
    /// For each unit the first that is equal to it, once that was asked.
    pub originals: OnceCell<Vec<usize>>,
}

/// A unit that enters or leaves, and what comes of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Move {
    pub unit: usize,
    pub score: Score,
    /// The first columns of other units that give the same score.
    pub tied: Vec<Feature>,
}

impl Frame {
    /// The largest subset that there is within the limits.
    pub fn largest(&self) -> usize {
        self.most.min(self.columns)
    }

    /// How many columns are forced.
    pub fn forced_columns(&self) -> usize {
        self.forced.iter().map(|&unit| self.units[unit].len()).sum()
    }

    /// The units that are not forced.
    pub fn free(&self) -> Vec<usize> {
        (0..self.units.len()).filter(|unit| !self.forced.contains(unit)).collect()
    }

    fn first(&self, unit: usize) -> Feature {
        self.units[unit][0]
    }

    /// The score of the current subset with a unit added.
    pub fn addition(&self, evaluator: &mut Subset<'_>, unit: usize) -> Result<Score> {
        let columns = &self.units[unit][..];
        match *columns {
            [single] => {
                let mut score = [Score::WORST];
                evaluator.score_additions(&[single], &mut score)?;
                Ok(score[0])
            }
            _ => Ok(blocks_added(evaluator, &[columns])?[0]),
        }
    }

    /// The best unit to add among `open`, ties to the lowest first column; `None` when there is none below +∞.
    pub fn best_addition(&self, evaluator: &mut Subset<'_>, open: &[usize]) -> Result<Option<Move>> {
        let (alone, blocks) = self.apart(open);
        let winner = if alone.is_empty() { None } else { evaluator.best_addition(&alone)? };
        let scores = blocks_added(evaluator, &self.columns_of(&blocks))?;
        Ok(self.with_blocks(winner, &blocks, &scores))
    }

    /// For each unit the first one that is equal to it.
    pub fn originals(&self, design: &Design) -> &[usize] {
        self.originals.get_or_init(|| copies::originals(&self.units, design))
    }

    /// The best unit to remove among `inside`, likewise.
    ///
    /// Of copies the first alone is tried: what is left by them is equal but stands in another order, so that scores
    /// would differ by rounding.
    pub fn best_removal(&self, evaluator: &mut Subset<'_>, design: &Design, inside: &[usize]) -> Result<Option<Move>> {
        let originals = self.originals(design);
        let mut first = vec![None; self.units.len()];
        let tried = |unit: &usize| *first[originals[*unit]].get_or_insert(*unit) == *unit;
        let distinct: Vec<usize> = inside.iter().copied().filter(tried).collect();
        let (alone, blocks) = self.apart(&distinct);
        let winner = if alone.is_empty() { None } else { evaluator.best_removal(&alone)? };
        let scores = blocks_removed(evaluator, &self.columns_of(&blocks))?;
        let best = self.with_blocks(winner, &blocks, &scores);
        Ok(best.map(|mut best| {
            let winners: Vec<usize> = best.tied.iter().map(|&f| self.unit_of(f)).chain([best.unit]).collect();
            let tie = |unit: &usize| winners.iter().any(|&w| originals[w] == originals[*unit]) && *unit != best.unit;
            best.tied = inside.iter().filter(|unit| tie(unit)).map(|&unit| self.first(unit)).collect();
            best
        }))
    }

    /// Single columns, and the units of several.
    fn apart(&self, units: &[usize]) -> (Vec<Feature>, Vec<usize>) {
        let (alone, blocks): (Vec<usize>, Vec<usize>) = units.iter().partition(|&&unit| self.units[unit].len() == 1);
        (alone.into_iter().map(|unit| self.first(unit)).collect(), blocks)
    }

    fn columns_of(&self, units: &[usize]) -> Vec<&[Feature]> {
        units.iter().map(|&unit| &self.units[unit][..]).collect()
    }

    /// The best of single columns and blocks together.
    fn with_blocks(&self, alone: Option<Winner>, blocks: &[usize], block_scores: &[Score]) -> Option<Move> {
        let (mut firsts, mut scores) = (Vec::new(), Vec::new());
        if let Some(Winner { feature, score, tied }) = alone {
            scores.resize(1 + tied.len(), score);
            firsts.push(feature);
            firsts.extend(tied);
        }
        firsts.extend(blocks.iter().map(|&block| self.first(block)));
        scores.extend(block_scores);
        let Winner { feature, score, tied } = Winner::among(&firsts, &scores)?;
        Some(Move { unit: self.unit_of(feature), score, tied })
    }

    /// The unit with that first column.
    fn unit_of(&self, first: Feature) -> usize {
        self.units.partition_point(|unit| unit[0] < first)
    }
}

/// The scores of the current subset with each block added, its columns in turn.
pub(super) fn blocks_added(subset: &mut Subset<'_>, blocks: &[&[Feature]]) -> Result<Vec<Score>> {
    if blocks.is_empty() {
        return Ok(Vec::new());
    }
    let before = subset.selected().to_vec();
    let added = |block: &&[Feature]| below(&mut *subset.tree(block)?, block.len());
    let scores = blocks.iter().map(added).collect::<Result<_>>()?;
    subset.reset(&before)?;
    Ok(scores)
}

/// The score with the first `count` later columns of a node added in turn.
pub(super) fn below(node: &mut dyn Branch, count: usize) -> Result<Score> {
    if count == 0 { node.score() } else { below(&mut *node.child(0)?, count - 1) }
}

/// The scores of the current subset with each block removed.
fn blocks_removed(subset: &mut Subset<'_>, blocks: &[&[Feature]]) -> Result<Vec<Score>> {
    if blocks.is_empty() {
        return Ok(Vec::new());
    }
    let before = subset.selected().to_vec();
    let mut scores = Vec::with_capacity(blocks.len());
    for block in blocks {
        let rest: Vec<Feature> = before.iter().copied().filter(|f| !block.contains(f)).collect();
        subset.reset(&rest)?;
        scores.push(subset.score()?);
    }
    subset.reset(&before)?;
    Ok(scores)
}
