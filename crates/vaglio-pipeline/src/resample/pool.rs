//! Jobs on the pool, with one monitor for all of them.

use super::room::Room;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use vaglio_core::{Answer, Event, Journal, Monitor, Observer, Result, StopReason, StopSign};

/// The results of jobs 0, …, `count` − 1 in their order, at most as many under way as there are threads.
///
/// # Errors
/// That of the first job that failed, of those that were begun.
pub fn in_turn<T: Send>(count: usize, job: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    by_workers(rayon::current_num_threads(), count, job)
}

/// The same of repetitions of a search, at most as many under way as there is room for.
///
/// # Errors
/// Those of [`in_turn`].
pub fn repeated<T: Send>(room: &Room, count: usize, job: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
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
    rayon::scope(|scope| {
        for _ in 0..workers.min(count) {
            scope.spawn(|_| worker());
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A monitor that many walks share.
pub struct Watcher<'o> {
    monitor: Mutex<Monitor<'o>>,
    stopped: Mutex<Option<StopReason>>,
    journal: Journal,
    stop: StopSign,
}

impl<'o> Watcher<'o> {
    /// Of a monitor.
    pub fn new(monitor: impl Into<Monitor<'o>>) -> Self {
        let monitor = monitor.into();
        let (journal, stop) = (monitor.journal.clone(), monitor.stop.clone());
        Watcher { monitor: Mutex::new(monitor), stopped: Mutex::new(None), journal, stop }
    }

    /// Shows that work goes on, or a step of a walk that is shown itself.
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

    /// A stage begins that has so many pieces.
    pub fn stage(&self, what: &str, pieces: usize) {
        self.show(&Event::Stage { what, pieces });
    }

    /// A piece of the stage is done.
    pub fn piece(&self) {
        self.show(&Event::Piece);
    }

    /// Why the walks are to stop, if they are; work that asks this is cut short then.
    pub fn stopped(&self) -> Option<StopReason> {
        let Ok(mut stopped) = self.stopped.lock() else { return None };
        *stopped = stopped.or_else(|| self.stop.reason());
        *stopped
    }

    /// Why work was cut short, if some was.
    pub fn was_stopped(&self) -> Option<StopReason> {
        self.stopped.lock().map_or(None, |stopped| *stopped)
    }

    /// What ends work in the middle of a step.
    pub fn sign(&self) -> &StopSign {
        &self.stop
    }

    /// Where finished work is kept.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The observer of one walk, whose work is kept in that part of the journal.
    pub fn member(&self, journal: Journal) -> Member<'_, 'o> {
        Member { watcher: self, journal, leads: false }
    }

    /// The same of a walk whose steps are shown.
    pub(crate) fn leader(&self, journal: Journal) -> Member<'_, 'o> {
        Member { leads: true, ..self.member(journal) }
    }
}

/// One of the walks that share a monitor: it asks at every step, and shows none unless it leads.
pub struct Member<'w, 'o> {
    watcher: &'w Watcher<'o>,
    journal: Journal,
    leads: bool,
}

impl Member<'_, '_> {
    /// The monitor of this walk.
    pub fn monitor(&mut self) -> Monitor<'_> {
        let (journal, stop) = (self.journal.clone(), self.watcher.sign().clone());
        Monitor { observer: self, journal, stop }
    }
}

impl Observer for Member<'_, '_> {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        match event {
            _ if self.leads => self.watcher.ask(event),
            Event::Step(_) | Event::Tick | Event::Visited { .. } => self.watcher.ask(&Event::Tick),
            _ => Answer::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::Error;

    #[test]
    fn results_come_in_order_and_the_first_failure_wins() {
        assert_eq!(in_turn(100, Ok).unwrap(), (0..100).collect::<Vec<_>>());
        assert!(in_turn(0, Ok).unwrap().is_empty());
        let failing = |index: usize| if index >= 3 { Err(Error::Numerical(index.to_string())) } else { Ok(index) };
        assert!(matches!(in_turn(50, failing), Err(Error::Numerical(_))));
    }
}
