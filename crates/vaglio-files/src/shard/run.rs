//! Computes the units of an index with a journal that owns them, and merges all indexes.

use super::ledger::{ShardProgress, Shards};
use super::parts::{self, SearchParts};
use super::plan::{ShardPlan, key};
use crate::evaluations::{RepetitionInput, repetitions};
use crate::journal::{JournalHeader, Pieces, RunJournal, journal_text};
use crate::run::{RunOptions, RunOutcome, RunStart, limit_monitor, run_here};
use crate::run_folder::RunFolder;
use crate::work_units::{PARTS, SEARCH, SEARCH_INDEX, waits_for_search};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vaglio_core::{Design, Error, ProcessGroup, Result, StopReason, StopSign, lock};
use vaglio_pipeline::resampling::{self, StageMonitor, TunedSearch};
use vaglio_search::{Journal, JournalStore, Monitor};
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
        let done = self.run_by(index, Duration::ZERO, monitor.into(), || {
            let known = self.begun(index)?.unwrap_or_default();
            let run_folder = self.fresh_attempt(index)?;
            if !known.is_empty() {
                RunJournal::put(&run_folder.out, &self.header()?, &known)?;
            }
            Ok(run_folder)
        });
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
        let begun = Instant::now();
        if self.helps(index) && self.completed_pieces(SEARCH_INDEX)?.is_some() {
            // Needs no data.
            let own = self.plan.keys_at(index).into_iter();
            self.keep(index, &own.map(|key| (key, NOTHING.to_owned())).collect())?;
            return self.index_progress(index);
        }
        let start = self.start(monitor.stop.clone().or_after(begun, self.pipeline.most_time()))?;
        // Another attempt may have completed the index while the data were read.
        if self.completed_pieces(index)?.is_some() {
            return self.index_progress(index);
        }
        // An attempt that fails to read its data leaves nothing.
        let run_folder = begin()?;
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

/// Polling interval while waiting for another index.
const LOOK: Duration = Duration::from_millis(200);

/// Context of the units' computations.
struct WorkContext<'a> {
    shards: &'a Shards,
    journal: &'a ShardJournal,
    start: &'a RunStart,
    design: Design,
}

impl<'a> WorkContext<'a> {
    /// Prepares the work of an index. Dropping it drops the caches of the design.
    fn new(shards: &'a Shards, journal: &'a ShardJournal, start: &'a RunStart) -> Result<Self> {
        let design = start.selector.design_at(&start.prepared.train, Some(&start.design))?;
        Ok(WorkContext { shards, journal, start, design: design.with_sign(StopSign::default()) })
    }

    /// Works on an index while there is anything to do, or to wait for at most `wait`.
    fn run(&self, wait: Duration, monitor: &mut Monitor<'_>) -> Result<()> {
        self.go_on(monitor)?;
        let begun = Instant::now();
        while !self.journal.missing().is_empty() && begun.elapsed() < wait && monitor.stop.reason().is_none() {
            std::thread::sleep(LOOK.min(wait));
            self.go_on(monitor)?;
        }
        Ok(())
    }

    /// Computes and stores the possible units of an index: first the search, if it belongs to this index; last those
    /// that wait for it.
    fn go_on(&self, monitor: &mut Monitor<'_>) -> Result<()> {
        let mut found = if self.journal.is_own(SEARCH) { self.search(monitor)? } else { None };
        self.repeat(None, &StageMonitor::new(&mut *monitor))?;
        if self.journal.lacks(PARTS) {
            self.learn()?;
            self.accompany(monitor)?;
        }
        if !self.journal.missing().iter().any(|key| waits_for_search(key)) {
            return Ok(());
        }
        self.learn()?;
        if found.is_none() && self.journal.knows(SEARCH) {
            found = self.search(monitor)?;
        }
        match &found {
            Some(found) => self.repeat(Some(found), &StageMonitor::new(monitor)),
            None => Ok(()),
        }
    }

    /// Reads the pieces of the search that another index has done.
    fn learn(&self) -> Result<()> {
        if self.journal.index != SEARCH_INDEX
            && let Some((known, _)) = self.shards.pieces(SEARCH_INDEX)?
            && known.contains_key(SEARCH)
        {
            lock(&self.journal.known).extend(known);
        }
        Ok(())
    }

