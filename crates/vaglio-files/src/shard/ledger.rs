//! The folder of a run that several processes share.

use super::build::build;
use super::plan::{PLAN, Plan, ShardCount, key};
use super::share::missing;
use super::units::{HALVES, PARTS};
use super::work::WorkStart;
use crate::Prepared;
use crate::claim::{Claim, is_claimed};
use crate::journal::{Header, Known, NAME, read};
use crate::prepare::{prepare_parts, prepare_with};
use crate::streamed::{Keeping, RangeStore};
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use vaglio_core::{Error, Result, StopSign};
use vaglio_pipeline::pipeline::{ValidPipeline, pool};

pub(super) const FOLDER: &str = "shards";
/// What the driver of a run has in the folder.
const LEAD: &str = "driver";
/// The folder of the ranges of a table that is read in batches.
pub(super) const RANGES: &str = "moments";
/// Where a file of the ledger is refused.
const REMEDY: &str = "remove this file, and `vaglio shard run` does its index again";

/// A run that several processes share, and its folder.
#[derive(Debug)]
pub struct Shards {
    pub(super) folder: PathBuf,
    pub(super) plan: Plan,
    pub(super) pipeline: ValidPipeline,
    /// What the indexes that this runs have in common.
    prepared: Mutex<Option<Arc<Prepared>>>,
    /// The indexes that have asked for it.
    reading: Mutex<BTreeSet<usize>>,
    /// What they all begin with.
    pub(super) start: OnceLock<WorkStart>,
}

/// The right to give out the indexes of a run, for as long as it lives.
#[derive(Debug)]
pub struct ShardLead {
    _claim: Claim,
}

pub(super) fn refused(path: PathBuf, message: impl Into<String>) -> Error {
    Error::JournalRefused { path, message: message.into() }
}

