//! `journal.jsonl`: finished work of a run, one checksummed line a piece, from which another run of the same goes on.

mod lines;

pub(super) use lines::{Header, Known, read, written};

use super::sync::sync_folder;
use lines::{piece, sealed};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vaglio_core::{Error, Keeper, Result};
use vaglio_tables::disk::{fresh, write_file};
use vaglio_tables::read::Digest;

/// Its name in the folder of a run, and that of the journal of the run before.
pub(super) const NAME: &str = "journal.jsonl";
const PREVIOUS: &str = "journal.previous.jsonl";
/// How long a line waits for others that are written with it.
const WAIT: Duration = Duration::from_millis(20);
/// How often what was written is forced to the disk, at most.
const SYNC: Duration = Duration::from_secs(1);

/// Writes the first line of a journal; one that is there is set aside once that is on the disk.
fn begin(path: &Path, header: &Header) -> Result<Begun> {
    let failed = |error: std::io::Error| Error::Unwritable { path: path.to_owned(), message: error.to_string() };
    let body = serde_json::to_string(header).map_err(|error| failed(error.into()))?;
    let mut sum = String::new();
    let line = sealed(&body, &mut sum);
    let there = path.symlink_metadata().ok();
    let like = there.as_ref().filter(|known| known.is_file());
    let (temporary, mut file) = fresh(path, like).map_err(failed)?;
    let begun = || -> std::io::Result<File> {
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
        if there.is_some() {
            std::fs::rename(path, path.with_file_name(PREVIOUS))?;
        }
        std::fs::rename(&temporary, path)?;
        if let Some(folder) = path.parent() {
            sync_folder(folder);
        }
        Ok(file)
    };
    let file = begun().map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        failed(error)
    })?;
    Ok(Begun { file, length: line.len() as u64, sum })
}

/// Sets the journal of the run before aside.
///
/// # Errors
/// [`Error::Unwritable`].
pub(super) fn set_aside(out: &Path) -> Result<()> {
    let path = out.join(NAME);
    match std::fs::rename(&path, out.join(PREVIOUS)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::Unwritable { path, message: error.to_string() })
        }
        _ => Ok(()),
    }
}

/// The journal of a run under way.
pub(super) struct Book {
    path: PathBuf,
    known: HashMap<String, String>,
    is_resumed: bool,
    shared: Arc<BookState>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// What the writer waits for at first.
    data: Option<Digest>,
    keeps: Keeps,
    remedy: &'static str,
}

/// What is kept, by the environment: for tests, and to measure what a journal costs.
#[derive(PartialEq)]
pub(super) enum Keeps {
    Worthwhile,
    Every,
    Nothing,
}

impl Keeps {
    pub fn of_environment() -> Self {
        match std::env::var("VAGLIO_JOURNAL").as_deref() {
            Ok("every") => Keeps::Every,
            Ok("nothing") => Keeps::Nothing,
            _ => Keeps::Worthwhile,
        }
    }
}

struct BookState {
    state: Mutex<State>,
    changed: Condvar,
    over: Condvar,
    has_failed: AtomicBool,
}

struct State {
    begun: Option<Begun>,
    /// What waits for its first line.
    held: Vec<String>,
    /// Lines that are not in it yet.
    waiting: String,
    failure: Option<Error>,
    is_over: bool,
}

/// A journal whose first line is on the disk.
struct Begun {
    file: File,
    /// Bytes of whole lines in the file.
    length: u64,
    sum: String,
}

impl State {
    fn keep(&mut self, body: String) {
        match &mut self.begun {
            Some(begun) => self.waiting += &sealed(&body, &mut begun.sum),
            None => self.held.push(body),
        }
    }

    fn begin(&mut self, begun: Begun) {
        self.begun = Some(begun);
        std::mem::take(&mut self.held).into_iter().for_each(|body| self.keep(body));
    }
}

