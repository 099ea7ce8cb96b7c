//! Handles interruptions.

use crate::exit;
use crate::terminal::note;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vaglio::core::{StopReason, StopSign};

/// Whether work is running that checks for stops; reading and waiting do not.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// Whether the user has asked to stop.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Whether the result is written, or the run has failed.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Installs the handler of interruptions (Ctrl-C). A computing run finishes its step after the first one and ends at
/// once after the second; anything else ends at the first.
pub fn listen() {
    let listen = ctrlc::set_handler(|| {
        if !RUNNING.load(Ordering::SeqCst) || ASKED.swap(true, Ordering::SeqCst) {
            end(exit::INTERRUPTED);
        }
        note(&"finishing this step; press again to stop now");
    });
    if let Err(error) = listen {
        tracing::warn!("an interruption will end the run at once: {error}");
    }
    // A file size limit then fails the write instead of killing the process.
    // SAFETY: no handler is set; the signal is ignored.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Marks the result as complete.
pub fn run_ends() {
    ENDED.store(true, Ordering::SeqCst);
    RUNNING.store(false, Ordering::SeqCst);
}

/// Ends the process if the run does not end by itself within [`LATEST`] of a signal or of `limit`. The journal is kept.
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
            end(if is_over() { exit::LIMITED } else { exit::INTERRUPTED });
        }
    });
}

/// Ends the process, its trace and the programs that it started.
fn end(code: u8) -> ! {
    crate::end_helpers();
    std::process::exit(i32::from(code));
}

/// Grace period of a run after a stop, and polling interval for stops.
const LATEST: Duration = Duration::from_millis(4500);
const POLL: Duration = Duration::from_millis(20);

/// Stop sign of the user's interruptions; its first check marks the run as started.
pub fn sign() -> StopSign {
    StopSign::new(|| {
        if !RUNNING.load(Ordering::Relaxed) {
            RUNNING.store(true, Ordering::SeqCst);
        }
        ASKED.load(Ordering::SeqCst).then_some(StopReason::Interrupted)
    })
}
