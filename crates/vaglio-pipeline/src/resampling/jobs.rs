//! Independent jobs of a run: repetitions that threads or processes share, each with a key of the journal.

use super::pool::{StageMonitor, SubTask};
use crate::memory_slots::MemorySlots;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use vaglio_core::Result;

/// Jobs 0, …, `count` − 1 of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// Prefix of the keys, which ends in `/`; else the key of the only job.
    pub prefix: String,
    /// Number of jobs.
    pub count: usize,
}

impl Jobs {
    /// Outer folds of nested cross-validation.
    pub const NESTED: &str = "nested/";

    /// Jobs whose keys begin with `prefix`.
    pub fn new(prefix: &str, count: usize) -> Self {
        Jobs { prefix: prefix.into(), count }
    }

    /// Key of a job.
    pub fn key(&self, number: usize) -> String {
        if self.prefix.ends_with('/') { format!("{}{number}", self.prefix) } else { self.prefix.clone() }
    }

    /// Number of the job with a key, if there is one.
    pub fn number(&self, key: &str) -> Option<usize> {
        if !self.prefix.ends_with('/') {
            return (key == self.prefix).then_some(0);
        }
        key.strip_prefix(&*self.prefix)?.parse().ok().filter(|number| *number < self.count)
    }

    /// Runs the jobs as the stage `what`, as many at once as memory allows. The journal records their results.
    /// Returns `None` if stopped, or if another process runs some of the jobs.
    ///
    /// # Errors
    /// Returns the error of the failed job with the lowest number, among those begun.
    pub fn run<T: Serialize + DeserializeOwned + Send>(
        &self,
        what: &str,
        room: &MemorySlots,
        watcher: &StageMonitor<'_>,
        job: impl Fn(usize, SubTask<'_, '_>) -> Result<Option<T>> + Sync,
    ) -> Result<Option<Vec<T>>> {
        watcher.jobs(what, room, self.count, |number| {
            let key = self.key(number);
            let member = || watcher.member(watcher.journal.within(&key), number);
            watcher.journal.once(&key, || job(number, member()))
        })
    }
}
