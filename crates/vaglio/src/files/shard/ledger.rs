//! The folder of a run that several processes share.

use super::build::build;
use super::parts::{self, SearchParts};
use super::plan::{PLAN, Plan, ShardCount, key};
use super::share::{NOTHING, Share, missing};
use super::state::{ShardProgress, ShardState};
use super::units::{HALVES, PARTS, SEARCH};
use super::work::{LOOK, Work};
use crate::files::claim::{Claim, is_claimed};
use crate::files::journal::{Book, Header, Known, NAME, read, written};
use crate::files::monitor::limited;
use crate::files::{Prepared, prepare};
use crate::pipeline::ValidPipeline;
use crate::resample::STARTS;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vaglio_core::{Error, Journal, Keeper as _, Monitor, Result, StopReason, StopSign};
use vaglio_tables::disk::write_file;

const FOLDER: &str = "shards";
/// What the driver of a run has in the folder.
const LEAD: &str = "driver";
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
}

/// The right to give out the indexes of a run, for as long as it lives.
#[derive(Debug)]
pub struct ShardLead {
    _claim: Claim,
}

pub(super) fn refused(path: PathBuf, message: impl Into<String>) -> Error {
    Error::JournalRefused { path, message: message.into() }
}

/// The folders of the attempts at an index that are there.
fn attempts(shards: &Path, index: usize) -> Vec<PathBuf> {
    let more = (1..).map(|number| apart(shards, index, number)).take_while(|path| path.is_dir());
    std::iter::once(shards.join(index.to_string())).filter(|path| path.is_dir()).chain(more).collect()
}

fn apart(shards: &Path, index: usize, number: usize) -> PathBuf {
    shards.join(format!("{index}.{number}"))
}

