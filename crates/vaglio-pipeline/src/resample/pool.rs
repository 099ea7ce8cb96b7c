//! Parallel jobs with one shared monitor.

use super::lockstep::expected_sizes;
use super::memory_slots::MemorySlots;
use crate::StageShare;
use crate::selector::ValidSelector;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use vaglio_core::{
    Answer, Design, Error, Event, Journal, Monitor, Observer, Result, SearchExtent, StopReason, StopSign,
};
use vaglio_kernels::CancelToken;

/// Results of jobs 0, …, `count` − 1 in order; at most as many jobs run at once as there are threads.
///
/// # Errors
/// Returns the error of the failed job with the lowest index, among those begun.
pub fn in_turn<T: Send>(count: usize, job: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    by_workers(rayon::current_num_threads(), count, job)
}

/// Like [`in_turn`], for repetitions of a search, limited by memory slots.
///
/// # Errors
/// Returns the errors of [`in_turn`].
pub fn repeated<T: Send>(room: &MemorySlots, count: usize, job: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let (workers, _occupied) = room.some(rayon::current_num_threads().min(count));
    by_workers(workers, count, job)
}

fn by_workers<T: Send>(workers: usize, count: usize, job: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::with_capacity(count));
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count || failed.load(Ordering::Relaxed) {
                return;
            }
            let result = job(index);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            if let Ok(mut done) = done.lock() {
                done.push((index, result));
            }
        }
    };
    let halt = CancelToken::current();
    rayon::scope(|scope| {
        for _ in 0..workers.min(count) {
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
    monitor: Mutex<Monitor<'o>>,
    stopped: Mutex<Option<StopReason>>,
    journal: Journal,
    stop: StopSign,
    stage: Mutex<StageDone>,
    /// Size at which the leading search ends; 0 if unknown.
    until: AtomicUsize,
}

/// Progress of a stage.
#[derive(Default)]
struct StageDone {
    pieces: f64,
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
        let (stopped, stage) = (Mutex::default(), Mutex::default());
        StageMonitor { monitor: Mutex::new(monitor), stopped, journal, stop, stage, until: AtomicUsize::new(0) }
    }

    /// Shows progress or a step of a leading search, and returns the answer of the observer.
    fn ask(&self, event: &Event<'_>) -> Answer {
        if let Some(reason) = self.was_stopped() {
            return Answer::Stop(reason);
        }
        let answer = self.monitor.lock().map_or(Answer::Continue, |mut monitor| monitor.show(event));
        if let (Answer::Stop(reason), Ok(mut stopped)) = (answer, self.stopped.lock()) {
            *stopped = Some(reason);
        }
        answer
    }

    fn show(&self, event: &Event<'_>) {
        if self.was_stopped().is_none()
            && let Ok(mut monitor) = self.monitor.lock()
        {
            monitor.show(event);
        }
    }

    /// Begins a stage with this many pieces. A repeated name gets a number.
    pub fn stage(&self, what: &str, pieces: usize) {
        let mut name = what.to_owned();
        if let Ok(mut stage) = self.stage.lock() {
            let mut begun = std::mem::take(&mut stage.begun);
            let times = begun.entry(name.clone()).and_modify(|times| *times += 1).or_insert(1);
            name += &if *times > 1 { format!(" {times}") } else { String::new() };
            *stage = StageDone { pieces: pieces as f64, begun, ..StageDone::default() };
        }
        self.show(&Event::Stage { what: &name, pieces });
    }

    /// Finishes a piece of the stage.
    pub fn piece(&self) {
        self.advance(1.0);
        self.show(&Event::Piece);
    }

    /// Advances the stage by a number of pieces or a part of one.
    fn advance(&self, by: f64) {
        let Ok(mut stage) = self.stage.lock() else { return };
        stage.done += by;
        let share = (stage.done / stage.pieces.max(1.0)).min(1.0);
        if share - stage.shown >= SHOWN {
            stage.shown = share;
            drop(stage);
            self.show(&Event::Share(share));
        }
    }

    /// Sets the size at which the leading search ends, if it is not the last.
    pub(crate) fn leads_to(&self, until: Option<usize>) {
        self.until.store(until.unwrap_or(0), Ordering::Relaxed);
    }

    /// Reason to stop, if any, which then also counts as an interruption.
    pub fn stopped(&self) -> Option<StopReason> {
        let Ok(mut stopped) = self.stopped.lock() else { return None };
        *stopped = stopped.or_else(|| self.stop.reason());
        *stopped
    }

    /// Reason of an earlier interruption, if any.
    pub fn was_stopped(&self) -> Option<StopReason> {
        self.stopped.lock().map_or(None, |stopped| *stopped)
    }

    /// Runs work that a stop interrupts within a step; returns `None` then.
    ///
    /// # Errors
    /// Returns the errors of the work.
    pub fn ends<T>(&self, work: impl FnOnce() -> Result<Option<T>>) -> Result<Option<T>> {
        match self.stop.ends(work) {
            Err(Error::Stopped(reason)) => {
                if let Ok(mut stopped) = self.stopped.lock() {
                    stopped.get_or_insert(reason);
                }
                Ok(None)
            }
            done => done,
        }
    }

    /// Stop sign that interrupts work within a step.
    pub fn sign(&self) -> &StopSign {
        &self.stop
    }

    /// Journal of finished work.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Observer of one search, with its part of the journal.
    pub fn member(&self, journal: Journal) -> SubTask<'_, 'o> {
        SubTask { watcher: self, journal, leads: false, extent: None, piece: None, stage: StageShare::default() }
    }

    /// Like [`StageMonitor::member`], for a search whose steps are shown.
    pub(crate) fn leader(&self, journal: Journal) -> SubTask<'_, 'o> {
        SubTask { leads: true, ..self.member(journal) }
    }
}

/// Expected sizes of a path, for progress.
#[derive(Debug, Clone, Copy)]
pub struct WalkExtent {
    start: usize,
    /// Number of sizes between start and end.
    sizes: f64,
}

/// Share beyond which progress slows, since the path may be longer than expected.
const OPEN: f64 = 0.9;

impl WalkExtent {
    /// Sizes from `start` to `end`, or beyond.
    fn new(start: usize, end: usize) -> Self {
        WalkExtent { start, sizes: start.abs_diff(end).max(1) as f64 }
    }

    /// Expected sizes of a search: downwards from all columns, or upwards to the expected size in folds.
    pub fn from_search_extent(search_extent: &SearchExtent, patience: Option<usize>) -> Self {
        match search_extent.start >= search_extent.largest {
            true => WalkExtent::new(search_extent.start, search_extent.start.saturating_sub(search_extent.steps)),
            false => WalkExtent::new(
                search_extent.start,
                expected_sizes(search_extent.largest, patience).max(search_extent.start + 1),
            ),
        }
    }

    /// Expected sizes of a selector's search on a design, if known.
    pub fn from_search(selector: &ValidSelector, design: &Design, patience: Option<usize>) -> Option<Self> {
        let search_extent = selector.search().extent(design).ok()?;
        Some(WalkExtent::from_search_extent(&search_extent, patience))
    }

    /// Number of sizes after the first.
    pub fn sizes(self) -> f64 {
        self.sizes
    }

    /// Share of the work done at a size; always below 1.
    pub fn share(self, size: usize) -> f64 {
        let share = size.abs_diff(self.start) as f64 / self.sizes;
        if share <= OPEN { share } else { 1.0 - (1.0 - OPEN) * OPEN / share }
    }
}

/// Phase of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PiecePhase {
    /// Training rows and their maps.
    Made,
    /// Search.
    Walked,
    /// Held-out losses of the models.
    Judged,
}

