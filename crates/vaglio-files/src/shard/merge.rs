//! Merges a distributed run.

use super::ledger::Shards;
use crate::journal::{JournalHeader, RunJournal};
use crate::run::{RunOptions, RunOutcome, run_here};
use crate::run_folder::RunFolder;
use crate::work_units::SEARCH;
use std::collections::BTreeMap;
use vaglio_core::{Result, StopReason};
use vaglio_search::Monitor;

impl Shards {
    /// Merges the pieces of all indexes and writes the files of the run to `options.out`. A run in one process writes
    /// an equal `selection.json`, except for times and memory. With `stopped`, merges the existing pieces: the result
    /// is partial, like a run in one process that was stopped for this reason after the same work.
    ///
    /// # Errors
    /// Returns [`vaglio_core::Error::JournalRefused`] for another build, and, unless `stopped`, for incomplete indexes,
    /// with the missing units. Returns the errors of [`run`](crate::run).
    pub fn merge<'m>(
        &self,
        stopped: Option<StopReason>,
        options: &RunOptions,
        monitor: impl Into<Monitor<'m>>,
    ) -> Result<RunOutcome> {
        self.check_build()?;
        let mut pieces: BTreeMap<String, String> = BTreeMap::new();
        for index in 0..self.plan.of {
            match self.finished(index)? {
                Some(known) => pieces.extend(known),
                None if stopped.is_some() => pieces.extend(self.begun(index)?.unwrap_or_default()),
                None => return Err(self.incomplete()?),
            }
        }
        let mut monitor: Monitor<'_> = monitor.into();
        if stopped.is_some() {
            monitor.stop = monitor.stop.or(move || stopped);
        }
        let claim = RunFolder::new(&options.out)?;
        let header = JournalHeader::new(&self.plan.data, self.pipeline.configuration()?);
        RunJournal::put(&options.out, &header, &pieces)?;
        drop(claim);
        let options = RunOptions { folder: self.folder.clone(), resume: true, ..options.clone() };
        run_here(&self.pipeline, &options, monitor, pieces.contains_key(SEARCH))
    }
}
