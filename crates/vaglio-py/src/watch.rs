//! Work without the interpreter's lock, which looks for signals and shows progress meanwhile.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use vaglio::pipeline::pool;
use vaglio_core::{Answer, Error, Event, Observer, StopReason, StopSign};

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(50);
/// What a trial of a part takes before it is reported, and after the sign to stop before it is left.
const SLOW: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_millis(300);
/// Bytes of the stack of the thread that works.
const STACK: usize = 16 << 20;

/// How far work is: what is done, how much of it, of how much, and the loss so far.
type State = (String, f64, f64, Option<f64>);

/// An observer that remembers the last it saw.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<State>>);

impl Observer for Seen {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *event {
            Event::Begin { steps } => *seen = ("search".into(), 0.0, steps as f64, None),
            Event::Stage { what, pieces } => *seen = (what.into(), 0.0, pieces as f64, None),
            Event::Step(step) => (seen.1, seen.3) = (seen.1 + 1.0, Some(step.score.loss)),
            Event::Piece => seen.1 += 1.0,
            Event::Visited { done, of } => (seen.1, seen.2) = (done, of),
            _ => {}
        }
        Answer::Continue
    }
}

/// Does `work` on so many threads, 0 for as many as there are processors, without the interpreter's lock, which it takes again
/// and again to look for signals and to call `progress` with the state. A signal that raises ends the work, and then is raised.
pub fn watched<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Seen, StopSign) -> Result<T, Error> + Send,
) -> PyResult<Result<T, Error>> {
    let (seen, asked) = (Seen::default(), Arc::new(AtomicBool::new(false)));
    let told = Arc::clone(&asked);
    let sign = StopSign::new(move || told.load(Ordering::Relaxed).then_some(StopReason::Interrupted));
    let sign = sign.leaving(SLOW, GRACE, |_| {});
    let state = seen.clone();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, ended) = mpsc::channel::<()>();
            let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                let _until_here = done;
                pool(threads)?.install(|| work(seen, sign))
            })?;
            let mut raised = None;
            while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(TICK) {
                if raised.is_none() {
                    raised = Python::attach(|py| looked(py, progress.as_ref(), &state)).err();
                    asked.store(raised.is_some(), Ordering::Relaxed);
                }
            }
            let outcome = worker.join().map_err(|_| PyRuntimeError::new_err("vaglio panicked, which is a bug of it"));
            raised.map_or(outcome, Err)
        })
    })
}

/// Looks for signals and shows the state.
fn looked(py: Python<'_>, progress: Option<&Py<PyAny>>, state: &Seen) -> PyResult<()> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(()) };
    let now = state.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if now.0.is_empty() {
        return Ok(());
    }
    progress.call1(py, now).map(drop)
}