/// Whether a process is at an index, as far as the system knows.
fn is_alive(shards: &Path, index: usize) -> bool {
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
    pub fn plan_below(
        pipeline: &ValidPipeline,
        data: &Path,
        of: impl Into<ShardCount>,
        ledger: &Path,
    ) -> Result<Self> {
        Shards::planned(pipeline, data, of.into(), |prepared| Ok(ledger.join(key(pipeline, prepared)?)))
    }

    fn planned(
        pipeline: &ValidPipeline,
        data: &Path,
        count: ShardCount,
        folder: impl FnOnce(&Prepared) -> Result<PathBuf>,
    ) -> Result<Self> {
        Error::unless_between("--of", count.of.unwrap_or(1), 1..=1_000_000)?;
        let prepared = prepare(pipeline, data)?;
        let searched = prepared.searched(pipeline);
        let is_in_parts = Work::new(&searched, &prepared, StopSign::default())?.is_in_parts();
        let folder = folder(&prepared)?;
        let failed = |e: std::io::Error| Error::Unwritable { path: folder.clone(), message: e.to_string() };
        std::fs::create_dir_all(folder.join(FOLDER)).map_err(failed)?;
        let plan = Plan::of(pipeline, (&prepared, data), (count, is_in_parts), &folder)?;
        plan.put(&folder)?;
        let shards = Shards::of(&folder, plan)?;
        *shards.held() = Some(Arc::new(prepared));
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
        Ok(Shards { folder: folder.to_owned(), plan, pipeline, prepared: Mutex::default() })
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

    /// The data, which are read once.
    fn prepared(&self) -> Result<Arc<Prepared>> {
        let mut held = self.held();
        if let Some(prepared) = &*held {
            return Ok(Arc::clone(prepared));
        }
        let prepared = Arc::new(prepare(&self.pipeline, &self.folder)?);
        if prepared.digest.written()? != self.plan.data {
            return Err(refused(self.folder.join(PLAN), "the data have changed since it was written; plan again"));
        }
        Ok(Arc::clone(held.insert(prepared)))
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

    fn done_file(&self, index: usize) -> PathBuf {
        self.folder.join(FOLDER).join(format!("{index}.jsonl"))
    }

    fn work_folder(&self, index: usize) -> PathBuf {
        self.folder.join(FOLDER).join(index.to_string())
    }

    fn attempts(&self, index: usize) -> Vec<PathBuf> {
        attempts(&self.folder.join(FOLDER), index)
    }

    /// What all attempts at an index have done; `None` before the first has.
    pub(super) fn begun(&self, index: usize) -> Result<Option<HashMap<String, String>>> {
        let header = self.header()?;
        let mut all: Option<HashMap<String, String>> = None;
        for folder in self.attempts(index) {
            if let Some(known) = read(&folder.join(NAME), &header)? {
                all.get_or_insert_default().extend(known.pieces);
            }
        }
        Ok(all)
    }

    /// What every file of the ledger begins with.
    fn header(&self) -> Result<Header> {
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
        let Some(known) = read(&path, &self.header()?)? else {
            return if path.exists() { Err(refused(path, format!("it is cut short; {REMEDY}"))) } else { Ok(None) };
        };
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

    /// Does the units of an index that are not done, and gives how far it is then. Units that need the search on all rows, which is
    /// index 0's, wait for it so long at most; what is left of them is done by a later call. An index that is done costs nothing.
    ///
    /// # Errors
    /// [`Error::Setting`] for an index that is not planned; [`Error::JournalRefused`] for another build, data that have changed
    /// and files of another run; [`Error::Unwritable`], also while another process runs the index; [`Error::Stopped`]; those of
    /// the work. What was done before is kept.
    pub fn run<'m>(&self, index: usize, wait: Duration, monitor: impl Into<Monitor<'m>>) -> Result<ShardProgress> {
        let taken = format!("another process runs index {index}; wait until it has ended");
        let work = self.work_folder(index);
        self.run_by(index, wait, monitor.into(), || Ok((Claim::unless_taken(&work, &taken)?, work)))
    }

    /// The same in a folder of its own, from what earlier attempts have done: none of them is in its way, be it that one still
    /// goes on, is slow, or was lost with its machine. The first that is done counts.
    ///
    /// # Errors
    /// Those of [`Shards::run`], of which one that another process runs the index is none.
    pub fn run_apart<'m>(&self, index: usize, monitor: impl Into<Monitor<'m>>) -> Result<ShardProgress> {
        let mut begun = None;
        let done = self.run_by(index, Duration::ZERO, monitor.into(), || {
            let known = self.begun(index)?.unwrap_or_default();
            let (claim, work) = self.fresh_attempt(index)?;
            begun = Some((work.clone(), known.len()));
            if !known.is_empty() {
                Book::put(&work, &self.header()?, &known.into_iter().collect::<BTreeMap<_, _>>())?;
            }
            Ok((claim, work))
        });
        if let (Err(_), Some((work, known))) = (&done, begun) {
            // One that came no further leaves nothing.
            let now = read(&work.join(NAME), &self.header()?).ok().flatten().map_or(0, |known| known.pieces.len());
            if now <= known {
                let _ = std::fs::remove_dir_all(work);
            }
        }
        done
    }

    /// A folder that no other attempt has.
    fn fresh_attempt(&self, index: usize) -> Result<(Claim, PathBuf)> {
        for number in 1.. {
            let path = apart(&self.folder.join(FOLDER), index, number);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok((Claim::new(&path)?, path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::Unwritable { path, message: error.to_string() }),
            }
        }
        Err(refused(self.work_folder(index), "there are too many attempts at it"))
    }

    fn run_by(
        &self,
        index: usize,
        wait: Duration,
        monitor: Monitor<'_>,
        begin: impl FnOnce() -> Result<(Claim, PathBuf)>,
    ) -> Result<ShardProgress> {
        if index >= self.plan.of {
            let message = format!("there is no index {index}; the last is {}", self.plan.of - 1);
            return Err(Error::setting("--index", message));
        }
        self.check_build()?;
        if self.finished(index)?.is_some() {
            return Ok(self.with_left(index, ShardState::Done, 0));
        }
        let (claim, work) = begin()?;
        let start = Instant::now();
        let header = self.header()?;
        if self.helps(index) && self.finished(self.searching())?.is_some() {
            // Without a look at the data.
            let own = self.plan.units.of_index(index, self.plan.of);
            self.keep(index, &header, &own.into_iter().map(|key| (key, NOTHING.to_owned())).collect())?;
            drop(claim);
            return Ok(self.with_left(index, ShardState::Done, 0));
        }
        let prepared = self.prepared()?;
        let book = Arc::new(Book::resume(&work, &header)?);
        let limited = limited(monitor, &book, start, self.pipeline.most());
        let least = if book.keeps_all() { Duration::ZERO } else { parts::LEAST };
        let crew = self.crew(index, &prepared, (least, &limited.stop))?;
        let share = Arc::new(Share::new(Arc::clone(&book), self.plan.units.clone(), (index, self.plan.of), crew));
        let monitor = &mut Monitor { journal: Journal::new(Arc::clone(&share) as _), ..limited };
        let done = self.work(&prepared, &share, wait, monitor);
        let stopped = monitor.stop.reason();
        book.finish()?;
        done?;
        let left = share.missing();
        if left.is_empty() {
            self.keep(index, &header, &share.pieces())?;
            drop(claim);
            return Ok(self.with_left(index, ShardState::Done, 0));
        } else if let Some(reason) = stopped {
            return Err(Error::Stopped(reason));
        } else if !left.iter().all(|key| key.starts_with(HALVES)) {
            return Err(Error::Stopped(StopReason::Interrupted));
        }
        self.progress_of(index)
    }

    /// The index that searches all rows.
    fn searching(&self) -> usize {
        self.plan.units.number(SEARCH).unwrap_or(0) % self.plan.of
    }

    /// The processes that make the search on all rows together, of an index that is among them.
    fn crew(
        &self,
        index: usize,
        prepared: &Prepared,
        (least, stop): (Duration, &StopSign),
    ) -> Result<Option<Arc<SearchParts>>> {
        let count = self.plan.units.parts();
        if count < 2 || index >= count {
            return Ok(None);
        }
        let (folder, end) = (parts::folder(&self.folder), self.done_file(self.searching()));
        let shards = self.folder.join(FOLDER);
        let is_alive = Box::new(move |index: usize| is_alive(&shards, index));
        let run = key(&self.pipeline, prepared)?;
        let crew = SearchParts::new(folder, end, run, (index, count), least, is_alive, stop.clone());
        Ok(Some(Arc::new(crew)))
    }

    /// Puts the pieces of an index in place, unless another attempt has, and removes those that are not needed any more.
    fn keep(&self, index: usize, header: &Header, pieces: &BTreeMap<String, String>) -> Result<()> {
        if self.finished(index)?.is_none() {
            let failed = |e: std::io::Error| Error::Unwritable { path: self.done_file(index), message: e.to_string() };
            write_file(&self.done_file(index), &written(header, pieces).map_err(|e| failed(e.into()))?)?;
        }
        self.attempts(index).iter().rev().for_each(|folder| drop(std::fs::remove_dir_all(folder)));
        if index == self.searching() {
            let _ = std::fs::remove_dir_all(parts::folder(&self.folder));
        }
        Ok(())
    }

    /// Goes on with an index as long as there is something to do, or to wait for.
    fn work(&self, prepared: &Prepared, share: &Arc<Share>, wait: Duration, monitor: &mut Monitor<'_>) -> Result<()> {
        let searched = prepared.searched(&self.pipeline);
        let work = Work::new(&searched, prepared, monitor.stop.clone())?;
        let refresh = || {
            share.learn(self.found(share.index)?);
            Ok(())
        };
        let shards = self.folder.join(FOLDER);
        let is_alive = |index: usize| is_alive(&shards, index);
        let others = (&refresh, &is_alive);
        work.go_on(share, monitor, others)?;
        let begun = Instant::now();
        while !share.missing().is_empty() && begun.elapsed() < wait && monitor.stop.reason().is_none() {
            std::thread::sleep(LOOK.min(wait));
            work.go_on(share, monitor, others)?;
        }
        Ok(())
    }

    /// What other indexes have found that an index needs: folds of the choice, and all of the search once it is done.
    fn found(&self, own: usize) -> Result<HashMap<String, String>> {
        let searching = self.searching();
        let starts = self.plan.units.starts(self.plan.of);
        let others: BTreeSet<usize> = starts.into_iter().map(|(_, index)| index).chain([searching]).collect();
        let mut all = HashMap::new();
        for index in others.into_iter().filter(|index| *index != own) {
            let mut known = self.pieces(index)?;
            if index != searching || !known.contains_key(SEARCH) {
                known.retain(|key, _| key.starts_with(STARTS));
            }
            all.extend(known);
        }
        Ok(all)
    }
}
