//! A run that several processes share: its plan, its indexes and its end.

use crate::errors::{NO_FILE, raised};
use crate::watch::{Ending, watched};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use vaglio::files::{self, RunOptions, ShardCount, ShardLead, ShardProgress, Shards};
use vaglio::pipeline::load;
use vaglio_core::{Error, Event, Journal, Monitor, Observer, StopReason, StopSign};

/// The ledger of a run.
#[pyclass(name = "Shards", module = "vaglio._vaglio", frozen)]
pub struct Ledger {
    shards: Arc<Shards>,
    lead: Mutex<Option<ShardLead>>,
}

/// How far an index is: its state, its units, and how many of them are done.
type Far = (String, usize, usize);

fn far(ShardProgress { state, units, done, .. }: &ShardProgress) -> Far {
    let word = serde_json::to_value(state).ok().and_then(|state| state.as_str().map(str::to_owned));
    (word.unwrap_or_default(), *units, *done)
}

impl From<Shards> for Ledger {
    fn from(shards: Shards) -> Self {
        Ledger { shards: Arc::new(shards), lead: Mutex::default() }
    }
}

#[pymethods]
impl Ledger {
    /// Plans a pipeline, of YAML or JSON, whose paths are relative to `folder`; with `below` in a folder of its own in the ledger.
    /// `workers` may make the search on all rows together.
    #[staticmethod]
    #[pyo3(signature = (text, folder, ledger, of = None, file = None, set = Vec::new(), below = false, workers = 1))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn plan(
        py: Python<'_>,
        text: &str,
        folder: PathBuf,
        ledger: PathBuf,
        of: Option<usize>,
        file: Option<String>,
        set: Vec<String>,
        below: bool,
        workers: usize,
    ) -> PyResult<Self> {
        let fail = |error: Error| raised(py, error);
        let (settings, document) = load(text, file.as_deref().unwrap_or(NO_FILE), &set).map_err(fail)?;
        let threads = if settings.cluster().is_some() { 0 } else { settings.threads() };
        let of = ShardCount { of, workers };
        let planned = watched(py, threads, None, Ending::Left, move |_, _| match below {
            true => Shards::plan_below(&settings, &folder, of, &ledger),
            false => Shards::plan(&settings, &folder, of, &ledger),
        })?;
        planned.map(Ledger::from).map_err(|error| fail(document.locate(error)))
    }

    /// That of a folder.
    #[staticmethod]
    fn open(py: Python<'_>, ledger: PathBuf) -> PyResult<Self> {
        py.detach(|| Shards::open(&ledger)).map(Ledger::from).map_err(|error| raised(py, error))
    }

    /// Its folder.
    fn folder(&self) -> PathBuf {
        self.shards.folder().to_owned()
    }

    /// How many indexes there are.
    fn count(&self) -> usize {
        self.shards.count()
    }

    /// How many units there are.
    fn units(&self) -> usize {
        self.shards.units()
    }

    /// The build that planned it.
    fn build(&self) -> &str {
        self.shards.build()
    }

    /// The seconds that the run may take.
    fn seconds(&self) -> Option<f64> {
        self.shards.most_time().map(|time| time.as_secs_f64())
    }

    /// Whether all of an index waits for the search.
    fn waits(&self, index: usize) -> bool {
        self.shards.waits(index)
    }

    /// Whether all that an index does is to make the search together with another.
    fn helps(&self, index: usize) -> bool {
        self.shards.helps(index)
    }

    /// Takes the right to give out the indexes, until the ledger is left.
    fn lead(&self, py: Python<'_>) -> PyResult<()> {
        let lead = self.shards.lead().map_err(|error| raised(py, error))?;
        *self.lead.lock().unwrap_or_else(PoisonError::into_inner) = Some(lead);
        Ok(())
    }

    /// Gives that right back.
    fn leave(&self) {
        self.lead.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// How far every index is.
    fn progress(&self, py: Python<'_>) -> PyResult<Vec<Far>> {
        let all = py.detach(|| self.shards.progress()).map_err(|error| raised(py, error))?;
        Ok(all.iter().map(far).collect())
    }

    /// Does an index beside all others that do it. What `progress` raises ends it; `limit` is the state where a limit has.
    #[pyo3(signature = (index, threads = 1, progress = None))]
    fn run(&self, py: Python<'_>, index: usize, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<Far> {
        // A process that does an index does others after it.
        vaglio_cli::keep_memory();
        let shards = Arc::clone(&self.shards);
        let done = watched(py, threads, progress, Ending::Waited, move |mut seen, stop: StopSign| {
            seen.observe(&Event::Stage { what: "read", pieces: 1 });
            let monitor = Monitor { observer: &mut seen, journal: Journal::default(), stop };
            shards.run_apart(index, monitor)
        })?;
        match done {
            Ok(done) => Ok(far(&done)),
            Err(Error::Stopped(_)) => Ok(("limit".into(), 0, 0)),
            Err(error) => Err(raised(py, error)),
        }
    }

    /// Puts all indexes together and ends the run; with `stopped`, `limit` or `interrupted`, with those that are there. Gives the
    /// text of `selection.json`.
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
        let (shards, options) = (Arc::clone(&self.shards), RunOptions { out, verify, ..RunOptions::default() });
        let why = stopped.map(|word| if word == "limit" { StopReason::Limit } else { StopReason::Interrupted });
        let merged = watched(py, threads, progress, Ending::Waited, move |mut seen, stop: StopSign| {
            let monitor = Monitor { observer: &mut seen, journal: Journal::default(), stop };
            let ended = match why {
                None => shards.merge(&options, monitor),
                Some(why) => shards.merge_stopped(why, &options, monitor),
            };
            ended?.record.to_text()
        })?;
        merged.map_err(|error| raised(py, error))
    }
}

/// Which build of vaglio this is.
#[pyfunction]
pub fn build(py: Python<'_>) -> PyResult<String> {
    py.detach(files::build).map_err(|error| raised(py, error))
}

/// Sets the result of an earlier run in a folder aside, so that one that failed leaves none that looks like its own.
#[pyfunction]
#[pyo3(signature = (out, file = None))]
pub fn set_aside(py: Python<'_>, out: PathBuf, file: Option<PathBuf>) -> PyResult<()> {
    py.detach(|| files::set_previous_aside(&out, file.as_deref())).map_err(|error| raised(py, error))
}

/// The engine of a pipeline that has workers, as JSON.
#[pyfunction]
#[pyo3(signature = (text, file = None, set = Vec::new()))]
pub fn cluster(py: Python<'_>, text: &str, file: Option<String>, set: Vec<String>) -> PyResult<Option<String>> {
    let (settings, _) = load(text, file.as_deref().unwrap_or(NO_FILE), &set).map_err(|error| raised(py, error))?;
    Ok(settings.cluster().map(|cluster| serde_json::json!(cluster).to_string()))
}
