//! What is known of each row beside its entries.

use std::sync::Arc;

/// What is known of each row of a problem or design beside its entries in columns and targets, where it was given.
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

impl RowLabels {
    /// Of the rows `rows`, in that order.
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
