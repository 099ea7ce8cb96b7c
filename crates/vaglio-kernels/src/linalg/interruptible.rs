//! Work of the backend that may be stopped, although the backend asks nothing on the way.

use crate::Halt;
use ndarray::ArrayView2;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Floating-point operations of work that is worth a thread of its own: a second of them.
const LONG: f64 = 2e9;
/// How often it is asked whether to stop.
const POLL: Duration = Duration::from_millis(20);

/// Floating-point operations of so many passes over an m × n matrix, of which each costs O(m·n·min(m, n)).
pub(super) fn pass_flops(a: &ArrayView2<f64>, passes: f64) -> f64 {
    passes * a.len() as f64 * a.nrows().min(a.ncols()) as f64
}

/// Whether so many floating-point operations are done on a thread of their own.
pub(super) fn is_interruptible(flops: f64) -> bool {
    flops >= LONG && Halt::current().is_set()
}

/// Does work of so many floating-point operations on a matrix. Where it is long and may be stopped, it is done on a thread of its own with a
/// copy of the matrix, and that thread is left when it is to stop.
pub(super) fn interruptible<T: Send + 'static>(
    a: ArrayView2<f64>,
    flops: f64,
    work: impl FnOnce(ArrayView2<f64>) -> T + Send + 'static,
) -> T {
    if !is_interruptible(flops) {
        return work(a);
    }
    let (halt, a, threads) = (Halt::current(), a.to_owned(), rayon::current_num_threads());
    halt.check();
    let (done, ended) = sync_channel(1);
    let worker = std::thread::spawn(move || {
        // On as many threads as the caller has, so that results are the same.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let work = || work(a.view());
        let _nobody_waits = done.send(pool.map_or_else(|_| None, |pool| Some(pool.install(work))));
    });
    loop {
        match ended.recv_timeout(POLL) {
            Ok(Some(made)) => return made,
            Err(RecvTimeoutError::Timeout) => halt.check(),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match worker.join() {
        Err(panic) => resume_unwind(panic),
        Ok(()) => resume_unwind(Box::new("a thread for linear algebra cannot be started")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn long_work_is_left_and_its_result_is_the_same() {
        let a = ndarray::Array2::from_shape_fn((3, 3), |(i, j)| (i * 3 + j) as f64);
        let sum = |a: ArrayView2<f64>| (a.sum(), std::thread::current().id());
        let own = interruptible(a.view(), LONG, sum);
        assert_eq!(own, (36.0, std::thread::current().id()), "nothing may stop it");
        let goes_on = Halt::new(|| false).within(|| interruptible(a.view(), LONG, sum)).unwrap();
        assert!(goes_on.0 == 36.0 && goes_on.1 != own.1);
        let begun = Instant::now();
        let halt = Halt::new(move || begun.elapsed() > Duration::from_millis(100));
        let left = halt.within(|| interruptible(a.view(), LONG, |_| std::thread::sleep(Duration::from_secs(20))));
        assert!(left.is_none() && begun.elapsed() < Duration::from_secs(10));
    }
}
