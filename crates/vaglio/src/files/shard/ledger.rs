//! The folder of a run that several processes share.

use super::build::build;
use super::share::{Share, missing};
use super::units::{HALVES, SEARCH, WorkUnits};
use super::work::Work;
use crate::document::LARGEST;
use crate::files::claim::Claim;
use crate::files::journal::{Book, Header, Known, NAME, read, written};
use crate::files::monitor::limited;
use crate::files::run::{RunOptions, RunOutcome, resolved, run};
use crate::files::{Prepared, prepare};
use crate::pipeline::{ValidPipeline, load};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vaglio_core::{Error, Journal, Monitor, Result, StopReason};
use vaglio_tables::disk::{regular, write_file};

const PLAN: &str = "shards.json";
const FOLDER: &str = "shards";
const FORMAT: &str = "vaglio.shards/1";
/// Where a file of the ledger is refused.
const REMEDY: &str = "remove this file, and `vaglio shard run` does its index again";
/// How often an index that waits for another looks.
const LOOK: Duration = Duration::from_millis(200);
/// Keys that a sentence names, at most.
const NAMED: usize = 3;

/// What the first file of the folder says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    format: String,
    build: String,
    /// How many indexes there are.
    of: usize,
    /// The hash of the data.
    data: String,
    units: WorkUnits,
    /// The pipeline with every default, its paths relative to the folder.
    pipeline: String,
}

/// A run that several processes share, and its folder.
#[derive(Debug)]
pub struct Shards {
    folder: PathBuf,
    plan: Plan,
    pipeline: ValidPipeline,
}

/// How far an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardState {
    /// Nothing is there of it.
    Absent,
    /// Some of it is there.
    Begun,
    /// All that is left waits for the search, which is another index's.
    Waiting,
    /// All of its units are done.
    Done,
}

/// The units of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ShardProgress {
    /// The index, from 0.
    pub index: usize,
    /// How far it is.
    pub state: ShardState,
    /// Its units.
    pub units: usize,
    /// How many of them are done.
    pub done: usize,
}

fn refused(path: PathBuf, message: impl Into<String>) -> Error {
    Error::JournalRefused { path, message: message.into() }
}

impl Shards {
    /// Plans a run of so many indexes and writes that into a folder, which is made where it is not there. Reads the data once, to
    /// hash them and to part their rows. The same plan may be made again.
    ///
    /// # Errors
    /// [`Error::Setting`] for no index; those with which a run is refused before it begins; [`Error::JournalRefused`] where another
    /// plan is in the folder; [`Error::Unwritable`].
    pub fn plan(pipeline: &ValidPipeline, data: &Path, of: usize, folder: &Path) -> Result<Self> {
        Error::unless_between("--of", of, 1..=1_000_000)?;
        let prepared = prepare(pipeline, data)?;
        Work::new(pipeline, &prepared, vaglio_core::StopSign::default())?;
        let failed = |e: std::io::Error| Error::Unwritable { path: folder.to_owned(), message: e.to_string() };
        std::fs::create_dir_all(folder.join(FOLDER)).map_err(failed)?;
        let options = RunOptions { folder: data.to_owned(), out: folder.to_owned(), ..RunOptions::default() };
        let plan = Plan {
            format: FORMAT.into(),
            build: build()?,
            of,
            data: prepared.digest.written()?,
            units: WorkUnits::of(pipeline, &prepared)?,
            pipeline: resolved(pipeline, &options)?,
        };
        let path = folder.join(PLAN);
        if path.exists() {
            let there = read_plan(&path)?;
            if there != plan {
                let what = differs(&there, &plan);
                return Err(refused(path, format!("{what}; give another folder, or remove this one")));
            }
        } else {
            let text = serde_json::to_string_pretty(&plan).map_err(|e| failed(e.into()))?;
            write_file(&path, &(text + "\n"))?;
        }
        Shards::of(folder, plan)
    }

    /// The run whose plan is in a folder.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where there is no plan, or a damaged one; those of its pipeline.
    pub fn open(folder: &Path) -> Result<Self> {
        Shards::of(folder, read_plan(&folder.join(PLAN))?)
    }

