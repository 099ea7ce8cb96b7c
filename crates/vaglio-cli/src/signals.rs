//! Interruption, from the first moment on.

use crate::terminal::note;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use vaglio::core::{StopReason, StopSign};

/// Whether work is under way that asks whether it is to end. What only reads or waits does not.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// Whether the user asked to stop.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The exit code of what was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Handles interruptions from now on: a run that computes finishes its step, and ends at once at the second, like all else at
/// the first.
pub fn listen() {
    let listen = ctrlc::set_handler(|| {
        if !RUNNING.load(Ordering::SeqCst) || ASKED.swap(true, Ordering::SeqCst) {
            #[cfg(feature = "external")]
            vaglio_external::end_programs();
            std::process::exit(i32::from(INTERRUPTED));
        }
        note(&"finishing this step; press again to stop now");
    });
    if let Err(error) = listen {
        tracing::warn!("an interruption will end the run at once: {error}");
    }
    // A limit of the size of files is told by a failing write then, not by the end of the process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// The result is complete and in place: nothing is left to be finished.
pub fn run_ends() {
    RUNNING.store(false, Ordering::SeqCst);
}

/// What a trial of a part takes before it is reported, and after the sign to stop before it is left.
const SLOW: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(2);

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