/// A piece of a stage with several phases.
pub struct Piece<'w, 'o> {
    watcher: &'w StageMonitor<'o>,
    /// Weight of each [`PiecePhase`], and the share of it that is done.
    parts: Mutex<[(f64, f64); 3]>,
}

impl<'w, 'o> Piece<'w, 'o> {
    /// A piece of the watcher's stage, with the weight of each [`PiecePhase`].
    pub fn new(watcher: &'w StageMonitor<'o>, parts: [f64; 3]) -> Self {
        Piece { watcher, parts: Mutex::new(parts.map(|part| (part, 0.0))) }
    }

    /// A piece that is a single search.
    pub fn whole(watcher: &'w StageMonitor<'o>) -> Self {
        Piece::new(watcher, [0.0, 1.0, 0.0])
    }

    /// Sets the finished share of a phase, from 0 to 1; a share never decreases.
    pub fn to(&self, of: PiecePhase, share: f64) {
        let Ok(mut parts) = self.parts.lock() else { return };
        let (weight, done) = &mut parts[of as usize];
        let more = *weight * (share - *done).max(0.0);
        *done = done.max(share);
        drop(parts);
        self.watcher.advance(more);
    }

    /// Finishes the piece.
    pub fn end(&self) {
        [PiecePhase::Made, PiecePhase::Walked, PiecePhase::Judged].into_iter().for_each(|of| self.to(of, 1.0));
        self.watcher.show(&Event::Piece);
    }
}

