//! Cancellation of long calls into the backend, which does not poll for it.

use crate::CancelToken;
use ndarray::ArrayView2;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Flops from which work gets a thread of its own: about a second.
const LONG: f64 = 2e9;
/// Interval between checks for cancellation.
const POLL: Duration = Duration::from_millis(20);

/// Flops of `passes` passes over an m × n matrix that cost O(m·n·min(m, n)) each.
pub(super) fn pass_flops(a: &ArrayView2<f64>, passes: f64) -> f64 {
    passes * a.len() as f64 * a.nrows().min(a.ncols()) as f64
}

/// Whether work of this many flops runs on its own thread.
pub(super) fn is_interruptible(flops: f64) -> bool {
    flops >= LONG && CancelToken::current().is_set()
}

/// Runs `work` of an estimated number of flops on a matrix. Long work that may be cancelled runs on its own thread with
/// a copy of the matrix; on cancellation that thread is abandoned.
pub(super) fn interruptible<T: Send + 'static>(
    a: ArrayView2<f64>,
    flops: f64,
    work: impl FnOnce(ArrayView2<f64>) -> T + Send + 'static,
) -> T {
    if !is_interruptible(flops) {
        return work(a);
    }
    let (halt, a, threads) = (CancelToken::current(), a.to_owned(), rayon::current_num_threads());
    halt.check();
    let (done, ended) = sync_channel(1);
    let worker = std::thread::spawn(move || {
        // The same number of threads as the caller's, so that results are equal.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let work = || work(a.view());
        let _nobody_waits = done.send(pool.map_or_else(|_| None, |pool| Some(pool.install(work))));
    });
    loop {
        match ended.recv_timeout(POLL) {
            Ok(Some(result)) => return result,
            Err(RecvTimeoutError::Timeout) => halt.check(),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match worker.join() {
        Err(panic) => resume_unwind(panic),
        Ok(()) => resume_unwind(Box::new("a thread for linear algebra cannot be started")),
    }
}
