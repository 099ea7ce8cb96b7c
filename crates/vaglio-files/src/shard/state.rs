//! Progress of the indexes of a run.

use super::ledger::Shards;
use crate::work_units::{SEARCH, waits_for_search};
use serde::Serialize;
use vaglio_core::{Error, Result, abridge};

/// Maximum number of keys named in a message.
const NAMED: usize = 3;

/// State of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardState {
    /// Not begun.
    Absent,
    /// Partly done.
    Begun,
    /// All remaining units wait for the search, which belongs to another index.
    Waiting,
    /// Complete.
    Done,
}

/// Progress of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ShardProgress {
    /// Index, from 0.
    pub index: usize,
    /// State of the index.
    pub state: ShardState,
    /// Number of units.
    pub units: usize,
    /// Number of completed units.
    pub done: usize,
}

impl Shards {
    /// Progress of every index.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for a file of another run, or one that was altered.
    pub fn progress(&self) -> Result<Vec<ShardProgress>> {
        (0..self.plan.of).map(|index| self.progress_of(index)).collect()
    }

    pub(super) fn progress_of(&self, index: usize) -> Result<ShardProgress> {
        let units = self.plan.keys_at(index).len();
        if self.finished(index)?.is_some() {
            return Ok(ShardProgress { index, state: ShardState::Done, units, done: units });
        }
        let Some(known) = self.begun(index)? else {
            return Ok(ShardProgress { index, state: ShardState::Absent, units, done: 0 });
        };
        let left = self.plan.missing(index, |key| known.contains_key(key));
        let waits = left.iter().all(|key| waits_for_search(key)) && !known.contains_key(SEARCH);
        let state = if waits { ShardState::Waiting } else { ShardState::Begun };
        Ok(ShardProgress { index, state, units, done: units - left.len() })
    }

    /// Error that names what is missing.
    pub(super) fn incomplete(&self) -> Result<Error> {
        let all = self.progress()?;
        let open: Vec<&ShardProgress> = all.iter().filter(|index| index.state != ShardState::Done).collect();
        let mut named = Vec::new();
        for ShardProgress { index, units, done, .. } in open.iter().take(NAMED) {
            let known = self.begun(*index)?.unwrap_or_default();
            let left = self.plan.missing(*index, |key| known.contains_key(key));
            let keys = abridge(left.iter().map(|key| format!("`{key}`")), NAMED);
            named.push(format!("index {index} ({done} of {units} units, without {keys})"));
        }
        let more = if open.len() > NAMED { format!(", and {} more", open.len() - NAMED) } else { String::new() };
        let message = format!(
            "{} of {} indexes are not done: {}{more}; `vaglio shard run` does them",
            open.len(),
            self.plan.of,
            named.join(", ")
        );
        Ok(Error::journal_refused(self.folder.clone(), message))
    }
}
