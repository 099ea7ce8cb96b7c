//! `journal.jsonl`: completed work of a run, one checksummed line per piece, from which a later run can resume.

mod lines;

pub(super) use lines::{JournalContent, JournalHeader, read, written};

use super::run_folder::sync_folder;
use lines::{piece, sealed};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vaglio_core::{Error, JournalStore, Result};
use vaglio_tables::disk::{fresh, write_file};
use vaglio_tables::read::Digest;

/// File name of a run's journal; `PREVIOUS` is that of the journal before.
pub(super) const NAME: &str = "journal.jsonl";
const PREVIOUS: &str = "journal.previous.jsonl";
/// Time that a line waits to be written together with others.
const WAIT: Duration = Duration::from_millis(20);
/// Minimum interval between syncs to disk.
const SYNC: Duration = Duration::from_secs(1);

/// Writes the first line of a journal; an existing one is renamed once that is on disk.
fn begin(path: &Path, header: &JournalHeader) -> Result<OpenJournal> {
    let failed = |error: std::io::Error| Error::unwritable(path, error);
    let body = serde_json::to_string(header)?;
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
    Ok(OpenJournal { file, length: line.len() as u64, sum })
}

/// Journal of a running run.
pub(super) struct RunJournal {
    path: PathBuf,
    /// Pieces present on opening.
    pub known: HashMap<String, String>,
    /// Whether an earlier run began the journal.
    pub is_resumed: bool,
    shared: Arc<BookState>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Hash that the writer waits for first.
    data: Option<Digest>,
    keeps: JournalFilter,
    remedy: &'static str,
}

/// Kinds of pieces to keep, set by an environment variable for tests and benchmarks.
#[derive(PartialEq)]
pub(super) enum JournalFilter {
    Worthwhile,
    Every,
    Nothing,
}

impl JournalFilter {
    pub fn from_environment() -> Self {
        match std::env::var("VAGLIO_JOURNAL").as_deref() {
            Ok("every") => JournalFilter::Every,
            Ok("nothing") => JournalFilter::Nothing,
            _ => JournalFilter::Worthwhile,
        }
    }
}

#[derive(Default)]
struct BookState {
    state: Mutex<JournalState>,
    changed: Condvar,
    over: Condvar,
    has_failed: AtomicBool,
}

#[derive(Default)]
struct JournalState {
    begun: Option<OpenJournal>,
    /// Pieces waiting for the first line.
    held: Vec<String>,
    /// Lines not yet written.
    waiting: String,
    failure: Option<Error>,
    is_over: bool,
}

/// A journal whose first line is on disk.
struct OpenJournal {
    file: File,
    /// Length of the complete lines, in bytes.
    length: u64,
    sum: String,
}

impl JournalState {
    fn keep(&mut self, body: String) {
        match &mut self.begun {
            Some(begun) => self.waiting += &sealed(&body, &mut begun.sum),
            None => self.held.push(body),
        }
    }

    fn begin(&mut self, begun: OpenJournal) {
        self.begun = Some(begun);
        std::mem::take(&mut self.held).into_iter().for_each(|body| self.keep(body));
    }
}

impl BookState {
    fn state(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, state: &mut JournalState, failure: Error) {
        self.has_failed.store(true, Ordering::SeqCst);
        state.failure.get_or_insert(failure);
    }

    /// Writes the waiting lines; on failure truncates the file to its last complete line.
    fn write(&self, state: &mut JournalState, path: &Path) {
        let lines = std::mem::take(&mut state.waiting);
        let Some(begun) = &mut state.begun else { return };
        if lines.is_empty() || state.failure.is_some() {
            return;
        }
        match begun.file.write_all(lines.as_bytes()) {
            Ok(()) => begun.length += lines.len() as u64,
            Err(error) => {
                let _ = begun.file.set_len(begun.length);
                self.fail(state, Error::unwritable(path, error));
            }
        }
    }
}

