//! Context of a run on a design: stop sign, processes and shared results.

use crate::{ProcessGroup, StopSign};
use std::sync::Arc;

/// The run that a design is searched in; it changes no score.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// Ends the run. Loops over trials that each take long check it before each trial.
    pub stop: StopSign,
    /// Processes that search the design together and share work on all columns.
    pub process_group: Option<Arc<dyn ProcessGroup>>,
    /// The λ of each of the walks that share caches; empty for a single walk.
    pub shared_lambdas: Arc<[f64]>,
    /// Whether entries of paths have standard errors; they need none if the walks are judged on other rows.
    pub has_errors: bool,
    /// Number of rows that estimates are for, if the design is a sample of these.
    pub planned_rows: Option<usize>,
}

impl Default for RunContext {
    fn default() -> Self {
        let (stop, shared_lambdas) = (StopSign::default(), Arc::from([]));
        RunContext { stop, process_group: None, shared_lambdas, has_errors: true, planned_rows: None }
    }
}

impl RunContext {
    /// Number of walks that share caches.
    pub fn walks(&self) -> usize {
        self.shared_lambdas.len().max(1)
    }
}
