//! Numbers of all columns that several processes compute for the search on all rows.
//!
//! The columns of each query are divided among the processes. Each process appends its results to its own file in the
//! ledger's folder `parts` and reads the others' files. No driver is needed: all processes get the same answers, so
//! they reach the same queries. A process that is late is awaited a little longer than the own part took; then others
//! compute its parts until it reports again. A process that joins late reads all answers and catches up.

use crate::journal::{seal, unseal};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use vaglio_core::{Error, ProcessGroup, Result, StopReason, StopSign, lock};

/// Folder of the parts in a ledger.
pub const FOLDER: &str = "parts";
/// Total time below which each process answers a query alone.
const LEAST: Duration = Duration::from_millis(20);
/// Wait for another process's part: minimum, and multiple of the own time.
const PATIENCE: Duration = Duration::from_millis(20);
const SLOWER: u32 = 3;
/// Interval between looks for other processes and for the end of the search.
const LOOK: Duration = Duration::from_millis(100);
/// Minimum and maximum pause between reads of the others' files.
const PAUSE: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(2)];

/// Process group of a ledger, as seen by one process.
#[derive(Debug)]
pub struct SearchParts {
    folder: PathBuf,
    /// File that exists once the search is done.
    end: PathBuf,
    /// Identifier of the run, with which every query begins.
    run: String,
    /// Own index, whose part comes first.
    index: usize,
    count: usize,
    /// Total time below which each process answers a query alone.
    pub least: Duration,
    pub stop: StopSign,
    state: Mutex<GroupState>,
}

#[derive(Debug, Default)]
struct GroupState {
    /// Own file with the checksum of its last line, and its path once it exists; a failed write closes it.
    own: Option<(File, String)>,
    own_path: Option<PathBuf>,
    others: BTreeMap<PathBuf, PartFile>,
    /// Known parts of each query.
    known: HashMap<String, BTreeMap<usize, PartRecord>>,
    /// Total time of the last query of each kind.
    kinds: HashMap<String, Duration>,
    /// Whether an index is no longer awaited.
    away: Vec<bool>,
    looked: Option<Instant>,
    /// Whether another process has completed the search.
    is_over: bool,
}

impl GroupState {
    /// The index that computes a part: its own, or, if that is away, one of those present, which take equal numbers of
    /// parts.
    fn made_by(&self, part: usize) -> usize {
        if !self.away[part] {
            return part;
        }
        let there: Vec<usize> = (0..self.away.len()).filter(|index| !self.away[*index]).collect();
        let before = self.away[..part].iter().filter(|away| **away).count();
        there.get(before % there.len().max(1)).copied().unwrap_or(part)
    }
}

impl SearchParts {
    /// Process group of a run with `count` parts, as seen by `index`. `end` exists once the search is done.
    pub fn new(folder: PathBuf, end: PathBuf, run: String, index: usize, count: usize) -> Self {
        let state = Mutex::new(GroupState { away: vec![false; count], ..GroupState::default() });
        SearchParts { folder, end, run, index, count, least: LEAST, stop: StopSign::default(), state }
    }

    fn state(&self) -> MutexGuard<'_, GroupState> {
        lock(&self.state)
    }

    /// Whether another process has completed the search.
    pub fn is_over(&self) -> bool {
        let state = &mut *self.state();
        self.look_around(state);
        state.is_over
    }

    /// At intervals looks for new processes and for the end of the search.
    fn look_around(&self, state: &mut GroupState) {
        if state.looked.is_some_and(|last| last.elapsed() < LOOK) {
            return;
        }
        state.looked = Some(Instant::now());
        state.is_over = self.index > 0 && self.end.exists();
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if state.own_path.as_ref() != Some(&path) {
                state.others.entry(path).or_insert_with_key(|path| PartFile::new(path));
            }
        }
    }

    /// Reads new parts of others.
    fn look(&self) {
        let state = &mut *self.state();
        self.look_around(state);
        for file in state.others.values_mut() {
            for part in file.read() {
                if let Some(away) = file.index.and_then(|index| state.away.get_mut(index)) {
                    *away = false;
                }
                state.known.entry(part.question.clone()).or_default().entry(part.part).or_insert(part);
            }
        }
    }

    /// Parts of a query that are not known.
    fn missing(&self, question: &str) -> Vec<usize> {
        let state = self.state();
        let known = state.known.get(question);
        (0..self.count).filter(|part| known.is_none_or(|known| !known.contains_key(part))).collect()
    }

    /// Computes a part and publishes it; returns how long it took.
    fn make(
        &self,
        question: &str,
        part: usize,
        count: usize,
        make: &mut dyn FnMut(Range<usize>) -> Result<Vec<f64>>,
    ) -> Result<Duration> {
        let begun = Instant::now();
        let numbers = make(part * count / self.count..(part + 1) * count / self.count)?;
        let took = begun.elapsed();
        let bits = numbers.into_iter().map(f64::to_bits).collect();
        let made = PartRecord { question: question.to_owned(), part, took, bits };
        let state = &mut *self.state();
        if state.own_path.is_none()
            && let Ok((path, file)) = create(&self.folder, self.index)
        {
            // A process that cannot write computes all parts itself, and so do the others.
            (state.own_path, state.own) = (Some(path), Some((file, String::new())));
        }
        if state.own.as_mut().is_some_and(|(file, sum)| made.append(file, sum).is_err()) {
            // A truncated part would hide all that follow.
            state.own = None;
        }
        state.known.entry(made.question.clone()).or_default().insert(part, made);
        Ok(took)
    }

    /// Marks processes that were awaited in vain as away.
    fn give_up(&self, missing: &[usize], waited: Duration, own: Duration) {
        if waited > PATIENCE.max(SLOWER * own) {
            let state = &mut *self.state();
            let gone: Vec<usize> = missing.iter().map(|part| state.made_by(*part)).collect();
            gone.into_iter().for_each(|index| state.away[index] = true);
        }
    }

    fn check(&self) -> Result<()> {
        self.stop.check()?;
        if self.is_over() { Err(Error::Stopped(StopReason::Interrupted)) } else { Ok(()) }
    }

    /// Whether a query is divided: if the last of its kind took long, or another process has computed a part.
    fn is_parted(&self, kind: &str, question: &str) -> bool {
        let state = self.state();
        state.kinds.get(kind).is_none_or(|took| *took >= self.least) || state.known.contains_key(question)
    }

    fn note(&self, kind: &str, took: Duration) {
        self.state().kinds.insert(kind.to_owned(), took);
    }
}

