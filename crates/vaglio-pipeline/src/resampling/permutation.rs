//! Permutation of targets among rows, which removes any association with columns.

use super::Sample;
use crate::preprocess::LabeledTable;
use crate::selector::ValidSelector;
use std::sync::Arc;
use vaglio_core::{Result, RowLabels, gather, number_labels, rows_by_label, select_rows};
use vaglio_search::shuffle::{random_order, stream};

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
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] for targets of the wrong shape, which do not occur.
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

    /// Whether permutations are informative: not if there are only a few groups with one target each.
    pub(super) fn has_shuffles(&self) -> bool {
        let units = self.units();
        self.ordered || units.len() >= FEWEST || !self.are_alike(&units)
    }

    /// Rows that stay together; rows that only serve as history have no target to exchange.
    fn units(&self) -> Vec<Vec<usize>> {
        let counting = self.counting().unwrap_or_else(|| (0..self.rows()).collect());
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

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use vaglio_core::{Columns, Problem, Task};

    /// Rows whose targets are their numbers; weights are 2y + 1.
    fn problem(rows: usize) -> Problem {
        let mut columns = Columns::new(rows);
        columns.push((0..rows).map(|row| (row * row) as f64).collect::<Vec<f64>>());
        let targets = Array2::from_shape_fn((1, rows), |(_, row)| row as f64);
        let problem = Problem::new(columns, vec!["x".into()], targets, vec!["y".into()], Task::Regression).unwrap();
        problem.with_weights((0..rows).map(|row| 2.0 * row as f64 + 1.0).collect()).unwrap()
    }

    /// Source rows of the targets of a permuted sample; weights move with targets.
    fn sources(sample: &Sample, is_forward: bool, seed: u64) -> Vec<usize> {
        let shuffled = sample.with_shuffled_targets(is_forward, seed).unwrap();
        let targets: Vec<f64> = shuffled.targets().row(0).to_vec();
        let weights = shuffled.problem.weights().unwrap();
        // Weights are kept up to a common factor.
        assert!(
            targets
                .iter()
                .zip(weights)
                .all(|(y, w)| (w / weights[0] - (2.0 * y + 1.0) / (2.0 * targets[0] + 1.0)).abs() < 1e-12)
        );
        targets.iter().map(|y| *y as usize).collect()
    }

    #[test]
    fn rows_exchange_targets_with_their_weights() {
        let order = sources(&Sample::plain(problem(30), false), false, 3);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..30).collect::<Vec<_>>());
        assert_ne!(order, sorted);
    }

    #[test]
    fn rows_in_an_order_of_time_are_shifted_in_a_circle() {
        let order = sources(&Sample::plain(problem(30), true), false, 3);
        assert!((3..=27).contains(&order[0]), "{}", order[0]);
        assert!(order.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 30));
    }

    #[test]
    fn groups_exchange_their_targets_whole() {
        // Eight groups of three rows; the last has two.
        let groups = (0..23).map(|row| row / 3).collect();
        let sample = Sample::plain(problem(23).with_groups(groups).unwrap(), false);
        let mut seen = std::collections::HashSet::new();
        for seed in 0..20 {
            let order = sources(&sample, false, seed);
            for (number, rows) in (0..23).collect::<Vec<usize>>().chunks(3).enumerate() {
                let first = order[rows[0]];
                let expected = if first == 21 { [21, 22, 21] } else { [first, first + 1, first + 2] };
                let found: Vec<usize> = rows.iter().map(|&row| order[row]).collect();
                assert_eq!((first % 3, &found[..]), (0, &expected[..rows.len()]));
                seen.insert((number, first));
            }
        }
        assert!(seen.len() > 50, "{}", seen.len());
    }

    #[test]
    fn rows_of_few_groups_exchange_targets_inside_each() {
        let groups: Vec<u32> = (0..20).map(|row| row % 2).collect();
        let sample = Sample::plain(problem(20).with_groups(groups.clone()).unwrap(), false);
        let order = sources(&sample, false, 1);
        assert!((0..20).all(|row| groups[order[row]] == groups[row]) && order != (0..20).collect::<Vec<_>>());
        assert!(sample.has_shuffles());
        let targets = Array2::from_shape_fn((1, 20), |(_, row)| f64::from(groups[row]));
        let alike = problem(20).with_targets(targets).unwrap().with_groups(groups).unwrap();
        assert!(!Sample::plain(alike, false).has_shuffles());
    }

    #[test]
    fn series_are_shifted_by_as_much_where_splits_go_forward() {
        let weighted = problem(8);
        let labels = RowLabels { series: Some([0, 0, 0, 0, 1, 1, 1, 1].into()), ..weighted.labels().clone() };
        let sample = Sample::plain(weighted.with_labels(labels).unwrap(), false);
        let order = sources(&sample, true, 5);
        assert!((0..4).all(|k| order[k] < 4 && order[4 + k] == order[k] + 4), "{order:?}");
    }
}
