//! Interruption, from the first moment on.

use crate::failure::LIMITED;
use crate::terminal::note;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vaglio::core::{StopReason, StopSign};

/// Whether work is under way that asks whether it is to end. What only reads or waits does not.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// Whether the user asked to stop.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Whether the result is in place, or the run has failed.
static ENDED: AtomicBool = AtomicBool::new(false);

/// The exit code of what was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Handles interruptions from now on: a run that computes finishes its step, and ends at once at the second, like all else at
/// the first.
pub fn listen() {
    let listen = ctrlc::set_handler(|| {
        if !RUNNING.load(Ordering::SeqCst) || ASKED.swap(true, Ordering::SeqCst) {
            end(INTERRUPTED);
        }
        note(&"finishing this step; press again to stop now");
    });
    if let Err(error) = listen {
        tracing::warn!("an interruption will end the run at once: {error}");
    }
    // A limit of the size of files is told by a failing write then, not by the end of the process.
    // SAFETY: no handler is set; the signal is ignored.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// The result is complete and in place: nothing is left to be finished.
pub fn run_ends() {
    ENDED.store(true, Ordering::SeqCst);
    RUNNING.store(false, Ordering::SeqCst);
}

/// Ends the process where the run does not end by itself within [`LATEST`] of a signal or of `limit`. The journal is kept.
pub fn end_at_the_latest(limit: Option<Duration>) {
    let start = Instant::now();
    let is_over = move || limit.is_some_and(|limit| start.elapsed() >= limit);
    std::thread::spawn(move || {
        while !ASKED.load(Ordering::SeqCst) && !is_over() {
            std::thread::sleep(POLL);
        }
        std::thread::sleep(LATEST);
        if !ENDED.load(Ordering::SeqCst) {
            let reason = if is_over() { StopReason::Limit } else { StopReason::Interrupted };
            note(&format_args!("the run was stopped, since {}; there is no result yet", reason.sentence()));
            end(if is_over() { LIMITED } else { INTERRUPTED });
        }
    });
}

/// Ends the process and the programs that it started.
fn end(code: u8) -> ! {
    #[cfg(feature = "external")]
    vaglio_external::end_programs();
    std::process::exit(i32::from(code));
}

/// What a trial of a part takes before it is reported, and after the sign to stop before it is left.
const SLOW: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_millis(300);
/// What a run has left after the sign to stop, and how often the sign is asked before.
const LATEST: Duration = Duration::from_millis(4500);
const POLL: Duration = Duration::from_millis(20);

/// Whether the run is to end; the first time that this is asked, it has begun.
pub fn sign() -> StopSign {
    let asked = StopSign::new(|| {
        if !RUNNING.load(Ordering::Relaxed) {
            RUNNING.store(true, Ordering::SeqCst);
        }
        ASKED.load(Ordering::SeqCst).then_some(StopReason::Interrupted)
    });
    asked.leaving(SLOW, GRACE, |line| note(&line))
}
