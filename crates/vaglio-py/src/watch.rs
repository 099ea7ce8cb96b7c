//! Work without the interpreter's lock, which looks for signals and shows progress meanwhile.

use crate::functions::{Call, Functions, Message};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use vaglio::pipeline::pool;
use vaglio_core::{Answer, Error, Event, Observer, StageShare, StopReason, StopSign};

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(50);
/// What a trial of a part takes before it is reported, and after the sign to stop before it is left.
const SLOW: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_millis(300);
/// How long an interruption waits for work that it ends.
const PATIENCE: Duration = Duration::from_millis(600);
/// Bytes of the stack of the thread that works.
const STACK: usize = 16 << 20;

/// How far work is, and the loss so far.
type State = (StageShare, Option<f64>);

/// An observer that remembers the last it saw.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<State>>);

impl Observer for Seen {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.0.see(event);
        match *event {
            Event::Begin { .. } | Event::Stage { .. } => seen.1 = None,
            Event::Step(step) => seen.1 = Some(step.score.loss),
            _ => {}
        }
        Answer::Continue
    }
}

/// How long an interruption waits for the work to end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As long as it takes, since it writes files.
    Waited,
    /// Not a second: what goes on is left to end by itself, and nothing of it is used.
    Left,
}

/// Does `work` on so many threads, 0 for as many as there are processors, without the interpreter's lock, which it takes again
/// and again to look for signals and to call `progress` with the state. A signal that raises ends the work, and then is raised;
/// a `progress` that gives `True` ends it with what there is.
pub fn watched<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    ending: Ending,
    work: impl FnOnce(Seen, StopSign) -> Result<T, Error> + Send + 'static,
) -> PyResult<Result<T, Error>> {
    watched_with(py, None, threads, progress, ending, work)
}

/// The same of work with parts that are functions of Python, which are called by this thread.
pub fn watched_with<T: Send + 'static>(
    py: Python<'_>,
    functions: Option<&Functions>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    ending: Ending,
    work: impl FnOnce(Seen, StopSign) -> Result<T, Error> + Send + 'static,
) -> PyResult<Result<T, Error>> {
    let (seen, asked) = (Seen::default(), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&asked);
    let sign = StopSign::new(move || flag.load(Ordering::Relaxed).then_some(StopReason::Interrupted));
    let sign = sign.leaving(SLOW, GRACE, |_| {});
    let mut watch = Watch { progress, state: seen.clone(), asked, raised: None, open: Vec::new() };
    let none = Functions::none();
    let functions = functions.unwrap_or(&none);
    py.detach(|| {
        let (sender, messages) = functions.channel();
        let (done, ended) = mpsc::channel();
        std::thread::Builder::new().stack_size(STACK).spawn(move || {
            let _end = WorkEnd(sender);
            let outcome = pool(threads).and_then(|pool| pool.install(|| work(seen, sign)));
            // Where nobody waits any more, nothing is lost.
            let _ = done.send(outcome);
        })?;
        let mut looked = Instant::now();
        loop {
            match messages.recv_timeout(TICK) {
                Ok(Some(call)) => watch.answer(functions, call),
                Ok(None) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let panicked = |_| PyRuntimeError::new_err("vaglio panicked, which is a bug of it");
                    let outcome = ended.recv().map_err(panicked)?;
                    return watch.raised.map_or(Ok(outcome), |(error, _)| Err(error));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                watch.look();
            }
            if let Some((_, since)) = &watch.raised
                && since.elapsed() > PATIENCE
            {
                // Whoever waits for an answer gets none.
                watch.open.clear();
                if ending == Ending::Left {
                    return watch.raised.map_or_else(|| unreachable!("it was just seen"), |(error, _)| Err(error));
                }
            }
        }
    })
}

/// Says that the work ended, whichever way.
struct WorkEnd(mpsc::Sender<Message>);

impl Drop for WorkEnd {
    fn drop(&mut self) {
        let _ = self.0.send(None);
    }
}

/// What is known while work goes on.
struct Watch {
    progress: Option<Py<PyAny>>,
    state: Seen,
    asked: Arc<AtomicBool>,
    /// What was raised, and when.
    raised: Option<(PyErr, Instant)>,
    /// Calls that were interrupted: the search leaves their trials.
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

    /// Looks for signals and shows the state, as long as nothing was raised.
    fn look(&mut self) {
        if self.raised.is_some() {
            return;
        }
        match Python::attach(|py| looked(py, self.progress.as_ref(), &self.state)) {
            Ok(is_enough) => drop(self.asked.fetch_or(is_enough, Ordering::Relaxed)),
            Err(error) => self.raise(error),
        }
    }
}

/// Looks for signals and shows the state; whether who is shown it has had enough.
fn looked(py: Python<'_>, progress: Option<&Py<PyAny>>, state: &Seen) -> PyResult<bool> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(false) };
    let (stage, loss) = state.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if stage.what().is_empty() {
        return Ok(false);
    }
    // Of NumPy as well; whatever is no truth value says nothing.
    Ok(progress.call1(py, (stage.what(), stage.done(), stage.of(), loss))?.extract::<bool>(py).unwrap_or(false))
}
