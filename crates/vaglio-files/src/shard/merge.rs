//! The end of a run that several processes shared.

use super::ledger::{RANGES, Shards};
use super::units::SEARCH;
use crate::claim::Claim;
use crate::journal::{Book, Header};
use crate::run::{RunOptions, RunOutcome, run_here};
use std::collections::BTreeMap;
use vaglio_core::{Monitor, Result, StopReason, StopSign};

impl Shards {
    /// Puts the pieces of all indexes together and ends the run with them: the files of a run are in `options.out` then. Its
    /// `selection.json` is that of one process, times and memory aside.
    ///
    /// # Errors
    /// [`vaglio_core::Error::JournalRefused`] for another build, and where indexes are not done, with what is missing; those of
    /// [`run`](crate::run).
    pub fn merge<'m>(&self, options: &RunOptions, monitor: impl Into<Monitor<'m>>) -> Result<RunOutcome> {
        self.check_build()?;
        let mut pieces: BTreeMap<String, String> = BTreeMap::new();
        for index in 0..self.plan.of {
            match self.finished(index)? {
                Some(known) => pieces.extend(known.pieces),
                None => return Err(self.incomplete()?),
            }
        }
        let monitor = monitor.into();
        let stop = monitor.stop.clone();
        let done = self.end(&pieces, options, monitor, stop)?;
        // Nobody needs the ranges of rows any more; where they stay they take room alone.
        let _ = std::fs::remove_dir_all(self.folder.join(RANGES));
        Ok(done)
    }

    /// The same with what is there: the result is partial, as that of one process which was stopped for this reason when it had
    /// done so much.
    ///
    /// # Errors
    /// [`vaglio_core::Error::JournalRefused`] for another build; those of [`run`](crate::run).
    pub fn merge_stopped<'m>(
        &self,
        reason: StopReason,
        options: &RunOptions,
        monitor: impl Into<Monitor<'m>>,
    ) -> Result<RunOutcome> {
        self.check_build()?;
        let mut pieces: BTreeMap<String, String> = BTreeMap::new();
        for index in 0..self.plan.of {
            pieces.extend(self.pieces(index)?);
        }
        let monitor = monitor.into();
        let stop = monitor.stop.clone().or(move || Some(reason));
        // What stopped the run does not stop what makes a result of it.
        self.end(&pieces, options, Monitor { stop, ..monitor }, StopSign::default())
    }

    fn end(
        &self,
        pieces: &BTreeMap<String, String>,
        options: &RunOptions,
        monitor: Monitor<'_>,
        reading: StopSign,
    ) -> Result<RunOutcome> {
        let claim = Claim::new(&options.out)?;
        Book::put(&options.out, &Header::new(&self.plan.data, self.pipeline.configuration()?), pieces)?;
        drop(claim);
        let options = RunOptions { folder: self.folder.clone(), resume: true, ..options.clone() };
        let ranges = self.ranges(reading);
        run_here(&self.pipeline, &options, monitor, (pieces.contains_key(SEARCH), Some(&ranges)))
    }
}
