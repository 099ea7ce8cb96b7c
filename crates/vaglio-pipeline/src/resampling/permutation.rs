//! Permutation of targets among rows, which removes any association with columns.

use super::Sample;
use crate::preprocess::LabeledTable;
use crate::selector::ValidSelector;
use std::sync::Arc;
use vaglio_core::shuffle::{random_order, stream};
use vaglio_core::{Result, RowLabels, gather, number_labels, rows_by_label, select_rows};

const SHUFFLE: u64 = 3;
/// Smallest number of groups that exchange targets whole; fewer return to their places too often.
const FEWEST: usize = 8;

impl ValidSelector {
    /// Whether the criterion's splits go forward in time.
    pub fn goes_forward(&self) -> bool {
        self.criterion.traits().splits.is_some_and(|splits| splits.around_search(1).is_some())
    }
}

impl Sample {
    /// Permutes the targets among the rows; each target keeps its weight.
    ///
    /// Groups, and series that are not in time order, exchange their targets whole; targets of a shorter one repeat.
    /// With fewer than eight groups, rows exchange targets within each, unless these are equal. Rows in time order, and
    /// each series if splits go forward, are shifted circularly by at least a tenth.
    pub fn with_shuffled_targets(&self, is_forward: bool, seed: u64) -> Result<Sample> {
        let order = self.shuffled_order(is_forward, seed);
        let targets = select_rows(&**self.targets(), &order);
        let taken = |weights: &[f64]| gather(weights, &order);
        let mut problem = self.problem.with_targets(targets)?;
        if let Some(weights) = self.problem.weights() {
            problem = problem.with_weights(taken(weights))?;
        }
        let mapped = self.mapped.as_ref().map(|(rows, recipe)| {
            let weights = rows.labels.weights.as_deref().map(|weights| taken(weights).into());
            let labels = RowLabels { weights, ..rows.labels.clone() };
            let rows = LabeledTable { table: rows.table.clone(), targets: Arc::clone(problem.targets()), labels };
            (Arc::new(rows), Arc::clone(recipe))
        });
        Ok(Sample { problem, mapped, ordered: self.ordered })
    }

    /// Source row of the target of each row.
    fn shuffled_order(&self, is_forward: bool, seed: u64) -> Vec<usize> {
        let units = self.units();
        let mut order: Vec<usize> = (0..self.rows()).collect();
        if is_forward || self.ordered {
            // Shifts every series equally, so that rows of one time stay together. Neighbors in time are similar, hence
            // at least a tenth.
            let longest = units.iter().map(Vec::len).max().unwrap_or(0);
            let least = longest.div_ceil(10);
            let shift = least + (stream(seed, SHUFFLE, 0) % (longest.saturating_sub(2 * least) as u64 + 1)) as usize;
            for unit in &units {
                let from = unit.iter().cycle().skip(shift % unit.len().max(1));
                unit.iter().zip(from).for_each(|(&row, &from)| order[row] = from);
            }
        } else if units.len() < FEWEST && !self.are_alike(&units) {
            for (number, unit) in units.iter().enumerate() {
                let inside = random_order(unit.len(), stream(seed, SHUFFLE, number as u64));
                unit.iter().zip(inside).for_each(|(&row, place)| order[row] = unit[place]);
            }
        } else {
            for (unit, other) in units.iter().zip(random_order(units.len(), seed)) {
                unit.iter().zip(units[other].iter().cycle()).for_each(|(&row, &from)| order[row] = from);
            }
        }
        order
    }

    /// Whether permutations are informative: not if rows are condensed, nor if there are only a few groups with one
    /// target each.
    pub fn has_shuffles(&self) -> bool {
        let (units, is_condensed) = (self.units(), self.problem.labels().counts.is_some());
        !is_condensed && (self.ordered || units.len() >= FEWEST || !self.are_alike(&units))
    }

    /// Rows that stay together; rows that only serve as history have no target to exchange.
    fn units(&self) -> Vec<Vec<usize>> {
        let counting = self.counted_rows().unwrap_or_else(|| (0..self.rows()).collect());
        match self.labels() {
            Some(labels) => {
                let units = rows_by_label(&number_labels(counting.iter().map(|&row| labels[row])).0);
                units.iter().map(|unit| gather(&counting, unit)).collect()
            }
            None if self.ordered => vec![counting],
            None => counting.into_iter().map(|row| vec![row]).collect(),
        }
    }

    /// Whether the rows of each unit share one target.
    fn are_alike(&self, units: &[Vec<usize>]) -> bool {
        let target = |row: usize| self.targets().column(row);
        units.iter().all(|unit| unit.iter().all(|&row| target(row) == target(unit[0])))
    }
}
