//! The monitor of a run from files to files: its journal, and the time and memory that it may take.

use super::journal::Book;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vaglio_core::{Journal, Monitor, StopReason, StopSign};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_tables::budget::{Budget, resident_within};

/// What a run may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub time: Option<Duration>,
    pub memory: Budget,
}

/// The time and the memory that a run of a pipeline may take.
pub(super) fn most(pipeline: &ValidPipeline) -> Most {
    Most { time: pipeline.most_time(), memory: pipeline.budget() }
}

/// How often the system is asked what the process holds, in milliseconds.
const ASKED: u64 = 10;

/// The given monitor with the journal of the run, from `start` on for as long as time and memory allow. Memory counts as the
/// system gave it, whatever was estimated.
pub(super) fn limited<'o>(given: Monitor<'o>, book: &Arc<Book>, start: Instant, most: Most) -> Monitor<'o> {
    let journal = if book.is_kept() { Journal::new(Arc::<Book>::clone(book)) } else { Journal::default() };
    let book = Arc::clone(book);
    let (held, last) = (AtomicU64::new(0), AtomicU64::new(0));
    let is_full = move || {
        let now = start.elapsed().as_millis() as u64;
        if now >= last.load(Ordering::Relaxed) + ASKED {
            last.store(now, Ordering::Relaxed);
            held.fetch_max(resident_within(most.memory.limit()).unwrap_or(0), Ordering::Relaxed);
        }
        held.load(Ordering::Relaxed) > most.memory.limit()
    };
    // A journal that cannot go on ends the run, which fails then.
    let stop = given.stop.or(move || book.has_failed().then_some(StopReason::Interrupted));
    let stop = stop.or(move || is_full().then_some(StopReason::Limit));
    Monitor { observer: given.observer, journal, stop: timed(stop, start, most.time) }
}

/// The sign that also ends a run when its time is over, where there is a limit.
pub(super) fn timed(stop: StopSign, start: Instant, most: Option<Duration>) -> StopSign {
    match most {
        Some(time) => stop.or_after(start, time),
        None => stop,
    }
}
