//! Numbers of all columns that several processes compute together.
//!
//! Each process runs the whole search, but computes the numbers of some columns only and receives the others. So all
//! processes go through the same steps. No process is essential: each computes the parts that it misses.

use crate::Result;
use std::fmt::Debug;
use std::ops::Range;

/// One process's view of the processes that share a search.
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
