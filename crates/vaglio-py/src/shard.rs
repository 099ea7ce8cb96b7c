//! Distributed runs: plan, indexes and merge.

use crate::errors::to_py_err;
use crate::program::WrittenPipeline;
use crate::watch::WatchedCall;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use vaglio::files::{self, RunOptions, ShardProgress, Shards};
use vaglio::search::{Event, Monitor, Observer};
use vaglio_core::{Error, StopReason};

/// Ledger of a run.
#[pyclass(name = "Shards", module = "vaglio._vaglio", frozen)]
pub struct PyShards(Arc<Shards>);

/// State of an index in a word.
fn state(progress: &ShardProgress) -> String {
    let word = serde_json::to_value(progress.state).ok().and_then(|state| state.as_str().map(str::to_owned));
    word.unwrap_or_default()
}

impl From<Shards> for PyShards {
    fn from(shards: Shards) -> Self {
        PyShards(Arc::new(shards))
    }
}

#[pymethods]
impl PyShards {
    /// Plans a pipeline; with `below`, in a subfolder of the ledger. Up to `workers` processes may share the search on
    /// all rows.
    #[staticmethod]
    fn plan(
        py: Python<'_>,
        written: WrittenPipeline<'_>,
        ledger: PathBuf,
        of: Option<usize>,
        below: bool,
        workers: usize,
    ) -> PyResult<Self> {
        let (settings, document) = written.load()?;
        let threads = if settings.engine.cluster().is_some() { 0 } else { settings.engine.threads };
        let folder = written.folder;
        let call = WatchedCall { threads, ..WatchedCall::default() };
        let planned = call.run(py, move |_, _| {
            let place = |key: &str| if below { ledger.join(key) } else { ledger };
            Shards::plan(&settings, &folder, of, workers, place).map_err(|error| document.locate(error))
        });
        planned.map(PyShards::from)
    }

    /// Opens the ledger in a folder.
    #[staticmethod]
    fn open(py: Python<'_>, ledger: PathBuf) -> PyResult<Self> {
        py.detach(|| Shards::open(&ledger)).map(PyShards::from).map_err(to_py_err)
    }

    /// Folder of the plan.
    fn folder(&self) -> OsString {
        self.0.folder.clone().into_os_string()
    }

    /// Number of units.
    fn units(&self) -> usize {
        self.0.units()
    }

    /// The build that planned the run.
    fn build(&self) -> &str {
        self.0.build()
    }

    /// Time limit of the run, in seconds.
    fn seconds(&self) -> Option<f64> {
        self.0.pipeline.most_time().map(|time| time.as_secs_f64())
    }

    /// Whether all units of an index wait for the search.
    fn waits(&self, index: usize) -> bool {
        self.0.waits(index)
    }

    /// Whether an index only assists another in the search.
    fn helps(&self, index: usize) -> bool {
        self.0.helps(index)
    }

    /// Takes the exclusive right to distribute the indexes, until `leave`.
    fn lead(&self) -> PyResult<()> {
        self.0.lead().map_err(to_py_err)
    }

    /// Gives that right back.
    fn leave(&self) {
        self.0.leave();
    }

    /// State of every index, its number of units, and how many of them are completed.
    fn progress(&self, py: Python<'_>) -> PyResult<Vec<(String, usize, usize)>> {
        let all = py.detach(|| self.0.progress()).map_err(to_py_err)?;
        Ok(all.iter().map(|index| (state(index), index.units, index.done)).collect())
    }

    /// Computes an index, alongside any other attempts, and returns its state, or `limit` if a limit was reached. An
    /// exception in `progress` ends it.
    fn run(&self, py: Python<'_>, index: usize, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<String> {
        // A process usually computes several indexes.
        vaglio_cli::keep_memory();
        let shards = Arc::clone(&self.0);
        WatchedCall { functions: None, threads, progress, writes_files: true }.run(py, move |mut seen, stop| {
            seen.observe(&Event::Stage { what: "read", pieces: 1 });
            let monitor = Monitor { stop, ..Monitor::from(&mut seen) };
            match shards.run_apart(index, monitor) {
                Err(Error::Stopped(_)) => Ok("limit".into()),
                done => Ok(state(&done?)),
            }
        })
    }

    /// Merges all indexes and ends the run; with `stopped` (`limit` or `interrupted`), merges those that exist. Returns
    /// the text of `selection.json`.
    fn merge(
        &self,
        py: Python<'_>,
        out: PathBuf,
        verify: Option<usize>,
        progress: Option<Py<PyAny>>,
        stopped: Option<&str>,
    ) -> PyResult<String> {
        let (shards, options) = (Arc::clone(&self.0), RunOptions { out, verify, ..RunOptions::default() });
        let why = stopped.map(|word| if word == "limit" { StopReason::Limit } else { StopReason::Interrupted });
        let call = WatchedCall { progress, writes_files: true, ..WatchedCall::default() };
        call.run(py, move |mut seen, stop| {
            let monitor = Monitor { stop, ..Monitor::from(&mut seen) };
            shards.merge(why, &options, monitor)?.record.to_text()
        })
    }
}

/// Identifies the build of vaglio.
#[pyfunction]
pub fn build(py: Python<'_>) -> PyResult<String> {
    py.detach(files::build).map_err(to_py_err)
}

/// Renames the result of an earlier run, so that a failed run does not seem to have made it.
#[pyfunction]
pub fn set_aside(py: Python<'_>, out: PathBuf, file: Option<PathBuf>) -> PyResult<()> {
    py.detach(|| files::set_previous_aside(&out, file.as_deref())).map_err(to_py_err)
}

/// The engine of a pipeline with workers, as JSON.
#[pyfunction]
pub fn cluster(written: WrittenPipeline<'_>) -> PyResult<Option<String>> {
    let (settings, _) = written.load()?;
    Ok(settings.engine.cluster().map(|cluster| serde_json::json!(cluster).to_string()))
}
