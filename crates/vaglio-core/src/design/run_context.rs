//! Context of a run on a design: processes and shared results.

use crate::ProcessGroup;
use std::sync::Arc;

/// The run that a design is searched in; it changes no score.
#[derive(Debug, Clone, Default)]
pub struct RunContext {
    /// Processes that search the design together and share work on all columns.
    pub process_group: Option<Arc<dyn ProcessGroup>>,
    /// The λ of each of the walks that share caches; empty for a single walk.
    pub shared_lambdas: Arc<[f64]>,
    /// Whether entries of paths go without standard errors, since the walks are judged on other rows.
    pub skips_errors: bool,
    /// Number of rows that estimates are for, if the design is a sample of these.
    pub planned_rows: Option<usize>,
}

impl RunContext {
    /// Number of walks that share caches.
    pub fn walks(&self) -> usize {
        self.shared_lambdas.len().max(1)
    }
}
