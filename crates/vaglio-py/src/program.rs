//! Commands of the program as functions.

use crate::errors::{NO_FILE, to_py_err};
use crate::functions::Functions;
use crate::watch::WatchedCall;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;
use vaglio::files::{self, ExportTo, InitOptions, RunOptions, TestOption};
use vaglio::search::Monitor;
use vaglio_core::Result;
use vaglio_pipeline::document::{Node, to_yaml as yaml_of};
use vaglio_pipeline::pipeline::{Pipeline, ValidPipeline, component_fields, component_list, load, pipeline_schema};
use vaglio_report::comparison::Comparison;
use vaglio_report::record::Record;

/// A pipeline as text, from the attributes of `vaglio._pipeline._Written`.
#[derive(FromPyObject)]
pub struct WrittenPipeline<'py> {
    /// YAML or JSON.
    text: String,
    /// Folder of relative paths.
    pub folder: PathBuf,
    /// The pipeline file, if the text is from one.
    file: Option<String>,
    /// Assignments `path=value`.
    set: Vec<String>,
    functions: Option<Bound<'py, Functions>>,
}

impl WrittenPipeline<'_> {
    pub fn load(&self) -> PyResult<(ValidPipeline, Node)> {
        load(&self.text, self.file.as_deref().unwrap_or(NO_FILE), &self.set).map_err(to_py_err)
    }
}

/// Runs a pipeline; returns the text of `selection.json`.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    written: WrittenPipeline<'_>,
    out: PathBuf,
    resume: bool,
    verify: Option<usize>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (mut settings, document) = written.load()?;
    let WrittenPipeline { folder, file, functions, .. } = written;
    settings.engine.threads = threads.unwrap_or(settings.engine.threads);
    let options = RunOptions { folder, pipeline: file.map(PathBuf::from), out, resume, verify };
    let threads = settings.engine.threads;
    let functions = functions.as_ref().map(Bound::get);
    WatchedCall { functions, threads, progress, writes_files: true }.run(py, move |mut seen, stop| {
        let monitor = Monitor { stop, ..Monitor::from(&mut seen) };
        let outcome = files::run(&settings, &options, monitor).map_err(|error| document.locate(error))?;
        outcome.record.to_text()
    })
}

/// Describes a run without running it.
#[pyfunction]
pub fn plan(py: Python<'_>, written: WrittenPipeline<'_>) -> PyResult<String> {
    let (settings, document) = written.load()?;
    let WrittenPipeline { folder, functions, .. } = written;
    let (functions, threads) = (functions.as_ref().map(Bound::get), settings.engine.threads);
    let call = WatchedCall { functions, threads, ..WatchedCall::default() };
    call.run(py, move |_, _| files::plan(&settings, &folder).map_err(|error| document.locate(error)))
}

/// Drafts a commented pipeline for a table; returns its text, the decisions and an error if it does not run.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub fn init(
    py: Python<'_>,
    table: PathBuf,
    folder: PathBuf,
    targets: Vec<String>,
    task: Option<String>,
    test_fraction: Option<f64>,
    test_file: Option<PathBuf>,
    groups: Option<String>,
    time: Option<String>,
) -> PyResult<(String, Vec<String>, Option<String>)> {
    let classes = match task.as_deref() {
        None => None,
        Some("regression") => Some(false),
        Some("classification") => Some(true),
        Some(other) => {
            return Err(PyValueError::new_err(format!("task is `regression` or `classification`, and not `{other}`")));
        }
    };
    let test = test_file.map(TestOption::File).or(test_fraction.map(TestOption::Fraction));
    let options = InitOptions { targets, exclude: None, test, classes, groups, time, name: None };
    let draft = WatchedCall::default().run(py, move |_, _| files::init(&table, &folder, &options))?;
    Ok((draft.text, draft.notes, draft.fault.map(|fault| fault.to_string())))
}

/// Compares runs; returns the table and the page.
#[pyfunction]
pub fn compare(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<(String, String)> {
    let compared = py.detach(|| {
        let comparison = Comparison::read(&folders)?;
        Ok((comparison.table(), comparison.html()))
    });
    compared.map_err(to_py_err)
}

/// The most trustworthy error of a `selection.json` in words, if it has one.
#[pyfunction]
pub fn error_line(path: PathBuf) -> PyResult<Option<String>> {
    Record::read(&path).map(|record| record.error_line()).map_err(to_py_err)
}

/// Exports the model of a run to another language, or describes its method.
#[pyfunction]
pub fn export(py: Python<'_>, folder: PathBuf, to: &str) -> PyResult<Vec<u8>> {
    let export = || files::export(&folder, ExportTo::from_word("to", to)?);
    py.detach(export).map_err(to_py_err)
}

/// Explains columns of a run.
#[pyfunction]
pub fn explain(py: Python<'_>, folder: PathBuf, columns: Vec<String>) -> PyResult<String> {
    WatchedCall::default().run(py, move |_, _| files::explain(&folder, &columns))
}

/// Rejects invalid settings, with or without data.
#[pyfunction]
pub fn check(text: &str) -> PyResult<()> {
    use linfa::ParamGuard;
    parse_pipeline(text, NO_FILE).and_then(|pipeline| pipeline.check_ref().map(|_| ())).map_err(to_py_err)
}

/// Settings as a pipeline file with all defaults.
#[pyfunction]
pub fn to_yaml(text: &str) -> PyResult<String> {
    parse_pipeline(text, NO_FILE).and_then(|pipeline| yaml_of(&pipeline)).map_err(to_py_err)
}

/// Settings of a pipeline file as JSON with all defaults.
#[pyfunction]
pub fn to_json(text: &str, file: &str) -> PyResult<String> {
    parse_pipeline(text, file).and_then(|pipeline| Ok(serde_json::to_string(&pipeline)?)).map_err(to_py_err)
}

/// Parses a pipeline; errors name its text `file`.
pub fn parse_pipeline(text: &str, file: &str) -> Result<Pipeline> {
    Pipeline::from_document(&mut Node::parse(text, file)?)
}

/// JSON Schema of the pipeline file.
#[pyfunction]
pub fn schema() -> String {
    pipeline_schema().to_string()
}

/// All parts of this build with their settings, as JSON.
#[pyfunction]
pub fn parts() -> String {
    let mut all = component_list();
    for part in &mut all {
        let word = |key: &str| part[key].as_str().unwrap_or_default().to_owned();
        if let Some(fields) = component_fields(&word("role"), &word("kind")) {
            part["fields"] = fields;
        }
    }
    serde_json::Value::from(all).to_string()
}

/// Runs the command line with these arguments, including the program name; returns the exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| vaglio_cli::main_with(arguments))
}