impl BookState {
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
        let Some(begun) = &mut state.begun else { return };
        if lines.is_empty() || state.failure.is_some() {
            return;
        }
        match begun.file.write_all(lines.as_bytes()) {
            Ok(()) => begun.length += lines.len() as u64,
            Err(error) => {
                let _ = begun.file.set_len(begun.length);
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
        let begun = begin(&out.join(NAME), header)?;
        Ok(Book::of(out, HashMap::new(), false, move || Ok(begun)))
    }

    /// Puts a journal of these pieces in place; one that is there is set aside.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn put<'p>(
        out: &Path,
        header: &Header,
        pieces: impl IntoIterator<Item = (&'p String, &'p String)>,
    ) -> Result<()> {
        let path = out.join(NAME);
        let failed = |message: String| Error::Unwritable { path: path.clone(), message };
        let text = written(header, pieces).map_err(|error| failed(error.to_string()))?;
        if path.exists() {
            std::fs::rename(&path, out.join(PREVIOUS)).map_err(|error| failed(error.to_string()))?;
        }
        write_file(&path, &text)
    }

    /// The same once the hash of the data is known; what is kept before waits in memory.
    pub fn begin_behind(out: &Path, data: Digest, configuration: serde_json::Value) -> Self {
        let path = out.join(NAME);
        let of_header = data.clone();
        let begin = move || begin(&path, &Header::new(&of_header.written()?, configuration));
        let mut book = Book::of(out, HashMap::new(), false, begin);
        book.data = Some(data);
        book
    }

    /// Goes on with the journal that is there, or begins one.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for a journal that was altered or is of another run; [`Error::Unwritable`].
    pub fn resume(out: &Path, header: &Header) -> Result<Self> {
        let path = out.join(NAME);
        let Some(known) = read(&path, header)?.filter(Known::is_begun) else { return Book::begin(out, header) };
        let Known { pieces, length, sum } = known;
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(&path)?;
            // A torn last line goes.
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|error| Error::Unwritable { path: path.clone(), message: error.to_string() })?;
        let mut book = Book::of(out, pieces, true, move || Ok(Begun { file, length, sum }));
        book.remedy = header.remedy;
        Ok(book)
    }

    fn of(
        out: &Path,
        known: HashMap<String, String>,
        is_resumed: bool,
        begin: impl FnOnce() -> Result<Begun> + Send + 'static,
    ) -> Self {
        let path = out.join(NAME);
        let state = State { begun: None, held: Vec::new(), waiting: String::new(), failure: None, is_over: false };
        let (changed, over) = (Condvar::new(), Condvar::new());
        let shared =
            Arc::new(BookState { state: Mutex::new(state), changed, over, has_failed: AtomicBool::new(false) });
        let writer = {
            let (shared, path) = (Arc::clone(&shared), path.clone());
            std::thread::spawn(move || {
                let begun = begin();
                let mut state = shared.state();
                match begun {
                    Ok(begun) => state.begin(begun),
                    Err(error) => shared.fail(&mut state, error),
                }
                drop(state);
                writing(&shared, &path);
            })
        };
        let (writer, keeps) = (Mutex::new(Some(writer)), Keeps::of_environment());
        Book { path, known, is_resumed, shared, writer, data: None, keeps, remedy: "" }
    }

    /// Whether an earlier run began it.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// What was there when it was opened.
    pub fn known(&self) -> &HashMap<String, String> {
        &self.known
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
        // A thread of a pool may not wait for a writer that waits for the pool.
        let _ = self.data.as_ref().map(Digest::written);
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
                    "`{key}` comes out otherwise than it is there, as it may on another machine; {}",
                    self.remedy
                );
                let refused = Error::JournalRefused { path: self.path.clone(), message };
                self.shared.fail(&mut self.shared.state(), refused);
            }
            return;
        }
        self.shared.state().keep(piece(key, value));
        self.shared.changed.notify_all();
    }

    fn keeps_all(&self) -> bool {
        self.keeps == Keeps::Every
    }
}

/// Writes lines as they come, those of a moment together, and now and then forces them to the disk.
fn writing(shared: &BookState, path: &Path) {
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
        let (is_over, file) = (state.is_over, state.begun.as_ref().and_then(|begun| begun.file.try_clone().ok()));
        drop(state);
        if is_dirty && (is_over || synced.elapsed() >= SYNC) {
            // Where the disk cannot say that it has it, the lines are there as far as they are.
            let _ = file.map(|file| file.sync_data());
            (synced, is_dirty) = (Instant::now(), false);
        }
        if is_over {
            return;
        }
        let pause = shared.over.wait_timeout_while(shared.state(), WAIT, |state| !state.is_over);
        drop(pause.unwrap_or_else(PoisonError::into_inner));
    }
}