/// Calls `work` on threads of its own. Who waits takes up no other job of its pool, which might want a lock that it holds.
fn on_own_threads<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let threads = pool(rayon::current_num_threads())?;
    std::thread::scope(|scope| scope.spawn(|| threads.install(work)).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The folders of the attempts at an index that are there.
fn attempts(shards: &Path, index: usize) -> Vec<PathBuf> {
    let more = (1..).map(|number| apart(shards, index, number)).take_while(|path| path.is_dir());
    std::iter::once(shards.join(index.to_string())).filter(|path| path.is_dir()).chain(more).collect()
}

pub(super) fn apart(shards: &Path, index: usize, number: usize) -> PathBuf {
    shards.join(format!("{index}.{number}"))
}

/// Whether a process is at an index, as far as the system knows.
pub(super) fn is_alive(shards: &Path, index: usize) -> bool {
    attempts(shards, index).iter().any(|folder| is_claimed(folder))
}

impl Shards {
    /// Plans a run of so many indexes and writes that into a folder, which is made where it is not there. Reads the data once, to
    /// hash them and to part their rows. The same plan may be made again, wherever its files and its engine are meanwhile.
    ///
    /// # Errors
    /// [`Error::Setting`] for no index; those with which a run is refused before it begins; [`Error::JournalRefused`] where another
    /// plan is in the folder; [`Error::Unwritable`].
    pub fn plan(pipeline: &ValidPipeline, data: &Path, of: impl Into<ShardCount>, folder: &Path) -> Result<Self> {
        Shards::planned(pipeline, data, of.into(), |_| Ok(folder.to_owned()))
    }

    /// The same in a folder below `ledger`, which a hash of build, data and settings names: every run has its own there.
    ///
    /// # Errors
    /// Those of [`Shards::plan`].
    pub fn plan_below(pipeline: &ValidPipeline, data: &Path, of: impl Into<ShardCount>, ledger: &Path) -> Result<Self> {
        Shards::planned(pipeline, data, of.into(), |prepared| Ok(ledger.join(key(pipeline, prepared)?)))
    }

    fn planned(
        pipeline: &ValidPipeline,
        data: &Path,
        count: ShardCount,
        folder: impl FnOnce(&Prepared) -> Result<PathBuf>,
    ) -> Result<Self> {
        Error::unless_between("--of", count.of.unwrap_or(1), 1..=1_000_000)?;
        let (prepared, is_sample) = prepare_parts(pipeline, data)?;
        let searched = prepared.searched(pipeline);
        let start = WorkStart::new(&searched, &prepared, StopSign::default())?;
        let is_in_parts = start.is_in_parts(&searched, &prepared);
        let folder = folder(&prepared)?;
        let failed = |e: std::io::Error| Error::Unwritable { path: folder.clone(), message: e.to_string() };
        std::fs::create_dir_all(folder.join(FOLDER)).map_err(failed)?;
        let plan = Plan::of(pipeline, (&prepared, data), (count, is_in_parts), &folder)?;
        plan.put(&folder)?;
        let shards = Shards::of(&folder, plan)?;
        if !is_sample {
            *shards.held() = Some(Arc::new(prepared));
        }
        Ok(shards)
    }

    /// The folder of the plan.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The run whose plan is in a folder.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where there is no plan, or a damaged one; those of its pipeline.
    pub fn open(folder: &Path) -> Result<Self> {
        Shards::of(folder, Plan::read(folder)?)
    }

    fn of(folder: &Path, plan: Plan) -> Result<Self> {
        let pipeline = plan.pipeline(folder)?;
        let (folder, prepared, reading) = (folder.to_owned(), Mutex::default(), Mutex::default());
        Ok(Shards { folder, plan, pipeline, prepared, reading, start: OnceLock::new() })
    }

    /// The right to give out the indexes of the run, which one process at a time has, where the file system has locks.
    ///
    /// # Errors
    /// [`Error::Unwritable`] while another has it.
    pub fn lead(&self) -> Result<ShardLead> {
        let taken = "another driver gives out the units of this ledger; wait until it has ended";
        Ok(ShardLead { _claim: Claim::unless_taken(&self.folder.join(LEAD), taken)? })
    }

    fn held(&self) -> MutexGuard<'_, Option<Arc<Prepared>>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The data, which are read once; the ranges of a table that is read in batches are made together with other indexes.
    pub(super) fn prepared(&self, index: Option<usize>, stop: StopSign) -> Result<Arc<Prepared>> {
        // Who comes while another reads has its ranges made by that.
        self.reading().extend(index);
        let mut held = self.held();
        if let Some(prepared) = &*held {
            return Ok(Arc::clone(prepared));
        }
        let prepared = Arc::new(on_own_threads(|| {
            let ranges = self.ranges(stop);
            prepare_with(&self.pipeline, &self.folder, Keeping { checkpoints: None, ranges: Some(&ranges) })
        })?);
        if prepared.digest.written()? != self.plan.data {
            return Err(refused(self.folder.join(PLAN), "the data have changed since it was written; plan again"));
        }
        Ok(Arc::clone(held.insert(prepared)))
    }

    /// The indexes of this process that have asked for the data.
    fn reading(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ranges of a table that is read in batches, of which those of the indexes of this process are made first.
    pub(super) fn ranges(&self, stop: StopSign) -> RangeStore<'_> {
        let of = |range: usize| self.plan.units.of_range(range, self.plan.of);
        let shards = self.folder.join(FOLDER);
        RangeStore {
            folder: self.folder.join(RANGES),
            is_own: Box::new(move |range| self.reading().contains(&of(range))),
            is_alive: Box::new(move |range| !self.reading().contains(&of(range)) && is_alive(&shards, of(range))),
            stop,
        }
    }

    /// How many indexes there are.
    pub fn count(&self) -> usize {
        self.plan.of
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.plan.units.count()
    }

    /// The threads that the pipeline asks for.
    pub fn threads(&self) -> usize {
        self.pipeline.threads()
    }

    /// The time that the run may take as a whole.
    pub fn most_time(&self) -> Option<Duration> {
        self.pipeline.most_time()
    }

    /// The build that planned it, which alone runs its indexes.
    pub fn build(&self) -> &str {
        &self.plan.build
    }

    /// Whether all units of an index wait for the search, which is another index's.
    pub fn waits(&self, index: usize) -> bool {
        let own = self.plan.units.of_index(index, self.plan.of);
        !own.is_empty() && own.iter().all(|key| key.starts_with(HALVES))
    }

    /// Whether all that an index does is to make the search on all rows together with another.
    pub fn helps(&self, index: usize) -> bool {
        let own = self.plan.units.of_index(index, self.plan.of);
        !own.is_empty() && own.iter().all(|key| key.starts_with(PARTS))
    }

    /// Of each kind of unit its name for people and how many there are.
    pub fn phases(&self) -> Vec<(&'static str, usize)> {
        self.plan.units.0.iter().map(|phase| (phase.name(), phase.count)).collect()
    }

    /// Whether units wait for the search on all rows, as halves do.
    pub fn has_dependent(&self) -> bool {
        self.plan.units.0.iter().any(|phase| phase.prefix == HALVES)
    }

    pub(super) fn done_file(&self, index: usize) -> PathBuf {
        self.folder.join(FOLDER).join(format!("{index}.jsonl"))
    }

    pub(super) fn work_folder(&self, index: usize) -> PathBuf {
        self.folder.join(FOLDER).join(index.to_string())
    }

    pub(super) fn attempts(&self, index: usize) -> Vec<PathBuf> {
        attempts(&self.folder.join(FOLDER), index)
    }

    /// What all attempts at an index have done; `None` before the first has.
    pub(super) fn begun(&self, index: usize) -> Result<Option<HashMap<String, String>>> {
        let header = self.header()?;
        let mut all: Option<HashMap<String, String>> = None;
        for folder in self.attempts(index) {
            if let Some(known) = read(&folder.join(NAME), &header)?.filter(Known::is_begun) {
                all.get_or_insert_default().extend(known.pieces);
            }
        }
        Ok(all)
    }

    /// What every file of the ledger begins with.
    pub(super) fn header(&self) -> Result<Header> {
        let pipeline = self.pipeline.configuration()?;
        let configuration = json!({"build": self.plan.build, "indexes": self.plan.of, "pipeline": pipeline});
        Ok(Header::new(&self.plan.data, configuration).remedied(REMEDY))
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
        Err(refused(self.folder.join(PLAN), message))
    }

    /// The pieces of an index all of whose units are done; `None` where there are none yet.
    pub(super) fn finished(&self, index: usize) -> Result<Option<Known>> {
        let path = self.done_file(index);
        let Some(known) = read(&path, &self.header()?)? else { return Ok(None) };
        let left = missing(&self.plan.units, (index, self.plan.of), |key| known.pieces.contains_key(key));
        match left.first() {
            None => Ok(Some(known)),
            Some(key) => Err(refused(path, format!("it is cut short: `{key}` is missing; {REMEDY}"))),
        }
    }

    /// What there is of an index, done or begun.
    pub(super) fn pieces(&self, index: usize) -> Result<HashMap<String, String>> {
        Ok(match self.finished(index)? {
            Some(known) => known.pieces,
            None => self.begun(index)?.unwrap_or_default(),
        })
    }
}
