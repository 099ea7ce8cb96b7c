//! `journal.jsonl`: finished work of a run, one checksummed line a piece, from which another run of the same goes on.

use super::beside::sync_folder;
use crate::disk::temporary;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vaglio_core::{Error, Keeper, Result};

/// The version of the format.
const FORMAT: &str = "vaglio.journal/1";
/// Its name in the folder of a run, and that of the journal of the run before.
const NAME: &str = "journal.jsonl";
const PREVIOUS: &str = "journal.previous.jsonl";
/// Digits of the checksum of a line.
const DIGITS: usize = 16;
/// How long a line waits for others that are written with it.
const WAIT: Duration = Duration::from_millis(20);
/// How often what was written is forced to the disk, at most.
const SYNC: Duration = Duration::from_secs(1);

/// What a journal is of, its first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    format: String,
    version: String,
    /// SHA-256 of the data.
    data: String,
    configuration: serde_json::Value,
}

impl Header {
    pub fn new(data: &str, configuration: serde_json::Value) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Header { format: FORMAT.into(), version, data: data.into(), configuration }
    }

    /// What is not alike in the header of another run.
    fn differs(&self, other: &Header) -> Option<String> {
        if self.format != other.format || self.version != other.version {
            let (theirs, ours) = (&other.version, &self.version);
            return Some(format!("it was written by version {theirs} ({}), and this is {ours}", other.format));
        }
        if self.data != other.data {
            return Some("the data have changed since it was written".into());
        }
        let path = different(&self.configuration, &other.configuration, String::new())?;
        Some(format!("it is of a run with other settings: `{path}` differs"))
    }
}

/// The path of the first value that is not alike.
fn different(a: &serde_json::Value, b: &serde_json::Value, path: String) -> Option<String> {
    let (serde_json::Value::Object(of_a), serde_json::Value::Object(of_b)) = (a, b) else {
        return (a != b).then_some(path);
    };
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let missing = of_b.keys().find(|key| !of_a.contains_key(*key)).map(|key| below(key));
    let null = serde_json::Value::Null;
    of_a.iter().find_map(|(key, value)| different(value, of_b.get(key).unwrap_or(&null), below(key))).or(missing)
}

#[derive(Serialize)]
struct Piece<'p> {
    key: &'p str,
    value: &'p RawValue,
}

#[derive(Deserialize)]
struct ReadPiece<'p> {
    #[serde(borrow)]
    key: std::borrow::Cow<'p, str>,
    #[serde(borrow)]
    value: &'p RawValue,
}

/// A line of a JSON object, with a checksum of it and of all before.
fn sealed(body: &str, sum: &mut String) -> String {
    let open = &body[..body.len() - 1];
    *sum = checksum(sum, open);
    format!("{open},\"sum\":\"{sum}\"}}\n")
}

fn checksum(before: &str, open: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(before);
    digest.update(open);
    let mut sum = format!("{:x}", digest.finalize());
    sum.truncate(DIGITS);
    sum
}

/// The object of a line whose checksum is right.
fn unsealed(line: &str, sum: &mut String) -> Option<String> {
    let at = line.len().checked_sub(DIGITS + ",\"sum\":\"\"}".len())?;
    let (open, seal) = (line.get(..at)?, line.get(at..)?);
    *sum = checksum(sum, open);
    (seal == format!(",\"sum\":\"{sum}\"}}")).then(|| format!("{open}}}"))
}

/// What was read of a journal.
struct Known {
    pieces: HashMap<String, String>,
    /// Bytes of its whole lines.
    length: u64,
    sum: String,
}