    fn of(folder: &Path, plan: Plan) -> Result<Self> {
        let (pipeline, _) = load(&plan.pipeline, &folder.join(PLAN).display().to_string(), &[])?;
        Ok(Shards { folder: folder.to_owned(), plan, pipeline })
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

    /// What every file of the ledger begins with.
    fn header(&self) -> Result<Header> {
        let pipeline = self.pipeline.configuration()?;
        let configuration = json!({"build": self.plan.build, "indexes": self.plan.of, "pipeline": pipeline});
        Ok(Header::new(&self.plan.data, configuration).remedied(REMEDY))
    }

    fn check_build(&self) -> Result<()> {
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
    fn finished(&self, index: usize) -> Result<Option<Known>> {
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

    /// How far every index is.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for a file of another run, or one that was altered.
    pub fn progress(&self) -> Result<Vec<ShardProgress>> {
        (0..self.plan.of).map(|index| self.progress_of(index)).collect()
    }

    fn progress_of(&self, index: usize) -> Result<ShardProgress> {
        if self.finished(index)?.is_some() {
            return Ok(self.with_left(index, ShardState::Done, 0));
        }
        let Some(known) = read(&self.work_folder(index).join(NAME), &self.header()?)? else {
            let units = self.plan.units.of_index(index, self.plan.of).len();
            return Ok(self.with_left(index, ShardState::Absent, units));
        };
        let left = missing(&self.plan.units, (index, self.plan.of), |key| known.pieces.contains_key(key));
        let waits = left.iter().all(|key| key.starts_with(HALVES)) && !known.pieces.contains_key(SEARCH);
        Ok(self.with_left(index, if waits { ShardState::Waiting } else { ShardState::Begun }, left.len()))
    }

    /// An index of which so many units are left.
    fn with_left(&self, index: usize, state: ShardState, left: usize) -> ShardProgress {
        let units = self.plan.units.of_index(index, self.plan.of).len();
        ShardProgress { index, state, units, done: units - left }
    }

    /// Does the units of an index that are not done, and gives how far it is then. Units that need the search on all rows, which is
    /// index 0's, wait for it so long at most; what is left of them is done by a later call. An index that is done costs nothing.
    ///
    /// # Errors
    /// [`Error::Setting`] for an index that is not planned; [`Error::JournalRefused`] for another build, data that have changed
    /// and files of another run; [`Error::Unwritable`], also while another process runs the index; [`Error::Stopped`]; those of
    /// the work. What was done before is kept.
    pub fn run<'m>(&self, index: usize, wait: Duration, monitor: impl Into<Monitor<'m>>) -> Result<ShardProgress> {
        if index >= self.plan.of {
            let message = format!("there is no index {index}; the last is {}", self.plan.of - 1);
            return Err(Error::setting("--index", message));
        }
        self.check_build()?;
        if self.finished(index)?.is_some() {
            return Ok(self.with_left(index, ShardState::Done, 0));
        }
        let work = self.work_folder(index);
        let taken = format!("another process runs index {index}; wait until it has ended");
        let claim = Claim::unless_taken(&work, &taken)?;
        let start = Instant::now();
        let prepared = prepare(&self.pipeline, &self.folder)?;
        if prepared.digest.written()? != self.plan.data {
            return Err(refused(self.folder.join(PLAN), "the data have changed since it was written; plan again"));
        }
        let header = self.header()?;
        let book = Arc::new(Book::resume(&work, &header)?);
        let share = Arc::new(Share::new(Arc::clone(&book), self.plan.units.clone(), (index, self.plan.of)));
        let limited = limited(monitor.into(), &book, start, self.pipeline.most());
        let monitor = &mut Monitor { journal: Journal::new(Arc::clone(&share) as _), ..limited };
        let done = self.work(&prepared, &share, wait, monitor);
        let stopped = monitor.stop.reason();
        book.finish()?;
        done?;
        let left = share.missing();
        if left.is_empty() {
            let failed = |e: std::io::Error| Error::Unwritable { path: self.done_file(index), message: e.to_string() };
            let text = written(&header, &share.pieces()).map_err(|e| failed(e.into()))?;
            write_file(&self.done_file(index), &text)?;
            drop(claim);
            let _ = std::fs::remove_dir_all(&work);
            return Ok(self.with_left(index, ShardState::Done, 0));
        } else if let Some(reason) = stopped {
            return Err(Error::Stopped(reason));
        } else if !left.iter().all(|key| key.starts_with(HALVES)) {
            return Err(Error::Stopped(StopReason::Interrupted));
        }
        self.progress_of(index)
    }

    /// Goes on with an index as long as there is something to do, or to wait for.
    fn work(&self, prepared: &Prepared, share: &Arc<Share>, wait: Duration, monitor: &mut Monitor<'_>) -> Result<()> {
        let work = Work::new(&self.pipeline, prepared, monitor.stop.clone())?;
        let refresh = || {
            let known = self.searched()?;
            share.learn(known.unwrap_or_default());
            Ok(())
        };
        work.go_on(share, monitor, refresh)?;
        let begun = Instant::now();
        while !share.missing().is_empty() && begun.elapsed() < wait && monitor.stop.reason().is_none() {
            std::thread::sleep(LOOK.min(wait));
            work.go_on(share, monitor, refresh)?;
        }
        Ok(())
    }

    /// What the index that searches has found, once it has.
    fn searched(&self) -> Result<Option<HashMap<String, String>>> {
        let index = self.plan.units.number(SEARCH).unwrap_or(0) % self.plan.of;
        let known = match self.finished(index)? {
            Some(known) => Some(known),
            None => read(&self.work_folder(index).join(NAME), &self.header()?)?,
        };
        Ok(known.map(|known| known.pieces).filter(|pieces| pieces.contains_key(SEARCH)))
    }

    /// Puts the pieces of all indexes together and ends the run with them: the files of a run are in `options.out` then. Its
    /// `selection.json` is that of one process, times and memory aside.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for another build, and where indexes are not done, with what is missing; those of [`run`].
    pub fn merge<'m>(&self, options: &RunOptions, monitor: impl Into<Monitor<'m>>) -> Result<RunOutcome> {
        self.check_build()?;
        let mut pieces: BTreeMap<String, String> = BTreeMap::new();
        for index in 0..self.plan.of {
            match self.finished(index)? {
                Some(known) => pieces.extend(known.pieces),
                None => return Err(self.incomplete()?),
            }
        }
        let claim = Claim::new(&options.out)?;
        Book::put(&options.out, &Header::new(&self.plan.data, self.pipeline.configuration()?), &pieces)?;
        drop(claim);
        run(&self.pipeline, &RunOptions { folder: self.folder.clone(), resume: true, ..options.clone() }, monitor)
    }

    /// What is missing, as a sentence.
    fn incomplete(&self) -> Result<Error> {
        let all = self.progress()?;
        let open: Vec<&ShardProgress> = all.iter().filter(|index| index.state != ShardState::Done).collect();
        let told: Vec<String> = open.iter().take(NAMED).map(|of| self.told(of)).collect::<Result<_>>()?;
        let more = if open.len() > NAMED { format!(", and {} more", open.len() - NAMED) } else { String::new() };
        let message = format!(
            "{} of {} indexes are not done: {}{more}; `vaglio shard run` does them",
            open.len(),
            self.plan.of,
            told.join(", ")
        );
        Ok(refused(self.folder.clone(), message))
    }

    fn told(&self, ShardProgress { index, units, done, .. }: &ShardProgress) -> Result<String> {
        let known = read(&self.work_folder(*index).join(NAME), &self.header()?)?;
        let is_known = |key: &str| known.as_ref().is_some_and(|known| known.pieces.contains_key(key));
        let left = missing(&self.plan.units, (*index, self.plan.of), is_known);
        let more = if left.len() > NAMED { ", …" } else { "" };
        let named = left.iter().take(NAMED).map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        Ok(format!("index {index} ({done} of {units} units, without {named}{more})"))
    }
}

fn read_plan(path: &Path) -> Result<Plan> {
    let unreadable = |message: String| Error::Unreadable { path: path.to_owned(), message };
    if !path.exists() {
        return Err(unreadable("there is no plan here; `vaglio shard plan PIPELINE --of N DIR` makes one".into()));
    }
    let bytes = regular(path, 2 * LARGEST as u64)?.ok_or_else(|| unreadable("it is larger than any plan".into()))?;
    let plan: Plan = serde_json::from_slice(&bytes).map_err(|error| unreadable(format!("it is damaged: {error}")))?;
    if plan.format != FORMAT || plan.of == 0 {
        return Err(unreadable(format!("its format is {}, and this program reads {FORMAT}", plan.format)));
    }
    Ok(plan)
}

/// What two plans have not in common.
fn differs(there: &Plan, own: &Plan) -> &'static str {
    if there.build != own.build {
        "it is a plan of another build"
    } else if there.data != own.data {
        "it is a plan of other data"
    } else if there.of != own.of {
        "it is a plan of another number of indexes"
    } else {
        "it is a plan of another pipeline"
    }
}
