//! Computes the units of one index, with a journal that owns them.

use super::ledger::Shards;
use super::parts::SearchParts;
use super::plan::ShardPlan;
use crate::evaluations::{RepetitionInput, repetitions};
use crate::journal::{Pieces, RunJournal};
use crate::run::RunStart;
use crate::work_units::{PARTS, SEARCH, SEARCH_INDEX, waits_for_search};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vaglio_core::{Design, Error, ProcessGroup, Result, StopReason, StopSign, lock};
use vaglio_pipeline::resampling::{self, StageMonitor, TunedSearch};
use vaglio_search::{Journal, JournalStore, Monitor};

/// Polling interval while waiting for another index.
const LOOK: Duration = Duration::from_millis(200);

/// Context of the units' computations.
pub struct WorkContext<'a> {
    shards: &'a Shards,
    journal: &'a ShardJournal,
    start: &'a RunStart,
    design: Design,
}

impl<'a> WorkContext<'a> {
    /// Prepares the work of an index. Dropping it drops the caches of the design.
    pub fn new(shards: &'a Shards, journal: &'a ShardJournal, start: &'a RunStart) -> Result<Self> {
        let design = start.selector.design_at(&start.prepared.train, Some(&start.design))?;
        Ok(WorkContext { shards, journal, start, design: design.with_sign(StopSign::default()) })
    }

    /// Works on an index while there is anything to do, or to wait for at most `wait`.
    pub fn run(&self, wait: Duration, monitor: &mut Monitor<'_>) -> Result<()> {
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
pub const NOTHING: &str = "null";

/// A journal that owns the units of one index.
pub struct ShardJournal {
    pub run_journal: Arc<RunJournal>,
    pub plan: ShardPlan,
    pub index: usize,
    /// New pieces to publish, and pieces of other indexes.
    pub known: Mutex<Pieces>,
    /// Process group for the search on all rows.
    pub process_group: Option<Arc<SearchParts>>,
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
    pub fn pieces(&self) -> Pieces {
        let mut pieces = self.run_journal.known.clone();
        pieces.extend(lock(&self.known).clone());
        pieces.retain(|key, _| self.is_published(key));
        pieces
    }

    /// Own units that are not done.
    pub fn missing(&self) -> Vec<String> {
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