    /// Input of the repetitions before the search on all rows.
    fn input(&self) -> RepetitionInput<'_> {
        RepetitionInput::new(&self.shards.pipeline, &self.start.selector, &self.start.prepared.sample)
    }

    /// Performs the search on all rows and keeps it; `None` if stopped.
    fn search(&self, monitor: &mut Monitor<'_>) -> Result<Option<TunedSearch>> {
        let RepetitionInput { selector, sample, .. } = self.input();
        let known = Some(self.design.clone());
        let found = selector.tuned_search(sample, &self.start.prepared.train, known, &mut *monitor)?;
        let watcher = StageMonitor::new(monitor);
        if found.chosen_search.searched.path.stop_reason.is_partial() || watcher.check_stop().is_some() {
            return Ok(None);
        }
        if !self.journal.knows(SEARCH) {
            self.journal.keep(SEARCH, "true");
        }
        Ok(Some(found))
    }

    /// Assists the search of another process until it is complete.
    fn accompany(&self, monitor: &mut Monitor<'_>) -> Result<()> {
        let journal = self.journal;
        let Some(process_group) = journal.process_group.as_ref().filter(|_| !journal.knows(SEARCH)) else {
            journal.give_parts();
            return Ok(());
        };
        let group = Arc::clone(process_group);
        let watched = Arc::clone(process_group);
        let stop = monitor.stop.clone().or(move || watched.is_over().then_some(StopReason::Interrupted));
        let without_journal = &mut Monitor { observer: &mut *monitor.observer, journal: Journal::default(), stop };
        let RepetitionInput { selector, sample, .. } = self.input();
        match resampling::accompany(selector, sample, &self.design, group, without_journal) {
            Err(Error::Stopped(_)) | Ok(()) if monitor.stop.reason().is_none() => {
                journal.give_parts();
                Ok(())
            }
            done => done,
        }
    }

    /// Repeats the search as evaluations need, after the search on all rows or independently of it.
    fn repeat(&self, found: Option<&TunedSearch>, watcher: &StageMonitor<'_>) -> Result<()> {
        for repetitions in repetitions().filter(|repetitions| repetitions.is_one_search == found.is_some()) {
            if self.journal.lacks(repetitions.prefix) && watcher.check_stop().is_none() {
                (repetitions.repeat)(&self.input(), found, watcher)?;
            }
        }
        Ok(())
    }
}

/// Value of a unit that needed no separate computation.
const NOTHING: &str = "null";

/// A journal that owns the units of one index.
struct ShardJournal {
    run_journal: Arc<RunJournal>,
    plan: ShardPlan,
    index: usize,
    /// New pieces to publish, and pieces of other indexes.
    known: Mutex<Pieces>,
    /// Process group for the search on all rows.
    process_group: Option<Arc<SearchParts>>,
}

impl ShardJournal {
    /// Whether a piece is published for others: an own unit, or part of an own search on all rows, except single
    /// answers.
    fn is_published(&self, key: &str) -> bool {
        self.is_own(key) || self.is_own(SEARCH) && !self.plan.units.is_inside(key) && !key.contains("/answer/")
    }

    fn knows(&self, key: &str) -> bool {
        self.recall(key).is_some()
    }

    /// Marks this index's parts of the search on all rows as done.
    fn give_parts(&self) {
        let missing = self.missing();
        missing.iter().filter(|key| key.starts_with(PARTS)).for_each(|key| self.keep(key, NOTHING));
    }

    /// Pieces to publish.
    fn pieces(&self) -> Pieces {
        let mut pieces = self.run_journal.known.clone();
        pieces.extend(lock(&self.known).clone());
        pieces.retain(|key, _| self.is_published(key));
        pieces
    }

    /// Own units that are not done.
    fn missing(&self) -> Vec<String> {
        self.plan.missing(self.index, |key| self.knows(key))
    }

    /// Whether own units with this key prefix are not done.
    fn lacks(&self, prefix: &str) -> bool {
        self.missing().iter().any(|key| key.starts_with(prefix))
    }
}

impl JournalStore for ShardJournal {
    fn recall(&self, key: &str) -> Option<String> {
        self.run_journal.recall(key).or_else(|| lock(&self.known).get(key).cloned())
    }

    fn keep(&self, key: &str, value: &str) {
        self.run_journal.keep(key, value);
        if self.is_published(key) {
            lock(&self.known).insert(key.to_owned(), value.to_owned());
        }
    }

    /// Whether a unit belongs to this index.
    fn is_own(&self, key: &str) -> bool {
        self.plan.units.number(key).is_some_and(|number| number % self.plan.of == self.index)
    }

    /// Whether a unit belongs to another index.
    fn is_others(&self, key: &str) -> bool {
        self.plan.units.number(key).is_some() && !self.is_own(key)
    }

    fn keeps_all(&self) -> bool {
        self.run_journal.keeps_all()
    }

    fn process_group(&self) -> Option<Arc<dyn ProcessGroup>> {
        self.process_group.as_ref().map(|process_group| Arc::clone(process_group) as Arc<dyn ProcessGroup>)
    }
}
