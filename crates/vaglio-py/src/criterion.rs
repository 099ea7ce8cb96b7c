//! A criterion that is a function of Python.

use crate::model::doubles;
use ndarray::{ArrayView1, Axis};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use vaglio_core::{Criterion, Design, Error, Estimate, Feature, Outline, Result, Score, part};

/// The functions that were registered, by name.
static FUNCTIONS: LazyLock<Mutex<HashMap<String, Py<PyAny>>>> = LazyLock::new(Mutex::default);

/// Makes a function known as the criterion `{kind: python, name: …}`.
#[pyfunction]
pub fn register(name: String, function: Py<PyAny>) {
    FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).insert(name, function);
}

/// Forgets a function.
#[pyfunction]
pub fn forget(name: &str) {
    FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
}

/// A function of Python that scores a subset of columns.
///
/// It is called for every trial of a search, one at a time, since the interpreter has one lock; so it is as slow as it is, and
/// has no shortcut. Lower is better, +∞ refuses a subset, and NaN is an error. It is given the columns of the subset, the
/// targets and the weights.
#[part(
    Criterion,
    "python",
    summary = "a function of Python that was registered under a name",
    example = "criterion: {kind: python, name: my_score}"
)]
#[derive(PartialEq, Eq)]
pub struct PythonCriterion {
    /// The name under which the function was registered.
    #[default("function".into())]
    pub name: String,
    /// Whether its score of no columns compares with those of others, so that a search may end with none.
    #[default(false)]
    pub compares_with_empty: bool,
}

impl PythonCriterion {
    fn function(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        functions.get(&self.name).map(|function| function.clone_ref(py))
    }

    fn scored(&self, py: Python<'_>, design: &Design, subset: &[Feature]) -> PyResult<f64> {
        let Some(function) = self.function(py) else { return Ok(f64::NAN) };
        let columns = design.columns().matrix(subset);
        let columns = doubles(py, columns.t())?;
        let weights = design.weights().map(|all| doubles(py, ArrayView1::from(all).insert_axis(Axis(0))));
        let weights: Option<Bound<'_, PyBytes>> = weights.transpose()?;
        let names: Vec<&str> = subset.iter().map(|&feature| design.names()[feature].as_str()).collect();
        let shape = (design.rows(), design.targets().nrows());
        function.call1(py, (columns, doubles(py, design.targets())?, weights, shape, names))?.extract(py)
    }
}

impl Criterion for PythonCriterion {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let loss = Python::attach(|py| self.scored(py, design, subset).map_err(|error| failed(py, &error)))?;
        Score::of(loss).checked()
    }

    fn check_settings(&self) -> Result<()> {
        match Python::attach(|py| self.function(py).is_some()) {
            true => Ok(()),
            false => Err(Error::setting("name", format!("no function of Python was registered as `{}`", self.name))),
        }
    }

    fn compares_with_empty(&self) -> bool {
        self.compares_with_empty
    }

    fn estimate(&self, _: &Design, _: &Outline) -> Estimate {
        Estimate::unknown("python", "every subset is scored by a function of Python, one at a time")
    }
}

/// What the function raised, as a failure of arithmetic.
fn failed(py: Python<'_>, error: &PyErr) -> Error {
    let name = error.get_type(py).name().map_or_else(|_| "an exception".into(), |name| name.to_string());
    Error::Numerical(format!("the function raised {name}: {}", error.value(py)))
}
