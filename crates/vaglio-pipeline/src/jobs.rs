//! Parallel jobs with one shared monitor. Jobs of a run have keys of the journal, by which processes share them.

use crate::memory_slots::MemorySlots;
use crate::progress::Progress;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use vaglio_core::{CancelToken, Error, Result, SearchExtent, StopReason, StopSign, lock, saved};
use vaglio_search::{Event, Journal, Monitor, Observer};

/// Results of jobs 0, …, `count` − 1 in order; at most as many jobs run at once as there are threads and memory slots.
///
/// # Errors
/// Returns the error of the failed job with the lowest index, among those begun.
pub fn run_parallel<T: Send>(
    slots: &MemorySlots,
    count: usize,
    job: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (workers, _occupied) = slots.some(rayon::current_num_threads().min(count));
    run_items(workers, 0..count, |_, index| job(index))
}

/// Like [`run_parallel`], by some workers, for jobs that each take an item.
pub fn run_items<I: Send, T: Send>(
    workers: usize,
    items: impl IntoIterator<Item = I>,
    job: impl Fn(usize, I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let items: Vec<I> = items.into_iter().collect();
    let workers = workers.min(items.len());
    let (items, failed) = (Mutex::new(items.into_iter().enumerate()), AtomicBool::new(false));
    let done: Mutex<Vec<(usize, Result<T>)>> = Mutex::default();
    let next = || if failed.load(Ordering::Relaxed) { None } else { lock(&items).next() };
    let worker = || {
        while let Some((index, item)) = next() {
            let result = job(index, item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            lock(&done).push((index, result));
        }
    };
    let halt = CancelToken::current();
    rayon::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|_| {
                let _entered = halt.enter();
                worker();
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A monitor shared by many searches.
pub struct StageMonitor<'o> {
    state: Mutex<StageState<'o>>,
    /// Journal of finished work.
    pub journal: Journal,
    /// Stop sign that interrupts work within a step.
    pub stop: StopSign,
}

/// The shared monitor, and the progress of the current stage.
struct StageState<'o> {
    monitor: Monitor<'o>,
    stopped: Option<StopReason>,
    /// Share done of each piece, and their sum.
    pieces: Vec<f64>,
    done: f64,
    /// Share shown last.
    shown: f64,
    /// Number of stages begun, by name.
    begun: HashMap<String, usize>,
}

/// Smallest increase of the share that is shown.
const SHOWN: f64 = 0.005;

impl<'o> StageMonitor<'o> {
    /// Wraps a monitor.
    pub fn new(monitor: impl Into<Monitor<'o>>) -> Self {
        let monitor = monitor.into();
        let (journal, stop) = (monitor.journal.clone(), monitor.stop.clone());
        let state =
            StageState { monitor, stopped: None, pieces: Vec::new(), done: 0.0, shown: 0.0, begun: HashMap::new() };
        StageMonitor { state: Mutex::new(state), journal, stop }
    }

    fn state(&self) -> MutexGuard<'_, StageState<'o>> {
        lock(&self.state)
    }

    /// Shows progress or a step of a leading search, and returns the observer's reason to stop.
    fn ask(&self, event: &Event<'_>) -> Option<StopReason> {
        let mut state = self.state();
        if state.stopped.is_none() {
            state.stopped = state.monitor.show(event);
        }
        state.stopped
    }

    fn show(&self, event: &Event<'_>) {
        let mut state = self.state();
        if state.stopped.is_none() {
            state.monitor.show(event);
        }
    }

    /// Begins a stage with this many pieces. A repeated name gets a number.
    pub fn stage(&self, what: &str, pieces: usize) {
        let mut state = self.state();
        (state.pieces, state.done, state.shown) = (vec![0.0; pieces], 0.0, 0.0);
        let times = state.begun.entry(what.to_owned()).or_default();
        *times += 1;
        let name = if *times > 1 { format!("{what} {times}") } else { what.to_owned() };
        drop(state);
        self.show(&Event::Stage { what: &name, pieces });
    }

    /// Finishes one piece, by its index in the stage.
    pub fn end_piece(&self, piece: usize) {
        self.advance_piece(piece, 1.0);
        self.show(&Event::Piece);
    }

    /// Sets the share done of one piece, which never decreases.
    fn advance_piece(&self, piece: usize, share: f64) {
        let mut state = self.state();
        let Some(own) = state.pieces.get_mut(piece) else { return };
        let more = (share - *own).max(0.0);
        *own += more;
        state.done += more;
        let share = state.done / state.pieces.len() as f64;
        if share - state.shown >= SHOWN {
            state.shown = share;
            drop(state);
            self.show(&Event::Share(share));
        }
    }

    /// Runs jobs 0, …, `count` − 1 as the stage `what`, one piece each. Returns `None` if stopped, or if a job does.
    ///
    /// # Errors
    /// Returns the error of the failed job with the lowest number, among those begun.
    pub fn jobs<T: Send>(
        &self,
        what: &str,
        count: usize,
        job: impl Fn(usize) -> Result<Option<T>> + Sync,
    ) -> Result<Option<Vec<T>>> {
        self.jobs_in(what, &MemorySlots::default(), count, job)
    }

    /// Like [`StageMonitor::jobs`], with as many jobs at once as memory allows.
    pub(crate) fn jobs_in<T: Send>(
        &self,
        what: &str,
        slots: &MemorySlots,
        count: usize,
        job: impl Fn(usize) -> Result<Option<T>> + Sync,
    ) -> Result<Option<Vec<T>>> {
        self.stage(what, count);
        let done = run_parallel(slots, count, |number| {
            if self.check_stop().is_some() {
                return Ok(None);
            }
            let done = job(number);
            self.end_piece(number);
            done
        })?;
        Ok(if self.check_stop().is_some() { None } else { done.into_iter().collect() })
    }

    /// Reason to stop, if any, which then also counts as an interruption.
    pub fn check_stop(&self) -> Option<StopReason> {
        let mut state = self.state();
        state.stopped = state.stopped.or_else(|| self.stop.reason());
        state.stopped
    }

    /// Fails if the work is to stop.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_stop().map_or(Ok(()), |reason| Err(Error::Stopped(reason)))
    }

    /// Reason of an earlier interruption, if any.
    pub fn was_stopped(&self) -> Option<StopReason> {
        self.state().stopped
    }

    /// Runs work that a stop interrupts within a step; returns `None` then.
    pub fn ends<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        match self.stop.ends(work) {
            Err(Error::Stopped(reason)) => {
                self.state().stopped.get_or_insert(reason);
                Ok(None)
            }
            done => done.map(Some),
        }
    }

    /// Observer of the search of one piece, by its index in the stage, with its part of the journal.
    pub fn subtask(&self, journal: Journal, piece: usize) -> SubTask<'_, 'o> {
        SubTask { piece: Some(piece), ..self.shown_subtask(journal) }
    }

    /// Observer of a search whose steps are shown.
    pub(crate) fn shown_subtask(&self, journal: Journal) -> SubTask<'_, 'o> {
        SubTask { watcher: self, journal, piece: None, start: 0, sizes: None, stage: Progress::default() }
    }
}

