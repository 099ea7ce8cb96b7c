//! Functions of Python that parts call.
//!
//! They are called by the thread that waits for the work, and never by one that works: an interruption is raised in the function
//! itself, and a thread that is left behind is in no code of Python, whose interpreter may end before it does.

use crate::model::doubles;
use ndarray::{Array2, ArrayView1, Axis};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use vaglio_core::{Error, Result};

/// A call of a function: its arrays, row by row, and names of columns. The answer is a number.
pub struct Call {
    name: String,
    arrays: Vec<Option<Array2<f64>>>,
    columns: Vec<String>,
    answer: Sender<Result<f64>>,
}

/// A call, or `None` where the work ended.
pub type Message = Option<Call>;

/// Where calls of each function are sent to.
static KNOWN: LazyLock<Mutex<HashMap<String, Sender<Message>>>> = LazyLock::new(Mutex::default);

fn known() -> MutexGuard<'static, HashMap<String, Sender<Message>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Functions of Python that parts of the kind `python` know by their names, until they are closed.
#[pyclass(module = "vaglio._vaglio", frozen)]
pub struct Functions {
    functions: Vec<(String, Py<PyAny>)>,
    sender: Sender<Message>,
    calls: Mutex<Receiver<Message>>,
}

#[pymethods]
impl Functions {
    /// Functions with their names, to which a number is added where they are taken.
    #[new]
    fn new(mut functions: Vec<(String, Py<PyAny>)>) -> Self {
        let (sender, calls) = mpsc::channel();
        let mut known = known();
        for (name, _) in &mut functions {
            let numbered = (2..).map(|number| format!("{name}-{number}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !known.contains_key(name));
            *name = free.unwrap_or_default();
            known.insert(name.clone(), sender.clone());
        }
        Functions { functions, sender, calls: Mutex::new(calls) }
    }

    /// The names by which they are known.
    fn names(&self) -> Vec<&str> {
        self.functions.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Makes them unknown.
    fn close(&self) {
        let mut known = known();
        self.functions.iter().for_each(|(name, _)| drop(known.remove(name)));
    }
}

impl Functions {
    /// No functions.
    pub fn none() -> Self {
        Functions::new(Vec::new())
    }

    /// Where calls, and the end of the work, are sent to, and where they come from.
    pub fn channel(&self) -> (Sender<Message>, MutexGuard<'_, Receiver<Message>>) {
        (self.sender.clone(), self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes a call and sends its answer. What is no failure of the function, such as an interruption, is not answered: the call
    /// comes back with it.
    pub fn answer(&self, py: Python<'_>, call: Call) -> std::result::Result<(), (PyErr, Call)> {
        let answer = match self.called(py, &call) {
            Ok(number) => Ok(number),
            Err(error) if error.is_instance_of::<PyException>(py) => Err(failed(py, &error)),
            Err(error) => return Err((error, call)),
        };
        // Who asked may have been left.
        let _ = call.answer.send(answer);
        Ok(())
    }

    fn called(&self, py: Python<'_>, call: &Call) -> PyResult<f64> {
        let Some((_, function)) = self.functions.iter().find(|(name, _)| *name == call.name) else {
            return Ok(f64::NAN);
        };
        let arrays = call.arrays.iter().map(|array| array.as_ref().map(|all| doubles(py, all.view())).transpose());
        let arrays: Vec<_> = arrays.collect::<PyResult<_>>()?;
        let shapes: Vec<_> = call.arrays.iter().map(|array| array.as_ref().map(Array2::dim)).collect();
        function.call1(py, (arrays, shapes, &call.columns))?.extract(py)
    }
}

/// What the function raised, as a failure of arithmetic.
fn failed(py: Python<'_>, error: &PyErr) -> Error {
    let name = error.get_type(py).name().map_or_else(|_| "an exception".into(), |name| name.to_string());
    Error::Numerical(format!("the function raised {name}: {}", error.value(py)))
}

/// Asks the function of this name, and waits for its answer.
///
/// # Errors
/// Of the function, or where nobody calls it any more.
pub fn ask(name: &str, arrays: [Option<Array2<f64>>; 3], columns: Vec<String>) -> Result<f64> {
    let gone = || Error::Numerical(format!("the function `{name}` of Python is called no more"));
    let (answer, answered) = mpsc::channel();
    let call = Call { name: name.to_owned(), arrays: arrays.into(), columns, answer };
    let sent = known().get(name).is_some_and(|sender| sender.send(Some(call)).is_ok());
    if sent { answered.recv().map_err(|_| gone())? } else { Err(gone()) }
}

/// Weights as an array of one row.
pub fn as_row(weights: &[f64]) -> Array2<f64> {
    ArrayView1::from(weights).insert_axis(Axis(0)).to_owned()
}

/// Refuses a name by which no function is known.
pub fn check(name: &str) -> Result<()> {
    match known().contains_key(name) {
        true => Ok(()),
        false => Err(Error::setting("name", format!("no function of Python is known as `{name}`"))),
    }
}
