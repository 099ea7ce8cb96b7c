//! The shared folder of a distributed run.

use super::plan::{PLAN, ShardPlan, build, key};
use crate::data::prepare;
use crate::evaluations::RepetitionInput;
use crate::journal::{JournalContent, JournalHeader, NAME, Pieces, read};
use crate::run::{RunStart, portable};
use crate::run_folder::RunFolder;
use crate::work_units::{PARTS, SEARCH, WorkUnits, name, waits_for_search};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use vaglio_core::{Error, Result, StopSign, abridge, join, lock};
use vaglio_pipeline::pipeline::{ValidPipeline, pool};
use vaglio_pipeline::resampling;

const FOLDER: &str = "shards";
/// Subfolder that the driver of a run locks.
const LEAD: &str = "driver";
/// Maximum number of indexes if none is given.
const MOST: usize = 1024;
/// Remedy for a rejected file of the ledger.
const REMEDY: &str = "remove this file, and `vaglio shard run` does its index again";

/// A distributed run and its folder.
#[derive(Debug)]
pub struct Shards {
    /// Folder of the plan.
    pub folder: PathBuf,
    pub(super) plan: ShardPlan,
    /// The pipeline of the plan.
    pub pipeline: ValidPipeline,
    /// Initial state shared by the indexes of this process.
    start: Mutex<Option<Arc<RunStart>>>,
    /// Right to distribute the indexes, while this process has it.
    lead: Mutex<Option<RunFolder>>,
}