/// Share beyond which progress slows, since the path may be longer than expected.
const OPEN: f64 = 0.9;

/// Observer of one of the searches that share a monitor. Each step may stop it; only a leading search shows its steps.
pub struct SubTask<'w, 'o> {
    pub watcher: &'w StageMonitor<'o>,
    journal: Journal,
    /// Index of the search among the pieces of the stage; `None` for a leading search.
    piece: Option<usize>,
    /// First size of the path.
    start: usize,
    /// Expected number of sizes after the first, if known.
    sizes: Option<f64>,
    stage: Progress,
}

/// First checkpoint of a choice.
pub const FIRST_CHECKPOINT: usize = 20;

/// Expected number of sizes of a cross-validated path, for a search of up to `largest` columns. It is one checkpoint
/// beyond a typical size of the lowest loss.
pub fn expected_sizes(largest: usize, patience: Option<usize>) -> usize {
    patience.map_or(largest, |patience| largest.min(patience.saturating_mul(2).saturating_add(FIRST_CHECKPOINT)))
}

impl<'w, 'o> SubTask<'w, 'o> {
    /// Sets the expected sizes of the path: downwards from all columns, or upwards to the expected size in folds.
    #[must_use]
    pub fn with_sizes(self, extent: Option<SearchExtent>, patience: Option<usize>) -> Self {
        let Some(extent) = extent else { return self };
        let start = extent.start;
        let end = if start >= extent.largest {
            start.saturating_sub(extent.steps)
        } else {
            expected_sizes(extent.largest, patience).max(start + 1)
        };
        SubTask { start, sizes: Some(start.abs_diff(end).max(1) as f64), ..self }
    }

    /// Monitor of this search.
    pub fn monitor(&mut self) -> Monitor<'_> {
        let (journal, stop) = (self.journal.clone(), self.watcher.stop.clone());
        Monitor { observer: self, journal, stop }
    }

    /// Share of the work done at a step, if the sizes are known; always below 1.
    fn share(&self, event: &Event<'_>) -> Option<f64> {
        let Event::Step(step) = event else { return None };
        let share = step.size.abs_diff(self.start) as f64 / self.sizes?;
        Some(if share <= OPEN { share } else { 1.0 - (1.0 - OPEN) * OPEN / share })
    }
}

impl Observer for SubTask<'_, '_> {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        let share = self.share(event);
        let Some(piece) = self.piece else {
            let answer = self.watcher.ask(event);
            share.into_iter().for_each(|share| self.watcher.show(&Event::Share(share)));
            return answer;
        };
        let share = share.or_else(|| self.stage.see(event).then(|| OPEN * self.stage.share()));
        share.into_iter().for_each(|share| self.watcher.advance_piece(piece, share));
        match event {
            Event::Step(_) | Event::Tick | Event::Share(_) | Event::Visited { .. } => self.watcher.ask(&Event::Tick),
            _ => None,
        }
    }
}

/// Jobs 0, …, `count` − 1 of one kind.
#[saved]
#[derive(Clone, PartialEq, Eq)]
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
    /// Fails like [`StageMonitor::jobs`].
    pub fn run<T: Serialize + DeserializeOwned + Send>(
        &self,
        what: &str,
        slots: &MemorySlots,
        watcher: &StageMonitor<'_>,
        job: impl Fn(usize, SubTask<'_, '_>) -> Result<Option<T>> + Sync,
    ) -> Result<Option<Vec<T>>> {
        watcher.jobs_in(what, slots, self.count, |number| {
            let key = self.key(number);
            let subtask = || watcher.subtask(watcher.journal.within(&key), number);
            watcher.journal.once(&key, || job(number, subtask()))
        })
    }
}
