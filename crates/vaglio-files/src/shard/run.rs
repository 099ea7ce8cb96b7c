//! Runs the units of an index, and merges all indexes.

use super::ledger::{ShardProgress, Shards};
use super::parts::{self, SearchParts};
use super::plan::key;
use super::work::{NOTHING, ShardJournal, WorkContext};
use crate::journal::{JournalHeader, NAME, Pieces, RunJournal, journal_text, read};
use crate::run::{RunOptions, RunOutcome, limit_monitor, run_here};
use crate::run_folder::RunFolder;
use crate::work_units::{SEARCH_INDEX, waits_for_search};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vaglio_core::{Error, Result, StopReason, StopSign};
use vaglio_search::{Journal, JournalStore as _, Monitor};
use vaglio_tables::disk::write_file;

impl Shards {
    /// Computes the remaining units of an index and returns its progress. Units that need the search on all rows wait
    /// for it at most `wait`; a later call does the rest. A completed index costs nothing.
    ///
    /// # Errors
    /// Returns [`Error::Setting`] for an index that is not planned. Returns [`Error::JournalRefused`] for another
    /// build, changed data and files of another run. Returns [`Error::Unwritable`], also while another process runs the
    /// index; [`Error::Stopped`]; the errors of the work. Completed units are kept.
    pub fn run<'m>(&self, index: usize, wait: Duration, monitor: impl Into<Monitor<'m>>) -> Result<ShardProgress> {
        let taken = format!("another process runs index {index}; wait until it has ended");
        self.run_by(index, wait, monitor.into(), || RunFolder::unless_taken(&self.work_folder(index), &taken))
    }

    /// Like [`Shards::run`], in a folder of its own, starting from what earlier attempts have done. Attempts that still
    /// run, are slow or were lost do not interfere. The first to complete counts.
    ///
    /// # Errors
    /// Returns the errors of [`Shards::run`], except that another process may run the index.
    pub fn run_apart<'m>(&self, index: usize, monitor: impl Into<Monitor<'m>>) -> Result<ShardProgress> {
        let mut begun = None;
        let done = self.run_by(index, Duration::ZERO, monitor.into(), || {
            let known = self.begun(index)?.unwrap_or_default();
            let run_folder = self.fresh_attempt(index)?;
            begun = Some((run_folder.out.clone(), known.len()));
            if !known.is_empty() {
                RunJournal::put(&run_folder.out, &self.header()?, &known)?;
            }
            Ok(run_folder)
        });
        if let (Err(_), Some((work, known))) = (&done, begun) {
            // An attempt without progress leaves nothing.
            let now = read(&work.join(NAME), &self.header()?).ok().flatten().map_or(0, |known| known.pieces.len());
            if now <= known {
                let _ = std::fs::remove_dir_all(work);
            }
        }
        match done {
            // The attempt that completed first removed this one's folder.
            Err(Error::Unwritable { .. }) if self.completed_pieces(index)?.is_some() => self.index_progress(index),
            done => done,
        }
    }

    /// Creates a folder for a new attempt.
    fn fresh_attempt(&self, index: usize) -> Result<RunFolder> {
        for number in 1.. {
            let path = self.attempt(index, number);
            match std::fs::create_dir(&path) {
                Ok(()) => return RunFolder::new(&path),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::unwritable(path, error)),
            }
        }
        Err(Error::journal_refused(self.work_folder(index), "there are too many attempts at it"))
    }

    fn run_by(
        &self,
        index: usize,
        wait: Duration,
        monitor: Monitor<'_>,
        begin: impl FnOnce() -> Result<RunFolder>,
    ) -> Result<ShardProgress> {
        if index >= self.plan.of {
            let message = format!("there is no index {index}; the last is {}", self.plan.of - 1);
            return Err(Error::setting("--index", message));
        }
        self.check_build()?;
        if self.completed_pieces(index)?.is_some() {
            return self.index_progress(index);
        }
        let run_folder = begin()?;
        let begun = Instant::now();
        if self.helps(index) && self.completed_pieces(SEARCH_INDEX)?.is_some() {
            // Needs no data.
            let own = self.plan.keys_at(index).into_iter();
            self.keep(index, &own.map(|key| (key, NOTHING.to_owned())).collect())?;
            return self.index_progress(index);
        }
        let start = self.start(monitor.stop.clone().or_after(begun, self.pipeline.most_time()))?;
        let run_journal = Arc::new(RunJournal::resume(&run_folder.out, &self.header()?)?);
        let limited = limit_monitor(monitor, &run_journal, begun, &self.pipeline);
        let process_group = self.process_group(index, run_journal.keeps_all(), &limited.stop)?;
        let journal = Arc::new(ShardJournal {
            run_journal: Arc::clone(&run_journal),
            plan: self.plan.clone(),
            index,
            known: Mutex::default(),
            process_group,
        });
        let monitor = &mut Monitor { journal: Journal::new(Arc::clone(&journal) as _), ..limited };
        let done = WorkContext::new(self, &journal, &start).and_then(|work| work.run(wait, monitor));
        let stopped = monitor.stop.reason();
        run_journal.finish()?;
        done?;
        let left = journal.missing();
        if left.is_empty() {
            self.keep(index, &journal.pieces())?;
        } else if let Some(reason) = stopped {
            return Err(Error::Stopped(reason));
        } else if !left.iter().all(|key| waits_for_search(key)) {
            return Err(Error::Stopped(StopReason::Interrupted));
        }
        self.index_progress(index)
    }

    /// The process group of the search on all rows, if the index belongs to it.
    fn process_group(&self, index: usize, keeps_all: bool, stop: &StopSign) -> Result<Option<Arc<SearchParts>>> {
        let count = self.plan.units.parts();
        if count < 2 || index >= count {
            return Ok(None);
        }
        let folder = self.folder.join(parts::FOLDER);
        let end = self.done_file(SEARCH_INDEX);
        let mut group = SearchParts::new(folder, end, key(&self.pipeline, &self.plan.data)?, index, count);
        group.stop = stop.clone();
        if keeps_all {
            group.least = Duration::ZERO;
        }
        Ok(Some(Arc::new(group)))
    }

    /// Writes the pieces of an index, unless another attempt has, and removes its working files.
    fn keep(&self, index: usize, pieces: &Pieces) -> Result<()> {
        if self.completed_pieces(index)?.is_none() {
            write_file(&self.done_file(index), &journal_text(&self.header()?, pieces)?.0)?;
        }
        self.attempts(index).iter().rev().for_each(|folder| drop(std::fs::remove_dir_all(folder)));
        // A process that was late may have written parts after the search ended.
        if self.done_file(SEARCH_INDEX).exists() {
            let _ = std::fs::remove_dir_all(self.folder.join(parts::FOLDER));
        }
        Ok(())
    }

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
        let mut pieces = Pieces::new();
        for index in 0..self.plan.of {
            match self.pieces(index)? {
                Some((known, is_done)) if is_done || stopped.is_some() => pieces.extend(known),
                _ if stopped.is_some() => {}
                _ => return Err(self.incomplete()?),
            }
        }
        let mut monitor: Monitor<'_> = monitor.into();
        if stopped.is_some() {
            monitor.stop = monitor.stop.or(move || stopped);
        }
        let run_folder = RunFolder::new(&options.out)?;
        let header = JournalHeader::new(&self.plan.data, self.pipeline.configuration()?);
        RunJournal::put(&options.out, &header, &pieces)?;
        drop(run_folder);
        let options = RunOptions { folder: self.folder.clone(), resume: true, ..options.clone() };
        run_here(&self.pipeline, &options, monitor)
    }
}
