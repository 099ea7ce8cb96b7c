//! Context of a run on a design: processes, shared results and related designs.

use crate::{Design, Result};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// The run that a design is searched in; it changes no score.
#[derive(Debug, Clone, Default)]
pub struct RunContext {
    /// Processes that search the design together and share work on all columns.
    pub process_group: Option<Arc<dyn ProcessGroup>>,
    /// Relation to designs of some of the rows.
    pub lineage: FoldLineage,
    /// The λ of each of the walks that share caches; empty for a single walk.
    pub shared_lambdas: Arc<[f64]>,
    /// Whether entries of paths go without standard errors, since the walks are judged on other rows.
    pub skips_errors: bool,
    /// Number of rows that estimates are for, if the design is a sample of these.
    pub planned_rows: Option<usize>,
    /// If means of all training rows fill missing cells, instead of means of each fold's: the reason.
    pub imputed_once: Option<String>,
    /// If all training rows standardize columns, instead of each fold's: the reason.
    pub standardized_once: Option<String>,
}

/// The relation of a design to designs of some of its rows.
#[derive(Debug, Clone, Default)]
pub enum FoldLineage {
    /// No design of some of the rows is searched.
    #[default]
    Alone,
    /// Designs of some of the rows are searched as well. Rows of one label are in the same designs.
    Root(Arc<[u32]>),
    /// The design has some of the rows of a root. Columns, targets and weights may differ from those of the root.
    Subset {
        /// The root.
        whole: Arc<Design>,
        /// Row of the root for each row.
        rows: Arc<[usize]>,
    },
}

impl RunContext {
    /// Lets walks at these λ share their computations.
    pub fn share(&mut self, lambdas: &[Option<f64>]) {
        self.shared_lambdas = lambdas.iter().copied().flatten().collect();
    }

    /// Number of walks that share caches.
    pub fn walks(&self) -> usize {
        self.shared_lambdas.len().max(1)
    }
}

/// One process's view of the processes that share a search.
///
/// Each process runs the whole search, but computes the numbers of some columns only and receives the others. So all
/// processes go through the same steps. No process is essential: each computes the parts that it misses.
pub trait ProcessGroup: Debug + Send + Sync {
    /// Collects the numbers of `count` items from all processes, in the order of the items. `compute` returns the
    /// numbers of a range of items, equal on every process.
    ///
    /// Work of one `kind` takes about equally long an item; all processes give it the name `which` within the kind.
    ///
    /// # Errors
    /// Returns an error of `compute`, or [`crate::Error::Stopped`].
    fn gather(
        &self,
        kind: &str,
        which: &str,
        count: usize,
        compute: &mut dyn FnMut(Range<usize>) -> Result<Vec<f64>>,
    ) -> Result<Vec<Vec<f64>>>;
}
