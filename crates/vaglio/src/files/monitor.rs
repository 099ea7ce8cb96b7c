//! The monitor of a run from files to files: its journal, and the time and memory that it may take.

use super::journal::Book;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vaglio_core::{Journal, Monitor, StopReason, StopSign};
use vaglio_tables::budget::{Budget, resident};

/// What a run may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub time: Option<Duration>,
    pub memory: Budget,
}

/// How often the system is asked what the process holds, in milliseconds.
const ASKED: u64 = 10;

/// The given monitor with the journal of the run, from `start` on for as long as time and memory allow. Memory counts as the
/// system gave it, whatever was estimated.
pub(super) fn limited<'o>(given: Monitor<'o>, book: &Arc<Book>, start: Instant, most: Most) -> Monitor<'o> {
    let journal = if book.is_kept() { Journal::new(Arc::<Book>::clone(book)) } else { Journal::default() };
    let (asked, book) = (given.stop, Arc::clone(book));
    let (held, last) = (AtomicU64::new(0), AtomicU64::new(0));
    let stop = StopSign::new(move || {
        let now = start.elapsed();
        let milliseconds = now.as_millis() as u64;
        if milliseconds >= last.load(Ordering::Relaxed) + ASKED {
            last.store(milliseconds, Ordering::Relaxed);
            held.fetch_max(resident().unwrap_or(0), Ordering::Relaxed);
        }
        let is_over = || most.time.is_some_and(|most| now >= most);
        let is_full = || held.load(Ordering::Relaxed) > most.memory.limit();
        let limited = || (is_over() || is_full()).then_some(StopReason::Limit);
        // A journal that cannot go on ends the run, which fails then.
        let failed = || book.has_failed().then_some(StopReason::Interrupted);
        asked.reason().or_else(failed).or_else(limited)
    });
    Monitor { observer: given.observer, journal, stop }
}