impl ProcessGroup for SearchParts {
    fn gather(
        &self,
        kind: &str,
        which: &str,
        count: usize,
        make: &mut dyn FnMut(Range<usize>) -> Result<Vec<f64>>,
    ) -> Result<Vec<Vec<f64>>> {
        // Answers of another run or division have another name.
        let question = format!("{} {kind} {which} of {count} in {} parts", self.run, self.count);
        self.look();
        if count < self.count || !self.is_parted(kind, &question) {
            let begun = Instant::now();
            let all = make(0..count)?;
            self.note(kind, begun.elapsed());
            return Ok(vec![all]);
        }
        let mut own = Duration::ZERO;
        let mut waiting = Instant::now();
        let mut pause = PAUSE[0];
        loop {
            self.look();
            self.check()?;
            let missing = self.missing(&question);
            if missing.is_empty() {
                let known = self.state().known.get(&question).cloned().unwrap_or_default();
                let parts = known.into_values().take(self.count);
                let numbers = |part: PartRecord| -> Vec<f64> { part.bits.into_iter().map(f64::from_bits).collect() };
                let (took, all): (Vec<Duration>, _) = parts.map(|part| (part.took, numbers(part))).unzip();
                self.note(kind, took.iter().sum());
                return Ok(all);
            }
            // The own part precedes those of processes that are away.
            let is_own = |part: &&usize| self.state().made_by(**part) == self.index;
            let next = missing.iter().filter(is_own).min_by_key(|part| **part != self.index);
            if let Some(&part) = next {
                own = own.max(self.make(&question, part, count, make)?);
                (waiting, pause) = (Instant::now(), PAUSE[0]);
                continue;
            }
            self.give_up(&missing, waiting.elapsed(), own);
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(PAUSE[1]);
        }
    }
}

/// Numbers of one part of a query.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PartRecord {
    question: String,
    part: usize,
    /// Time it took to compute.
    took: Duration,
    /// Bits of the numbers, which JSON holds exactly.
    bits: Vec<u64>,
}

impl PartRecord {
    /// Appends the part to a file whose last line has the checksum `sum`.
    fn append(&self, file: &mut File, sum: &mut String) -> std::io::Result<()> {
        file.write_all(seal(&serde_json::to_string(self)?, sum).as_bytes())
    }
}

/// Creates the parts file `INDEX.NUMBER` of this process in a folder, which is created if missing.
fn create(folder: &Path, index: usize) -> std::io::Result<(PathBuf, File)> {
    std::fs::create_dir_all(folder)?;
    for number in 0.. {
        let path = folder.join(format!("{index}.{number}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => return Ok((path, file?)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Parts file of another process.
#[derive(Debug)]
struct PartFile {
    path: PathBuf,
    /// Index that the process works on.
    index: Option<usize>,
    /// Number of bytes read, and checksum of the last line read.
    length: u64,
    sum: String,
}

impl PartFile {
    fn new(path: &Path) -> Self {
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let index = name.and_then(|name| name.parse().ok());
        PartFile { path: path.to_owned(), index, length: 0, sum: String::new() }
    }

    /// New parts of the file, up to one that is incomplete or altered.
    fn read(&mut self) -> Vec<PartRecord> {
        let mut found = Vec::new();
        // Reopened each time, since an open file may show stale content on a network file system.
        let Ok(mut file) = File::open(&self.path) else { return found };
        let is_longer = file.metadata().is_ok_and(|known| known.len() > self.length);
        let mut text = String::new();
        if !is_longer || file.seek(SeekFrom::Start(self.length)).is_err() || file.read_to_string(&mut text).is_err() {
            return found;
        }
        for line in text.split_inclusive('\n') {
            let mut sum = self.sum.clone();
            let body = line.strip_suffix('\n').and_then(|line| unseal(line, &mut sum));
            let Some(part) = body.and_then(|body| serde_json::from_str(&body).ok()) else { break };
            found.push(part);
            self.length += line.len() as u64;
            self.sum = sum;
        }
        found
    }
}

#[cfg(test)]
mod tests;
