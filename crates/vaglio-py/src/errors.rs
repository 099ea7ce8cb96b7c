//! Converts errors to Python exceptions: classes of `vaglio._errors`, with the location as attributes.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vaglio_core::{Error, ErrorClass};

/// Name of a text that was not a file; errors have no places in it.
pub const NO_FILE: &str = "";

/// Converts an error to an exception.
pub fn to_py_err(error: Error) -> PyErr {
    Python::attach(|py| exception(py, &error)).unwrap_or_else(|failed| failed)
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = match error.class() {
        ErrorClass::Configuration => "SettingError",
        ErrorClass::Data => "DataError",
        ErrorClass::Numerical => "NumericalError",
    };
    let about = PyDict::new(py);
    about.set_item("field", error.field())?;
    if let Some(place) = error.place() {
        about.set_item("file", &place.file)?;
        about.set_item("line", place.line)?;
        about.set_item("character", place.column)?;
    }
    match error {
        Error::NonFinite { row, column, value, file, .. } => {
            about.set_item("row", row)?;
            about.set_item("column", column)?;
            about.set_item("value", value)?;
            if let Some(file) = file {
                about.set_item("file", file.display().to_string())?;
            }
        }
        Error::Unreadable { path, .. }
        | Error::Unwritable { path, .. }
        | Error::ModelRefused { path, .. }
        | Error::JournalRefused { path, .. } => about.set_item("file", path.display().to_string())?,
        Error::UnknownName { name, suggestion, .. } => {
            about.set_item("name", name)?;
            about.set_item("suggestion", suggestion.as_deref())?;
        }
        _ => {}
    }
    let class = py.import("vaglio._errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((error.to_string(),), Some(&about))?))
}
