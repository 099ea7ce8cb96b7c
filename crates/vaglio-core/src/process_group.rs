//! Searches shared by several processes.
//!
//! Each process runs the whole search, but computes only some of the trials and receives the others. A search is a
//! function of its answers, so all processes go through the same steps. No process is essential: each computes the
//! parts that it misses.

use crate::Result;
use std::fmt::Debug;
use std::ops::Range;

/// One process's view of the processes that share a search.
pub trait ProcessGroup: Debug + Send + Sync {
    /// Collects the numbers of `count` items from all processes, in the order of the items. `compute` returns the
    /// numbers of a range of items, equal on every process.
    ///
    /// # Errors
    /// Returns an error of `compute`, or [`crate::Error::Stopped`].
    fn gather(&self, work: WorkItem<'_>, count: usize, compute: &mut Compute<'_>) -> Result<Vec<Vec<f64>>>;
}

/// A piece of work under a name that all processes share.
#[derive(Debug, Clone, Copy)]
pub struct WorkItem<'w> {
    /// The kind of work; items of one kind take about equally long.
    pub kind: &'w str,
    /// The name of the item within its kind.
    pub which: &'w str,
}

/// A closure that computes the numbers of a range of items.
pub type Compute<'c> = dyn FnMut(Range<usize>) -> Result<Vec<f64>> + 'c;