impl RunJournal {
    /// Writes a complete journal of these pieces; an existing one is renamed.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if the file cannot be written.
    pub fn put<'p>(
        out: &Path,
        header: &JournalHeader,
        pieces: impl IntoIterator<Item = (&'p String, &'p String)>,
    ) -> Result<()> {
        let path = out.join(NAME);
        let text = written(header, pieces)?;
        if path.exists() {
            std::fs::rename(&path, out.join(PREVIOUS)).map_err(|error| Error::unwritable(&path, error))?;
        }
        write_file(&path, &text)
    }

    /// Begins a journal; an existing one is renamed once the first line of the new one is on disk. Pieces are held in
    /// memory while that line waits for the hash of the data.
    pub fn begin(out: &Path, data: Digest, configuration: serde_json::Value) -> Self {
        let (path, of_header) = (out.join(NAME), data.clone());
        let begin = move || begin(&path, &JournalHeader::new(&of_header.written()?, configuration));
        let mut book = RunJournal::with_pieces(out, HashMap::new(), false, begin);
        book.data = Some(data);
        book
    }

    /// Resumes an existing journal, or begins one.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for a journal that was altered or is of another run; [`Error::Unwritable`].
    pub fn resume(out: &Path, header: &JournalHeader) -> Result<Self> {
        let path = out.join(NAME);
        let Some(known) = read(&path, header)?.filter(JournalContent::is_begun) else {
            let begun = begin(&path, header)?;
            return Ok(RunJournal::with_pieces(out, HashMap::new(), false, move || Ok(begun)));
        };
        let JournalContent { pieces, length, sum } = known;
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(&path)?;
            // Drops an incomplete last line.
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|error| Error::unwritable(&path, error))?;
        let mut book = RunJournal::with_pieces(out, pieces, true, move || Ok(OpenJournal { file, length, sum }));
        book.remedy = header.remedy;
        Ok(book)
    }

    fn with_pieces(
        out: &Path,
        known: HashMap<String, String>,
        is_resumed: bool,
        begin: impl FnOnce() -> Result<OpenJournal> + Send + 'static,
    ) -> Self {
        let path = out.join(NAME);
        let shared = Arc::<BookState>::default();
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
        let (writer, keeps) = (Mutex::new(Some(writer)), JournalFilter::from_environment());
        RunJournal { path, known, is_resumed, shared, writer, data: None, keeps, remedy: "" }
    }

    /// Whether pieces are kept at all.
    pub fn is_kept(&self) -> bool {
        self.keeps != JournalFilter::Nothing
    }

    /// Whether writing has failed.
    pub fn has_failed(&self) -> bool {
        self.shared.has_failed.load(Ordering::SeqCst)
    }

    /// Writes the waiting lines and ends the writer.
    ///
    /// # Errors
    /// Returns the error of a failed write.
    pub fn finish(&self) -> Result<()> {
        // Waiting here keeps a pool thread from waiting for a writer that waits for the pool.
        let _ = self.data.as_ref().map(Digest::written);
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        self.shared.over.notify_all();
        let writer = self.writer.lock().map_or(None, |mut writer| writer.take());
        if writer.is_some_and(|writer| writer.join().is_err()) {
            return Err(Error::unwritable(&self.path, "its writer has ended early"));
        }
        self.shared.state().failure.take().map_or(Ok(()), Err)
    }
}

impl Drop for RunJournal {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

impl JournalStore for RunJournal {
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
                let refused = Error::journal_refused(&self.path, message);
                self.shared.fail(&mut self.shared.state(), refused);
            }
            return;
        }
        self.shared.state().keep(piece(key, value));
        self.shared.changed.notify_all();
    }

    fn keeps_all(&self) -> bool {
        self.keeps == JournalFilter::Every
    }
}

/// Writer thread: writes lines in batches and syncs them to disk at intervals.
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
            // Without sync support the lines are written as far as possible.
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
