//! Distributed runs: plan, indexes and merge.

use crate::errors::{NO_FILE, to_py_err};
use crate::program::WrittenPipeline;
use crate::watch::WatchedCall;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use vaglio::files::{self, RunOptions, ShardProgress, Shards};
use vaglio::search::{Event, Monitor, Observer};
use vaglio_core::{Error, StopReason};
use vaglio_pipeline::pipeline::load;

/// Ledger of a run.
#[pyclass(name = "Shards", module = "vaglio._vaglio", frozen)]
pub struct PyShards(Arc<Shards>);

/// Progress of an index: state, number of units, number of completed units.
type Far = (String, usize, usize);

fn far(ShardProgress { state, units, done, .. }: &ShardProgress) -> Far {
    let word = serde_json::to_value(state).ok().and_then(|state| state.as_str().map(str::to_owned));
    (word.unwrap_or_default(), *units, *done)
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
    #[pyo3(signature = (written, ledger, of = None, below = false, workers = 1))]
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
    fn folder(&self) -> PathBuf {
        self.0.folder.clone()
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

    /// Progress of every index.
    fn progress(&self, py: Python<'_>) -> PyResult<Vec<Far>> {
        let all = py.detach(|| self.0.progress()).map_err(to_py_err)?;
        Ok(all.iter().map(far).collect())
    }

    /// Computes an index, alongside any other attempts. An exception in `progress` ends it; the state is `limit` if a
    /// limit was reached.
    #[pyo3(signature = (index, threads = 1, progress = None))]
    fn run(&self, py: Python<'_>, index: usize, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<Far> {
        // A process usually computes several indexes.
        vaglio_cli::keep_memory();
        let shards = Arc::clone(&self.0);
        WatchedCall { functions: None, threads, progress, writes_files: true }.run(py, move |mut seen, stop| {
            seen.observe(&Event::Stage { what: "read", pieces: 1 });
            let monitor = Monitor { stop, ..Monitor::from(&mut seen) };
            match shards.run_apart(index, monitor) {
                Err(Error::Stopped(_)) => Ok(("limit".into(), 0, 0)),
                done => Ok(far(&done?)),
            }
        })
    }

    /// Merges all indexes and ends the run; with `stopped` (`limit` or `interrupted`), merges those that exist. Returns
    /// the text of `selection.json`.
    #[pyo3(signature = (out, verify = None, threads = 0, progress = None, stopped = None))]
    fn merge(
        &self,
        py: Python<'_>,
        out: PathBuf,
        verify: Option<usize>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        stopped: Option<&str>,
    ) -> PyResult<String> {
        let (shards, options) = (Arc::clone(&self.0), RunOptions { out, verify, ..RunOptions::default() });
        let why = stopped.map(|word| if word == "limit" { StopReason::Limit } else { StopReason::Interrupted });
        WatchedCall { functions: None, threads, progress, writes_files: true }.run(py, move |mut seen, stop| {
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
#[pyo3(signature = (out, file = None))]
pub fn set_aside(py: Python<'_>, out: PathBuf, file: Option<PathBuf>) -> PyResult<()> {
    py.detach(|| files::set_previous_aside(&out, file.as_deref())).map_err(to_py_err)
}

/// The engine of a pipeline with workers, as JSON.
#[pyfunction]
#[pyo3(signature = (text, file = None, set = Vec::new()))]
pub fn cluster(text: &str, file: Option<String>, set: Vec<String>) -> PyResult<Option<String>> {
    let (settings, _) = load(text, file.as_deref().unwrap_or(NO_FILE), &set).map_err(to_py_err)?;
    Ok(settings.engine.cluster().map(|cluster| serde_json::json!(cluster).to_string()))
}
