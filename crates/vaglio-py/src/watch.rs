//! Runs work without the interpreter's lock, while checking signals and reporting progress.

use crate::errors::to_py_err;
use crate::functions::{Call, Functions};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use vaglio::Progress;
use vaglio::search::{Event, Observer};
use vaglio_core::{Error, StopReason, StopSign, lock};
use vaglio_pipeline::pipeline::pool;

/// Interval between signal checks.
const TICK: Duration = Duration::from_millis(50);
/// Time that an interruption waits for the work to end.
const PATIENCE: Duration = Duration::from_millis(600);
/// Stack size of the worker thread, in bytes.
const STACK: usize = 16 << 20;

/// Progress of the work, and the current loss.
type ProgressState = (Progress, Option<f64>);

/// An observer that remembers the last state.
#[derive(Clone, Default)]
pub struct ProgressObserver(Arc<Mutex<ProgressState>>);

impl Observer for ProgressObserver {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        let mut seen = lock(&self.0);
        seen.0.see(event);
        match *event {
            Event::Stage { .. } => seen.1 = None,
            Event::Step(step) => seen.1 = Some(step.score.loss),
            _ => {}
        }
        None
    }
}

/// A call from Python that works without the interpreter's lock.
#[derive(Default)]
pub struct WatchedCall<'f> {
    /// Functions that this thread calls for the work.
    pub functions: Option<&'f Functions>,
    /// Number of threads; 0 for all processors.
    pub threads: usize,
    /// Called with the state; the result so far is returned once it returns `True`.
    pub progress: Option<Py<PyAny>>,
    /// Whether an interruption waits until the work ends, since it writes files; else the work is abandoned in less than
    /// a second.
    pub writes_files: bool,
}

impl WatchedCall<'_> {
    /// Performs `work`. Takes the lock regularly to check signals and to report the state. An exception from a signal or
    /// from `progress` ends the work and is then raised.
    pub fn run<T: Send + 'static>(
        self,
        py: Python<'_>,
        work: impl FnOnce(ProgressObserver, StopSign) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let WatchedCall { functions, threads, progress, writes_files } = self;
        let (seen, asked) = (ProgressObserver::default(), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&asked);
        let sign = StopSign::new(move || flag.load(Ordering::Relaxed).then_some(StopReason::Interrupted));
        let mut watch = Watch { progress, state: seen.clone(), asked, raised: None, open: Vec::new() };
        let none = Functions::new(Vec::new());
        let functions = functions.unwrap_or(&none);
        py.detach(|| {
            let (sender, messages) = functions.channel();
            let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || {
                let work = || pool(threads).and_then(|pool| pool.install(|| work(seen, sign)));
                let outcome = catch_unwind(AssertUnwindSafe(work));
                // If nobody waits any more, nothing is lost.
                let _ = sender.send(None);
                outcome
            })?;
            let mut looked = Instant::now();
            loop {
                match messages.recv_timeout(TICK) {
                    Ok(Some(call)) => watch.answer(functions, call),
                    Ok(None) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                        let panicked = |_| PyRuntimeError::new_err("vaglio panicked, which is a bug of it");
                        let outcome = worker.join().flatten().map_err(panicked)?;
                        return watch.raised.map_or_else(|| outcome.map_err(to_py_err), |(error, _)| Err(error));
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                }
                if looked.elapsed() >= TICK {
                    looked = Instant::now();
                    watch.look();
                }
                if watch.raised.as_ref().is_some_and(|(_, since)| since.elapsed() > PATIENCE) {
                    // Threads waiting for an answer get none.
                    watch.open.clear();
                    if let Some((error, _)) = watch.raised.take_if(|_| !writes_files) {
                        return Err(error);
                    }
                }
            }
        })
    }
}

/// State while work is running.
struct Watch {
    progress: Option<Py<PyAny>>,
    state: ProgressObserver,
    asked: Arc<AtomicBool>,
    /// Exception raised, and when.
    raised: Option<(PyErr, Instant)>,
    /// Interrupted calls, whose trials the search abandons.
    open: Vec<Call>,
}

impl Watch {
    fn answer(&mut self, functions: &Functions, call: Call) {
        if self.raised.is_some() {
            return self.open.push(call);
        }
        if let Err((error, call)) = Python::attach(|py| functions.answer(py, call)) {
            self.raise(error);
            self.open.push(call);
        }
    }

    fn raise(&mut self, error: PyErr) {
        self.asked.store(true, Ordering::Relaxed);
        self.raised = Some((error, Instant::now()));
    }

    /// Checks signals and reports the state, unless an exception was raised.
    fn look(&mut self) {
        if self.raised.is_some() {
            return;
        }
        match Python::attach(|py| asks_to_stop(py, self.progress.as_ref(), &self.state)) {
            Ok(is_enough) => drop(self.asked.fetch_or(is_enough, Ordering::Relaxed)),
            Err(error) => self.raise(error),
        }
    }
}

/// Checks signals and reports the state; returns whether `progress` asked to stop.
fn asks_to_stop(py: Python<'_>, progress: Option<&Py<PyAny>>, state: &ProgressObserver) -> PyResult<bool> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(false) };
    let (stage, loss) = lock(&state.0).clone();
    if stage.what.is_empty() {
        return Ok(false);
    }
    // NumPy booleans count too; other return values are ignored.
    Ok(progress.call1(py, (stage.what, stage.done, stage.of, loss))?.extract::<bool>(py).unwrap_or(false))
}
