//! A folder with a table, a model and an ended run, in which untrusted files are read.

use super::Input;
use super::journal::{resealed_journal, resealed_model, timeless};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use vaglio::ValidPipeline;
use vaglio::core::{Error, Result};
use vaglio::files::{FileModel, Language, PredictOptions, RunOptions, RunOutcome, run};
use vaglio::pipeline::{SavedModel, load};
use vaglio::search::Silent;
use vaglio_cli::messages;
use vaglio_tables::ReadSpec;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{ReadRequest, TableSource};

/// Memory that a reader may use beyond that of the process, in bytes.
const MORE: u64 = 200_000_000;
/// Time limit in seconds.
const LONGEST_TIME: f64 = 10.0;
/// Maximum number of characters of a message.
const LONGEST_MESSAGE: usize = 2000;

/// Pipeline of the model.
const PIPELINE: &str = "version: 1\nseed: 3\ndata: {train: train.csv, target: y, types: {t: class}, test_fraction: 0.2}\n\
    preprocess: [date_parts, {kind: impute, how: mean}, {kind: one_hot, rare: 2}, {kind: standardize, scope: train}]\n\
    learner: {kind: rls, lambda: {grid: {from: 0.1, to: 10.0, points: 3}}}\n\
    criterion: {kind: kfold, folds: 4}\nsearch: {kind: greedy, max_features: 2, choose: last}\n\
    evaluate: {nested: {folds: 2}, intervals: 0.9}\nengine: {threads: 1}\n";
/// Pipeline of the journal, which has pieces of every kind.
const REPEATED: &str = "version: 1\nseed: 3\ndata: {train: train.csv, target: y, types: {t: class}, test_fraction: 0.2}\n\
    preprocess: [date_parts, {kind: impute, how: mean}, {kind: one_hot, rare: 2}, {kind: standardize, scope: train}]\n\
    learner: {kind: elm, units: 2, lambda: {grid: {from: 0.1, to: 10.0, points: 2}}}\n\
    tune: {budget: 3, parameters: {learner.input_scaling: {from: 0.1, to: 10.0}}}\ncriterion: loo\n\
    search: [{kind: rank, max_features: 5}, {kind: floating, max_features: 4}, \
    {kind: exhaustive, max_features: 2, choose: {rule: best, folds: 2}}]\n\
    evaluate: {nested: {folds: 2}, permutations: 1, stability: {pairs: 1}}\nengine: {threads: 1}\n";

/// Outcome of reading a file.
#[derive(Debug, Default)]
pub struct Attempt {
    /// Whether it was read.
    pub is_read: bool,
    /// Errors, as the program reports them.
    pub messages: Vec<String>,
    /// Other output.
    printed: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Whether a run resumed from a journal with a different result.
    is_other: bool,
}

impl Attempt {
    /// The broken promise, if any.
    pub fn broken(&self) -> Option<String> {
        let acts = |c: char| c != '\n' && vaglio::core::is_control(c);
        let long = self.messages.iter().map(|message| message.chars().count()).find(|length| *length > LONGEST_MESSAGE);
        if let Some(length) = long {
            return Some(format!("a message has {length} characters"));
        }
        if self.messages.iter().chain([&self.printed]).any(|text| text.contains(acts)) {
            return Some(format!("characters act on a terminal: {:?} {:?}", self.messages, self.printed));
        }
        if self.seconds > LONGEST_TIME {
            return Some(format!("it took {} seconds: {:?}", self.seconds, self.messages));
        }
        self.is_other.then(|| "a journal that is not refused leads to another result".to_owned())
    }

    fn note<T>(&mut self, outcome: Result<T>) -> Option<T> {
        outcome.map_err(|error| self.messages.push(messages::error_message(error))).ok()
    }
}

/// The folder and the original run.
#[derive(Debug)]
pub struct Stand {
    folder: PathBuf,
    model: SavedModel,
    /// Pipeline of resumed runs.
    pipeline: ValidPipeline,
    /// First line of the original journal.
    first: String,
    /// Original result.
    selection: Value,
    pool: rayon::ThreadPool,
}

fn table() -> String {
    let mut text = "a,b,t,d,y\n".to_owned();
    for row in 0..60 {
        let a = (row * 37 % 23) as f64 / 7.0;
        let b = if row % 9 == 4 { String::new() } else { format!("{}", (row * row) % 17) };
        let t = ["u", "\"v,w\"", "x"][row % 3];
        text += &format!("{a},{b},{t},2024-0{}-11,{}\n", row % 9 + 1, 2.0 * a + (row % 5) as f64);
    }
    text
}

/// A new folder, in memory if the system has such a file system.
fn folder() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    base.join(format!("vaglio-hostile-{}-{count}", std::process::id()))
}

