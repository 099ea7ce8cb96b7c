//! The monitor of a run from files to files: its journal, and the time that it may take.

use super::journal::Book;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vaglio_core::{Journal, Monitor, StopReason, StopSign};

/// The given monitor with the journal of the run, from `start` on for as long as `most`.
pub(super) fn limited<'o>(given: Monitor<'o>, book: &Arc<Book>, start: Instant, most: Option<Duration>) -> Monitor<'o> {
    let journal = if book.is_kept() { Journal::new(Arc::<Book>::clone(book)) } else { Journal::default() };
    let (asked, book) = (given.stop, Arc::clone(book));
    let stop = StopSign::new(move || {
        let is_over = || most.is_some_and(|most| start.elapsed() >= most);
        let limited = || is_over().then_some(StopReason::Limit);
        // A journal that cannot go on ends the run, which fails then.
        let failed = || book.has_failed().then_some(StopReason::Interrupted);
        asked.reason().or_else(failed).or_else(limited)
    });
    Monitor { observer: given.observer, journal, stop }
}
