//! Weights, groups, series and times of the rows.

use std::sync::Arc;

/// Weights, groups, folds, series and times of the rows of a problem or design, as far as given.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowLabels {
    /// Weights, all positive.
    pub weights: Option<Arc<[f64]>>,
    /// Rows of one number stay in one fold.
    pub groups: Option<Arc<[u32]>>,
    /// The fold that the user gave.
    pub assignment: Option<Arc<[u32]>>,
    /// The series that it belongs to; the rows of one stand together, in the order of time.
    pub series: Option<Arc<[u32]>>,
    /// The place of its time among all times, from 0.
    pub time: Option<Arc<[u32]>>,
    /// The place of the time at which its targets are known, where that is later than its own.
    pub known: Option<Arc<[u32]>>,
}

/// The weights of so many rows over their mean, so that they add up to `rows`.
pub fn relative_weights(weights: &[f64], rows: f64) -> Vec<f64> {
    // Over the largest first, whose sum does not overflow.
    let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let total: f64 = weights.iter().map(|weight| weight / largest).sum();
    weights.iter().map(|weight| weight / largest * (rows / total)).collect()
}

impl RowLabels {
    /// The labels of the rows `rows`, in that order.
    pub fn select(&self, rows: &[usize]) -> Self {
        fn taken<T: Copy>(all: &Option<Arc<[T]>>, rows: &[usize]) -> Option<Arc<[T]>> {
            all.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect())
        }
        RowLabels {
            weights: taken(&self.weights, rows),
            groups: taken(&self.groups, rows),
            assignment: taken(&self.assignment, rows),
            series: taken(&self.series, rows),
            time: taken(&self.time, rows),
            known: taken(&self.known, rows),
        }
    }
}