/// Calls `work` on a thread pool of its own. A thread of the shared pool that waits might steal a job that needs a lock
/// it holds.
fn on_own_threads<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let threads = pool(rayon::current_num_threads())?;
    std::thread::scope(|scope| scope.spawn(|| threads.install(work)).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Shards {
    /// Plans a run and writes the plan to a folder, which is created if missing. Reads the data once, to hash them and
    /// to split their rows. The same plan may be written again, even if its files or engine have moved. `folder` names
    /// the folder; its argument is a hash of build, data and settings, by which every run may have its own.
    ///
    /// `of` is the number of indexes: without one, that of an existing plan, else one per unit and at most 1024. The
    /// search on all rows is divided into `workers` parts if possible, one for each process at a time.
    ///
    /// # Errors
    /// Returns [`Error::Setting`] for zero indexes; [`Error::JournalRefused`] if another plan is in the folder;
    /// [`Error::Unwritable`]; the errors with which a run is rejected before it begins.
    pub fn plan(
        pipeline: &ValidPipeline,
        data: &Path,
        of: Option<usize>,
        workers: usize,
        folder: impl FnOnce(&str) -> PathBuf,
    ) -> Result<Self> {
        Error::unless_between("--of", of.unwrap_or(1), 1..=1_000_000)?;
        let RunStart { prepared, design, selector, .. } =
            &RunStart::new(pipeline, data, prepare(pipeline, data)?, &StopSign::default())?;
        let digest = prepared.digest.wait()?;
        let folder = folder(&key(pipeline, &digest)?);
        std::fs::create_dir_all(folder.join(FOLDER)).map_err(|e| Error::unwritable(&folder, e))?;
        let there = match of {
            None if folder.join(PLAN).exists() => Some(ShardPlan::read(&folder)?),
            _ => None,
        };
        let mut units = WorkUnits::new(&RepetitionInput::new(pipeline, selector, &prepared.sample))?;
        // Tuning is not distributed.
        if pipeline.tune.is_none() && resampling::is_in_parts(selector, design) {
            units = units.in_parts(there.as_ref().map_or(workers, |there| there.units.parts()));
        }
        let of = of.or(there.map(|there| there.of)).unwrap_or_else(|| units.count().min(MOST));
        let plan = ShardPlan::new(of, units, digest, portable(pipeline, data, &folder)?)?;
        plan.put(&folder)?;
        Shards::with_plan(&folder, plan)
    }

    /// Opens the run whose plan is in a folder.
    ///
    /// # Errors
    /// Returns [`Error::Unreadable`] for a missing or damaged plan, and the errors of its pipeline.
    pub fn open(folder: &Path) -> Result<Self> {
        Shards::with_plan(folder, ShardPlan::read(folder)?)
    }

    fn with_plan(folder: &Path, plan: ShardPlan) -> Result<Self> {
        let pipeline = plan.pipeline(folder)?;
        Ok(Shards { folder: folder.to_owned(), plan, pipeline, start: Mutex::default(), lead: Mutex::default() })
    }

    /// Takes the right to distribute the indexes, held by one process at a time if the file system has locks.
    ///
    /// # Errors
    /// [`Error::Unwritable`] while another process has it.
    pub fn lead(&self) -> Result<()> {
        let taken = "another driver gives out the units of this ledger; wait until it has ended";
        *lock(&self.lead) = Some(RunFolder::unless_taken(&self.folder.join(LEAD), taken)?);
        Ok(())
    }

    /// Gives the right to distribute the indexes back.
    pub fn leave(&self) {
        lock(&self.lead).take();
    }

    /// Data and design of all indexes, made once.
    pub(super) fn start(&self, stop: StopSign) -> Result<Arc<RunStart>> {
        let mut held = lock(&self.start);
        if let Some(start) = &*held {
            return Ok(Arc::clone(start));
        }
        let start = on_own_threads(|| {
            let prepared = prepare(&self.pipeline, &self.folder)?;
            if prepared.digest.wait()? != self.plan.data {
                let message = "the data have changed since it was written; plan again";
                return Err(Error::journal_refused(self.folder.join(PLAN), message));
            }
            RunStart::new(&self.pipeline, &self.folder, prepared, &stop)
        })?;
        Ok(Arc::clone(held.insert(Arc::new(start))))
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.plan.units.count()
    }

    /// The build that planned the run; only the same build may run its indexes.
    pub fn build(&self) -> &str {
        &self.plan.build
    }

    /// Whether all units of an index wait for the search, which belongs to another index.
    pub fn waits(&self, index: usize) -> bool {
        self.has_only(index, waits_for_search)
    }

    /// Whether an index only assists another in the search on all rows.
    pub fn helps(&self, index: usize) -> bool {
        self.has_only(index, |key| key.starts_with(PARTS))
    }

    /// Whether an index has units, all of one kind.
    fn has_only(&self, index: usize, is_of_kind: impl Fn(&str) -> bool) -> bool {
        let own = self.plan.keys_at(index);
        !own.is_empty() && own.iter().all(|key| is_of_kind(key))
    }

    /// Display name and number of units per phase.
    pub fn phases(&self) -> Vec<(&'static str, usize)> {
        self.plan.units.0.iter().map(|phase| (name(phase), phase.count)).collect()
    }

    /// Whether some units wait for the search on all rows, as half-samples do.
    pub fn has_dependent(&self) -> bool {
        self.plan.units.0.iter().any(|phase| waits_for_search(&phase.prefix))
    }

    fn at(&self, name: String) -> PathBuf {
        self.folder.join(FOLDER).join(name)
    }

    pub(super) fn done_file(&self, index: usize) -> PathBuf {
        self.at(format!("{index}.jsonl"))
    }

    pub(super) fn work_folder(&self, index: usize) -> PathBuf {
        self.at(index.to_string())
    }

    /// Folder of a further attempt at an index.
    pub(super) fn attempt(&self, index: usize, number: usize) -> PathBuf {
        self.at(format!("{index}.{number}"))
    }

    /// Folders of existing attempts at an index.
    pub(super) fn attempts(&self, index: usize) -> Vec<PathBuf> {
        let more = (1..).map(|number| self.attempt(index, number)).take_while(|path| path.is_dir());
        std::iter::once(self.work_folder(index)).filter(|path| path.is_dir()).chain(more).collect()
    }

    /// Pieces from all attempts at an index; `None` before the first.
    pub(super) fn begun(&self, index: usize) -> Result<Option<Pieces>> {
        let header = self.header()?;
        let mut all: Option<Pieces> = None;
        for folder in self.attempts(index) {
            if let Some(known) = read(&folder.join(NAME), &header)?.filter(JournalContent::is_begun) {
                all.get_or_insert_default().extend(known.pieces);
            }
        }
        Ok(all)
    }

    /// Header of every file of the ledger.
    pub(super) fn header(&self) -> Result<JournalHeader> {
        let pipeline = self.pipeline.configuration()?;
        let configuration = json!({"build": self.plan.build, "indexes": self.plan.of, "pipeline": pipeline});
        let mut header = JournalHeader::new(&self.plan.data, configuration);
        header.remedy = REMEDY;
        Ok(header)
    }

    pub(super) fn check_build(&self) -> Result<()> {
        let own = build()?;
        if own == self.plan.build {
            return Ok(());
        }
        let message = format!(
            "it was planned by build {}, and this is {own}; every index and the merge need the build that planned",
            self.plan.build
        );
        Err(Error::journal_refused(self.folder.join(PLAN), message))
    }

    /// Pieces of a completed index; `None` if it is not complete.
    pub(super) fn completed_pieces(&self, index: usize) -> Result<Option<Pieces>> {
        let path = self.done_file(index);
        let Some(JournalContent { pieces, .. }) = read(&path, &self.header()?)? else { return Ok(None) };
        let left = self.plan.missing(index, |key| pieces.contains_key(key));
        match left.first() {
            None => Ok(Some(pieces)),
            Some(key) => Err(Error::journal_refused(path, format!("it is cut short: `{key}` is missing; {REMEDY}"))),
        }
    }

    /// Existing pieces of an index, and whether it is complete; `None` before its first attempt.
    pub(super) fn pieces(&self, index: usize) -> Result<Option<(Pieces, bool)>> {
        Ok(match self.completed_pieces(index)? {
            Some(pieces) => Some((pieces, true)),
            None => self.begun(index)?.map(|pieces| (pieces, false)),
        })
    }
}

/// Maximum number of keys named in a message.
const NAMED: usize = 3;

/// State of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardState {
    /// Not begun.
    Absent,
    /// Partly done.
    Begun,
    /// All remaining units wait for the search, which belongs to another index.
    Waiting,
    /// Complete.
    Done,
}

