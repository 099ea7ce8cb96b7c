//! Python functions that parts call.
//!
//! The thread that waits for the work calls them, never a worker thread. So an interruption is raised inside the
//! function. An abandoned thread, which may outlive the interpreter, runs no Python code.

use crate::model::doubles;
use ndarray::{Array2, ArrayView1, Axis};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Duration;
use vaglio_core::{Error, Result, checkpoint, lock};

/// Time between two checks for a stop while an answer is awaited.
const POLL: Duration = Duration::from_millis(20);

/// A call of a function with row-major arrays, each with its shape, and column names; the answer is a number.
pub struct Call {
    name: String,
    arrays: Vec<Option<Array2<f64>>>,
    columns: Vec<String>,
    answer: Sender<Result<f64>>,
}

/// A call, or `None` at the end of the work.
pub type Message = Option<Call>;

/// Senders of calls to each function.
static KNOWN: LazyLock<Mutex<HashMap<String, Sender<Message>>>> = LazyLock::new(Mutex::default);

/// Python functions that parts of the kind `python` know by name, until they are closed.
#[pyclass(module = "vaglio._vaglio", frozen)]
pub struct Functions {
    functions: Vec<(String, Py<PyAny>)>,
    sender: Sender<Message>,
    calls: Mutex<Receiver<Message>>,
}

#[pymethods]
impl Functions {
    /// Registers functions by name, with a number added if the name is taken.
    #[new]
    pub fn new(mut functions: Vec<(String, Py<PyAny>)>) -> Self {
        let (sender, calls) = mpsc::channel();
        let mut known = lock(&KNOWN);
        for (name, _) in &mut functions {
            let numbered = (2..).map(|number| format!("{name}-{number}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !known.contains_key(name));
            *name = free.unwrap_or_default();
            known.insert(name.clone(), sender.clone());
        }
        Functions { functions, sender, calls: Mutex::new(calls) }
    }

    /// Registered names.
    fn names(&self) -> Vec<&str> {
        self.functions.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Unregisters the functions.
    fn close(&self) {
        let mut known = lock(&KNOWN);
        self.functions.iter().for_each(|(name, _)| drop(known.remove(name)));
    }
}

impl Functions {
    /// Sender of calls and of the end of the work, and their receiver.
    pub fn channel(&self) -> (Sender<Message>, MutexGuard<'_, Receiver<Message>>) {
        (self.sender.clone(), lock(&self.calls))
    }

    /// Performs a call and sends the answer. Exceptions that are no failure of the function, such as an interruption,
    /// are not sent; the call is returned with them.
    pub fn answer(&self, py: Python<'_>, call: Call) -> Result<(), (PyErr, Call)> {
        let answer = match self.call_function(py, &call) {
            Ok(number) => Ok(number),
            Err(error) if error.is_instance_of::<PyException>(py) => Err(python_error(py, &error)),
            Err(error) => return Err((error, call)),
        };
        // The asking thread may have been abandoned.
        let _ = call.answer.send(answer);
        Ok(())
    }

    fn call_function(&self, py: Python<'_>, call: &Call) -> PyResult<f64> {
        let Some((_, function)) = self.functions.iter().find(|(name, _)| *name == call.name) else {
            return Ok(f64::NAN);
        };
        let bytes = |array: &Array2<f64>| doubles(py, array.view()).map(|bytes| (bytes, array.dim()));
        let arrays = call.arrays.iter().map(|array| array.as_ref().map(bytes).transpose());
        let arrays: Vec<_> = arrays.collect::<PyResult<_>>()?;
        function.call1(py, (arrays, &call.columns))?.extract(py)
    }
}

/// Converts an exception of the function to a numerical error.
fn python_error(py: Python<'_>, error: &PyErr) -> Error {
    let name = error.get_type(py).name().map_or_else(|_| "an exception".into(), |name| name.to_string());
    Error::Numerical(format!("the function raised {name}: {}", error.value(py)))
}

/// Calls the function of this name and waits for the answer.
///
/// # Errors
/// Returns the error of the function; fails if the function is no longer registered.
pub fn ask(name: &str, arrays: [Option<Array2<f64>>; 3], columns: Vec<String>) -> Result<f64> {
    let gone = || Error::Numerical(format!("the function `{name}` of Python is called no more"));
    let (answer, answered) = mpsc::channel();
    let call = Call { name: name.to_owned(), arrays: arrays.into(), columns, answer };
    let sent = lock(&KNOWN).get(name).is_some_and(|sender| sender.send(Some(call)).is_ok());
    if !sent {
        return Err(gone());
    }
    loop {
        match answered.recv_timeout(POLL) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) => checkpoint(),
            Err(RecvTimeoutError::Disconnected) => {
                checkpoint();
                return Err(gone());
            }
        }
    }
}

/// Weights as an array with one row.
pub fn as_row(weights: &[f64]) -> Array2<f64> {
    ArrayView1::from(weights).insert_axis(Axis(0)).to_owned()
}

/// Rejects an unknown function name.
pub fn check(name: &str) -> Result<()> {
    match lock(&KNOWN).contains_key(name) {
        true => Ok(()),
        false => Err(Error::setting("name", format!("no function of Python is known as `{name}`"))),
    }
}
