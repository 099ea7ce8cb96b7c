//! Weights, groups, folds, series, times and units of the rows.

use crate::{Error, Result, gather};
use ndarray::{Array2, ArrayView2};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

/// Labels of rows: weights, groups, folds, series, times and units, as far as given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowLabels {
    /// Weight of each row; equal if absent.
    pub weights: Option<Arc<[f64]>>,
    /// Group of each row; rows of one group stay in one fold.
    pub groups: Option<Arc<[u32]>>,
    /// Fold of each row, if the user gave one.
    pub assignment: Option<Arc<[u32]>>,
    /// Series of each row. Rows of one series are contiguous and in the order of time.
    pub series: Option<Arc<[u32]>>,
    /// Rank of each row's time among all times, from 0.
    pub time: Option<Arc<[u32]>>,
    /// Rank of the time at which each row's targets are known, if later than its own time.
    pub known: Option<Arc<[u32]>>,
    /// Cluster of each row, for error figures.
    pub clusters: Option<Arc<[u32]>>,
    /// Unit of each row, such as its series. Predictions are averaged over the rows of a unit, which have equal targets;
    /// losses are means over units.
    pub units: Option<Arc<[u32]>>,
    /// Number of rows that each row stands for, if rows are condensed.
    pub counts: Option<Arc<[f64]>>,
}

/// Divides weights by their mean, so that they add up to `rows`.
pub fn relative_weights(weights: &[f64], rows: f64) -> Vec<f64> {
    // Divides by the largest first, so that the sum does not overflow.
    let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let total: f64 = weights.iter().map(|weight| weight / largest).sum();
    weights.iter().map(|weight| weight / largest * (rows / total)).collect()
}

impl RowLabels {
    /// Selects the labels of the rows `rows`, in that order.
    pub fn select(&self, rows: &[usize]) -> Self {
        fn take<T: Copy>(all: &Option<Arc<[T]>>, rows: &[usize]) -> Option<Arc<[T]>> {
            all.as_ref().map(|all| gather(all, rows).into())
        }
        RowLabels {
            weights: take(&self.weights, rows),
            groups: take(&self.groups, rows),
            assignment: take(&self.assignment, rows),
            series: take(&self.series, rows),
            time: take(&self.time, rows),
            known: take(&self.known, rows),
            clusters: take(&self.clusters, rows),
            units: take(&self.units, rows),
            counts: take(&self.counts, rows),
        }
    }

    /// Number of rows that `rows` rows stand for.
    pub fn count(&self, rows: usize) -> f64 {
        self.counts.as_ref().map_or(rows as f64, |counts| counts.iter().sum())
    }

    /// Rejects lists of another length than `rows`, and rows of one series that are not contiguous.
    pub(crate) fn check(&self, rows: usize) -> Result<()> {
        fn count<T>(labels: &Option<Arc<[T]>>) -> Option<usize> {
            labels.as_ref().map(|labels| labels.len())
        }
        let counts = [
            ("weights", count(&self.weights)),
            ("groups", count(&self.groups)),
            ("folds", count(&self.assignment)),
            ("series", count(&self.series)),
            ("times", count(&self.time)),
            ("times of targets", count(&self.known)),
            ("clusters", count(&self.clusters)),
            ("units", count(&self.units)),
            ("counts", count(&self.counts)),
        ];
        for (what, count) in counts {
            if let Some(count) = count.filter(|count| *count != rows) {
                return Err(Error::Shape(format!("{count} {what} for {rows} rows")));
            }
        }
        let mut seen = HashSet::new();
        for run in self.series.iter().flat_map(|series| series.chunk_by(|a, b| a == b)) {
            if !seen.insert(run[0]) {
                return Err(Error::Shape(format!("the rows of series {} are not contiguous", run[0])));
            }
        }
        Ok(())
    }
}

/// Numbers labels from 0 in order of first appearance, and counts the different ones.
pub fn number_labels<L: Eq + Hash>(labels: impl IntoIterator<Item = L>) -> (Vec<u32>, usize) {
    let mut numbers = HashMap::new();
    let number = |label| {
        let next = numbers.len() as u32;
        *numbers.entry(label).or_insert(next)
    };
    (labels.into_iter().map(number).collect(), numbers.len())
}

/// The rows of each label, for labels numbered from 0.
pub fn rows_by_label(labels: &[u32]) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); labels.iter().max().map_or(0, |&label| label as usize + 1)];
    labels.iter().enumerate().for_each(|(row, &label)| rows[label as usize].push(row));
    rows
}

/// Some rows of outputs × rows, in this order and in standard layout. Cost O(rows · outputs).
///
/// `select` along that axis makes a view of each row first, which takes six times the memory.
pub fn select_rows<'a>(all: impl Into<ArrayView2<'a, f64>>, rows: &[usize]) -> Array2<f64> {
    let all = all.into();
    let mut out = Array2::zeros((all.nrows(), rows.len()));
    for (mut to, from) in out.rows_mut().into_iter().zip(all.rows()) {
        to.iter_mut().zip(rows).for_each(|(to, &row)| *to = from[row]);
    }
    out
}