/// Observer of one of the searches that share a monitor. Each step may stop it; only the leading search shows its
/// steps.
pub struct SubTask<'w, 'o> {
    watcher: &'w StageMonitor<'o>,
    journal: Journal,
    leads: bool,
    extent: Option<WalkExtent>,
    piece: Option<&'w Piece<'w, 'o>>,
    stage: StageShare,
}

impl<'w, 'o> SubTask<'w, 'o> {
    /// Sets the expected sizes of the path.
    #[must_use]
    pub fn over(self, extent: Option<WalkExtent>) -> Self {
        SubTask { extent, ..self }
    }

    /// Sets the piece of the stage that the search belongs to, if any.
    #[must_use]
    pub fn for_piece(self, piece: Option<&'w Piece<'w, 'o>>) -> Self {
        SubTask { piece, ..self }
    }

    /// The shared watcher.
    pub(super) fn watcher(&self) -> &'w StageMonitor<'o> {
        self.watcher
    }

    /// Monitor of this search.
    pub fn monitor(&mut self) -> Monitor<'_> {
        let (journal, stop) = (self.journal.clone(), self.watcher.sign().clone());
        Monitor { observer: self, journal, stop }
    }

    /// Share of the search, or of a stage within it, that an event reports.
    fn share(&mut self, event: &Event<'_>) -> Option<f64> {
        match (event, self.extent) {
            (Event::Step(step), Some(extent)) => Some(match self.watcher.until.load(Ordering::Relaxed) {
                until if self.leads && until > 0 => WalkExtent::new(extent.start, until).share(step.size),
                _ => extent.share(step.size),
            }),
            (Event::Step(_), None) if self.leads => None,
            _ => self.stage.see(event).then(|| OPEN * self.stage.share()),
        }
    }
}

impl Observer for SubTask<'_, '_> {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        let share = self.share(event);
        if let (Some(piece), Some(share)) = (self.piece, share) {
            piece.to(PiecePhase::Walked, share);
        }
        match (event, share) {
            (Event::Step(_), Some(share)) if self.leads => {
                let answer = self.watcher.ask(event);
                self.watcher.show(&Event::Share(share));
                answer
            }
            _ if self.leads => self.watcher.ask(event),
            (Event::Step(_) | Event::Tick | Event::Share(_) | Event::Visited { .. }, _) => {
                self.watcher.ask(&Event::Tick)
            }
            _ => Answer::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_failure_wins() {
        assert_eq!(in_turn(100, Ok).unwrap(), (0..100).collect::<Vec<_>>());
        assert!(in_turn(0, Ok).unwrap().is_empty());
        let failing = |index: usize| if index >= 3 { Err(Error::Numerical(index.to_string())) } else { Ok(index) };
        assert!(matches!(in_turn(50, failing), Err(Error::Numerical(_))));
    }
}
