//! Monitor of a run from files to files: its journal, and its time and memory limits.

use super::journal::RunJournal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use vaglio_core::StopReason;
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_search::{Journal, Monitor};
use vaglio_tables::budget::resident_within;

/// Minimum interval between memory queries, in milliseconds.
const ASKED: u64 = 10;

/// Adds the run's journal and the pipeline's limits to a monitor; time counts from `start`. Memory is what the system
/// reports, not an estimate.
pub fn limit_monitor<'o>(
    given: Monitor<'o>,
    book: &Arc<RunJournal>,
    start: Instant,
    pipeline: &ValidPipeline,
) -> Monitor<'o> {
    let most = pipeline.limits.budget().memory();
    let journal = Journal::new(Arc::<RunJournal>::clone(book));
    let book = Arc::clone(book);
    let (held, last) = (AtomicU64::new(0), AtomicU64::new(0));
    let is_full = move || {
        let now = start.elapsed().as_millis() as u64;
        if now >= last.load(Ordering::Relaxed) + ASKED {
            last.store(now, Ordering::Relaxed);
            held.fetch_max(resident_within(most).unwrap_or(0), Ordering::Relaxed);
        }
        held.load(Ordering::Relaxed) > most
    };
    // A failed journal ends the run with its error.
    let stop = given.stop.or(move || book.has_failed().then_some(StopReason::Interrupted));
    let stop = stop.or(move || is_full().then_some(StopReason::Limit));
    Monitor { observer: given.observer, journal, stop: stop.or_after(start, pipeline.most_time()) }
}
