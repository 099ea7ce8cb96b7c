//! What a search walks in: columns and blocks as units, with the limits of the walk, and the trials of units.

use super::settings::Polish;
use vaglio_core::{Choose, Evaluator, Feature, Result, Score, Winner};

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
    pub fn addition(&self, evaluator: &mut dyn Evaluator, unit: usize) -> Result<Score> {
        added(evaluator, &self.units[unit])
    }

    /// The best unit to add among `open`, ties to the lowest first column; `None` when there is none below +∞.
    pub fn best_addition(&self, evaluator: &mut dyn Evaluator, open: &[usize]) -> Result<Option<Move>> {
        let (alone, blocks) = self.apart(open);
        let winner = evaluator.best_addition(&alone)?;
        self.with_blocks(winner, &blocks, |block| added(evaluator, block))
    }

    /// The best unit to remove among `inside`, likewise.
    pub fn best_removal(&self, evaluator: &mut dyn Evaluator, inside: &[usize]) -> Result<Option<Move>> {
        let (alone, blocks) = self.apart(inside);
        let mut scores = vec![Score::WORST; alone.len()];
        if !alone.is_empty() {
            evaluator.score_removals(&alone, &mut scores)?;
        }
        self.with_blocks(Winner::among(&alone, &scores), &blocks, |block| removed(evaluator, block))
    }

    /// Single columns, and the units of several.
    fn apart(&self, units: &[usize]) -> (Vec<Feature>, Vec<usize>) {
        let (alone, blocks): (Vec<usize>, Vec<usize>) = units.iter().partition(|&&unit| self.units[unit].len() == 1);
        (alone.into_iter().map(|unit| self.first(unit)).collect(), blocks)
    }

    /// The best of single columns and blocks together.
    fn with_blocks(
        &self,
        alone: Option<Winner>,
        blocks: &[usize],
        mut trial: impl FnMut(&[Feature]) -> Result<Score>,
    ) -> Result<Option<Move>> {
        let (mut firsts, mut scores) = (Vec::new(), Vec::new());
        if let Some(Winner { feature, score, tied }) = alone {
            scores.resize(1 + tied.len(), score);
            firsts.push(feature);
            firsts.extend(tied);
        }
        for &block in blocks {
            firsts.push(self.first(block));
            scores.push(trial(&self.units[block])?);
        }
        let Some(Winner { feature, score, tied }) = Winner::among(&firsts, &scores) else { return Ok(None) };
        let unit = self.units.partition_point(|unit| unit[0] < feature);
        Ok(Some(Move { unit, score, tied }))
    }
}

/// The score of the current subset with columns added in turn.
///
/// By branches where the evaluator has them, else by adding and going back.
pub(super) fn added(evaluator: &mut dyn Evaluator, columns: &[Feature]) -> Result<Score> {
    let Some((&last, others)) = columns.split_last() else { return evaluator.score() };
    let mut score = [Score::WORST];
    if others.is_empty() {
        evaluator.score_additions(&[last], &mut score)?;
        return Ok(score[0]);
    }
    if let Some(mut child) = evaluator.branch(columns[0], &columns[1..])? {
        return added(child.as_mut(), &columns[1..]);
    }
    let before = evaluator.selected().to_vec();
    others.iter().try_for_each(|&feature| evaluator.add(feature))?;
    evaluator.score_additions(&[last], &mut score)?;
    evaluator.reset(&before)?;
    Ok(score[0])
}

/// The score of the current subset with columns removed in turn.
fn removed(evaluator: &mut dyn Evaluator, columns: &[Feature]) -> Result<Score> {
    let Some((last, others)) = columns.split_last() else { return evaluator.score() };
    let before = evaluator.selected().to_vec();
    others.iter().try_for_each(|&feature| evaluator.remove(feature))?;
    let mut score = [Score::WORST];
    evaluator.score_removals(&[*last], &mut score)?;
    evaluator.reset(&before)?;
    Ok(score[0])
}