impl Stand {
    /// Makes the folder and runs the pipeline.
    ///
    /// # Errors
    /// Returns the errors of the run and of the file system.
    pub fn new() -> Result<Self> {
        let folder = folder();
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("train.csv"), table())?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| Error::failed("threads", e))?;
        let ran = |text: &str, out: &str| -> Result<(ValidPipeline, RunOutcome)> {
            let (pipeline, _) = load(text, "p.yaml", &[])?;
            let options = RunOptions { folder: folder.clone(), out: folder.join(out), ..RunOptions::default() };
            let outcome = pool.install(|| run(&pipeline, &options, &mut Silent))?;
            Ok((pipeline, outcome))
        };
        let (_, RunOutcome { model, .. }) = ran(PIPELINE, "first")?;
        let (pipeline, repeated) = ran(REPEATED, "repeated")?;
        let selection = timeless(&repeated.record.to_text()?).unwrap_or_default();
        let journal = std::fs::read_to_string(folder.join("repeated/journal.jsonl"))?;
        let first = journal.lines().next().unwrap_or_default().to_owned();
        Ok(Stand { folder, model, pipeline, first, selection, pool })
    }

    /// Intact files of this version of the program.
    ///
    /// # Errors
    /// Returns the errors of the file system.
    pub fn whole(&self, input: Input) -> std::io::Result<Option<Vec<u8>>> {
        let name = match input {
            Input::Model => "first/model.json",
            Input::Journal => "repeated/journal.jsonl",
            _ => return Ok(None),
        };
        std::fs::read(self.folder.join(name)).map(Some)
    }

    /// Reads a file in all ways, within a memory limit.
    ///
    /// # Errors
    /// Returns the errors of the file system.
    pub fn attempt(&self, input: Input, bytes: &[u8], limit: u64) -> std::io::Result<Attempt> {
        let begun = Instant::now();
        let mut attempt = Attempt::default();
        self.pool.install(|| match input {
            Input::Pipeline => self.plan(bytes, limit, &mut attempt),
            Input::Model => self.predict(bytes, &mut attempt),
            Input::Journal => self.resume(bytes, &mut attempt),
            Input::Text => self.read("t.csv", bytes, limit, &mut attempt),
            Input::Parquet => self.read("t.parquet", bytes, limit, &mut attempt),
            Input::Arrow => self.read("t.arrows", bytes, limit, &mut attempt),
        })?;
        attempt.seconds = begun.elapsed().as_secs_f64();
        Ok(attempt)
    }

    fn plan(&self, bytes: &[u8], limit: u64, attempt: &mut Attempt) -> std::io::Result<()> {
        let path = self.folder.join("p.yaml");
        std::fs::write(&path, bytes)?;
        let planned = messages::plan_message(&path, &[format!("limits.memory={limit}")]);
        attempt.is_read = planned.is_ok();
        match planned {
            Ok(text) => attempt.printed = text,
            Err(message) => attempt.messages.push(message),
        }
        Ok(())
    }

    fn predict(&self, bytes: &[u8], attempt: &mut Attempt) -> std::io::Result<()> {
        let path = self.folder.join("model.json");
        std::fs::write(&path, bytes)?;
        let mut model = attempt.note(SavedModel::read(&path));
        attempt.is_read = model.is_some();
        if let (None, Some(sealed)) = (&model, resealed_model(bytes)) {
            std::fs::write(&path, sealed)?;
            model = attempt.note(SavedModel::read(&path));
            attempt.is_read = model.is_some();
        }
        if let Some(model) = model {
            let data = self.folder.join("train.csv");
            let of_classes = model.calibration.is_some();
            for (evaluate, intervals, probabilities) in
                [(false, false, false), (true, false, false), (false, true, false), (false, false, of_classes)]
            {
                let beside = PredictOptions { evaluate, intervals, probabilities, ..PredictOptions::default() };
                attempt.note(FileModel(&model).predict_file(&data, &beside));
                attempt.note(FileModel(&model).predict_in_batches(&data, &beside, 16, &mut |predictions| {
                    predictions.to_csv(true).map(|_| ControlFlow::Continue(()))
                }));
            }
            attempt.note(FileModel(&model).formulas(Language::Python));
        }
        Ok(())
    }

    fn resume(&self, bytes: &[u8], attempt: &mut Attempt) -> std::io::Result<()> {
        let out = self.folder.join("out");
        let mut resumed = |bytes: &[u8]| -> std::io::Result<Option<Value>> {
            let _nothing_there = std::fs::remove_dir_all(&out);
            std::fs::create_dir_all(&out)?;
            std::fs::write(out.join("journal.jsonl"), bytes)?;
            let options =
                RunOptions { folder: self.folder.clone(), out: out.clone(), resume: true, ..RunOptions::default() };
            let record = attempt.note(run(&self.pipeline, &options, &mut Silent)).map(|outcome| outcome.record);
            Ok(record.and_then(|record| record.to_text().ok()).and_then(|text| timeless(&text)))
        };
        let as_it_is = resumed(bytes)?;
        let sealed = match (&as_it_is, resealed_journal(&self.first, bytes)) {
            (None, Some(sealed)) => resumed(&sealed)?,
            _ => None,
        };
        attempt.is_other = as_it_is.as_ref().is_some_and(|selection| *selection != self.selection);
        attempt.is_read = as_it_is.is_some() || sealed.is_some();
        Ok(())
    }

    fn read(&self, name: &str, bytes: &[u8], limit: u64, attempt: &mut Attempt) -> std::io::Result<()> {
        let path = self.folder.join(name);
        std::fs::write(&path, bytes)?;
        let source =
            TableSource::open_within(std::slice::from_ref(&path), &ReadSpec::default(), Budget::new(limit), false);
        let read = attempt.note(source.and_then(|source| source.read(&ReadRequest::default())));
        attempt.is_read = read.is_some();
        drop(read);
        let enough = &mut |_: &_| Ok(ControlFlow::Continue(()));
        let beside = PredictOptions { evaluate: true, ..PredictOptions::default() };
        attempt.note(FileModel(&self.model).predict_in_batches(&path, &beside, 16, enough));
        Ok(())
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Memory limit from now: that of the process plus some.
pub fn room() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    kib(&status, "VmRSS:").unwrap_or(0) + MORE
}

/// Peak memory of the process.
pub fn peak() -> Option<u64> {
    kib(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Value of a line in KiB, in bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}