/// Reads a journal of the run of a header, up to its last whole line; `None` where there is not even a first.
fn read(path: &Path, header: &Header) -> Result<Option<Known>> {
    let begin = "to begin anew, leave `--resume` out, which sets this journal aside";
    let refused = |what: String| Error::JournalRefused { path: path.to_owned(), message: format!("{what}; {begin}") };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(crate::read::system(path, &error)),
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let (mut sum, mut pieces, mut is_first) = (String::new(), HashMap::new(), true);
    for (number, line) in
        (1..).zip(bytes[..whole].split(|byte| *byte == b'\n')).take_while(|(_, line)| !line.is_empty())
    {
        let altered = || refused(format!("line {number} was altered after it was written"));
        let line = std::str::from_utf8(line).map_err(|_| altered())?;
        let body = unsealed(line, &mut sum).ok_or_else(altered)?;
        if std::mem::take(&mut is_first) {
            let found: Header =
                serde_json::from_str(&body).map_err(|_| refused("it is no journal that this version knows".into()))?;
            if let Some(what) = header.differs(&found) {
                return Err(refused(what));
            }
            continue;
        }
        let piece: ReadPiece<'_> = serde_json::from_str(&body).map_err(|_| altered())?;
        pieces.insert(piece.key.into_owned(), piece.value.get().to_owned());
    }
    let is_plain = bytes[..whole].windows(2).all(|pair| pair != b"\n\n") && bytes.first() != Some(&b'\n');
    if !is_plain {
        return Err(refused("a line was emptied after it was written".into()));
    }
    Ok((!is_first).then_some(Known { pieces, length: whole as u64, sum }))
}

/// The journal of a run under way.
pub(super) struct Book {
    path: PathBuf,
    known: HashMap<String, String>,
    is_resumed: bool,
    shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
    keeps: Keeps,
}

/// What is kept, by the environment: for tests, and to measure what a journal costs.
#[derive(PartialEq)]
enum Keeps {
    Worthwhile,
    Every,
    Nothing,
}

impl Keeps {
    fn of_environment() -> Self {
        match std::env::var("VAGLIO_JOURNAL").as_deref() {
            Ok("every") => Keeps::Every,
            Ok("nothing") => Keeps::Nothing,
            _ => Keeps::Worthwhile,
        }
    }
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    over: Condvar,
    has_failed: AtomicBool,
}

struct State {
    file: File,
    /// Bytes of whole lines in the file.
    length: u64,
    /// Lines that are not in it yet.
    waiting: String,
    sum: String,
    failure: Option<Error>,
    is_over: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, state: &mut State, failure: Error) {
        self.has_failed.store(true, Ordering::SeqCst);
        state.failure.get_or_insert(failure);
    }

    /// Writes the lines that wait; where they do not fit, the file ends with the last whole line before.
    fn write(&self, state: &mut State, path: &Path) {
        let lines = std::mem::take(&mut state.waiting);
        if lines.is_empty() || state.failure.is_some() {
            return;
        }
        match state.file.write_all(lines.as_bytes()) {
            Ok(()) => state.length += lines.len() as u64,
            Err(error) => {
                let _ = state.file.set_len(state.length);
                self.fail(state, Error::Unwritable { path: path.to_owned(), message: error.to_string() });
            }
        }
    }
}