/// Progress of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ShardProgress {
    /// Index, from 0.
    pub index: usize,
    /// State of the index.
    pub state: ShardState,
    /// Number of units.
    pub units: usize,
    /// Number of completed units.
    pub done: usize,
    /// Keys of the other units.
    #[serde(skip)]
    left: Vec<String>,
}

impl Shards {
    /// Progress of every index.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for a file of another run, or one that was altered.
    pub fn progress(&self) -> Result<Vec<ShardProgress>> {
        (0..self.plan.of).map(|index| self.index_progress(index)).collect()
    }

    pub(super) fn index_progress(&self, index: usize) -> Result<ShardProgress> {
        let found = self.pieces(index)?;
        let is_known = |key: &str| found.as_ref().is_some_and(|(known, _)| known.contains_key(key));
        let left = self.plan.missing(index, is_known);
        let state = match &found {
            None => ShardState::Absent,
            Some((_, true)) => ShardState::Done,
            Some(_) if left.iter().all(|key| waits_for_search(key)) && !is_known(SEARCH) => ShardState::Waiting,
            Some(_) => ShardState::Begun,
        };
        let units = self.plan.keys_at(index).len();
        Ok(ShardProgress { index, state, units, done: units - left.len(), left })
    }

    /// Error that names what is missing.
    pub(super) fn incomplete(&self) -> Result<Error> {
        let all = self.progress()?;
        let open: Vec<&ShardProgress> = all.iter().filter(|index| index.state != ShardState::Done).collect();
        let named = open.iter().take(NAMED).map(|ShardProgress { index, units, done, left, .. }| {
            let keys = abridge(left.iter().map(|key| format!("`{key}`")), NAMED);
            format!("index {index} ({done} of {units} units, without {keys})")
        });
        let more = if open.len() > NAMED { format!(", and {} more", open.len() - NAMED) } else { String::new() };
        let message = format!(
            "{} of {} indexes are not done: {}{more}; `vaglio shard run` does them",
            open.len(),
            self.plan.of,
            join(named, ", ")
        );
        Ok(Error::journal_refused(self.folder.clone(), message))
    }
}