impl Book {
    /// Begins a journal; one that is there is set aside once the first line of the new one is on the disk.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn begin(out: &Path, header: &Header) -> Result<Self> {
        let path = out.join(NAME);
        let failed = |error: std::io::Error| Error::Unwritable { path: path.clone(), message: error.to_string() };
        let body = serde_json::to_string(header).map_err(|error| failed(error.into()))?;
        let mut sum = String::new();
        let line = sealed(&body, &mut sum);
        let temporary = temporary(&path);
        let begin = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().create(true).truncate(true).write(true).open(&temporary)?;
            file.write_all(line.as_bytes())?;
            file.sync_all()?;
            if path.exists() {
                std::fs::rename(&path, out.join(PREVIOUS))?;
            }
            std::fs::rename(&temporary, &path)?;
            sync_folder(out);
            Ok(file)
        };
        let file = begin().map_err(|error| {
            let _ = std::fs::remove_file(&temporary);
            failed(error)
        })?;
        Ok(Book::of(path, file, Known { pieces: HashMap::new(), length: line.len() as u64, sum }, false))
    }

    /// Goes on with the journal that is there, or begins one.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for a journal that was altered or is of another run; [`Error::Unwritable`].
    pub fn resume(out: &Path, header: &Header) -> Result<Self> {
        let path = out.join(NAME);
        let Some(known) = read(&path, header)? else { return Book::begin(out, header) };
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(&path)?;
            // A torn last line goes.
            file.set_len(known.length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|error| Error::Unwritable { path: path.clone(), message: error.to_string() })?;
        Ok(Book::of(path, file, known, true))
    }

    fn of(path: PathBuf, file: File, known: Known, is_resumed: bool) -> Self {
        let Known { pieces, length, sum } = known;
        let state = State { file, length, waiting: String::new(), sum, failure: None, is_over: false };
        let (changed, over) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { state: Mutex::new(state), changed, over, has_failed: AtomicBool::new(false) });
        let writer = {
            let (shared, path) = (Arc::clone(&shared), path.clone());
            std::thread::spawn(move || writing(&shared, &path))
        };
        let (writer, keeps) = (Mutex::new(Some(writer)), Keeps::of_environment());
        Book { path, known: pieces, is_resumed, shared, writer, keeps }
    }

    /// Whether an earlier run began it.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Whether anything is kept.
    pub fn is_kept(&self) -> bool {
        self.keeps != Keeps::Nothing
    }

    /// Whether it cannot go on.
    pub fn has_failed(&self) -> bool {
        self.shared.has_failed.load(Ordering::SeqCst)
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// What has kept it from going on.
    pub fn finish(&self) -> Result<()> {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        self.shared.over.notify_all();
        let writer = self.writer.lock().map_or(None, |mut writer| writer.take());
        if writer.is_some_and(|writer| writer.join().is_err()) {
            return Err(Error::Unwritable { path: self.path.clone(), message: "its writer has ended early".into() });
        }
        self.shared.state().failure.take().map_or(Ok(()), Err)
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

impl Keeper for Book {
    fn recall(&self, key: &str) -> Option<String> {
        self.known.get(key).cloned()
    }

    fn keep(&self, key: &str, value: &str) {
        if let Some(known) = self.known.get(key) {
            if known != value {
                let message = format!(
                    "`{key}` comes out otherwise than it is there, as it may on another machine; to begin anew, leave \
                     `--resume` out, which sets this journal aside"
                );
                let refused = Error::JournalRefused { path: self.path.clone(), message };
                self.shared.fail(&mut self.shared.state(), refused);
            }
            return;
        }
        let Ok(value) = RawValue::from_string(value.to_owned()) else { return };
        let Ok(body) = serde_json::to_string(&Piece { key, value: &value }) else { return };
        let mut state = self.shared.state();
        let line = sealed(&body, &mut state.sum);
        state.waiting += &line;
        self.shared.changed.notify_all();
    }

    fn keeps_all(&self) -> bool {
        self.keeps == Keeps::Every
    }
}

/// Writes lines as they come, those of a moment together, and now and then forces them to the disk.
fn writing(shared: &Shared, path: &Path) {
    let (mut synced, mut is_dirty) = (Instant::now(), false);
    loop {
        let mut state = shared.state();
        while state.waiting.is_empty() && !state.is_over {
            let wait = if is_dirty { SYNC } else { Duration::from_secs(3600) };
            let waited = shared.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            if waited.1.timed_out() && is_dirty {
                break;
            }
        }
        is_dirty |= !state.waiting.is_empty();
        shared.write(&mut state, path);
        let (is_over, file) = (state.is_over, state.file.try_clone());
        drop(state);
        if is_dirty && (is_over || synced.elapsed() >= SYNC) {
            // Where the disk cannot say that it has it, the lines are there as far as they are.
            let _ = file.and_then(|file| file.sync_data());
            (synced, is_dirty) = (Instant::now(), false);
        }
        if is_over {
            return;
        }
        let pause = shared.over.wait_timeout_while(shared.state(), WAIT, |state| !state.is_over);
        drop(pause.unwrap_or_else(PoisonError::into_inner));
    }
}
