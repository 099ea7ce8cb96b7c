//! `journal.jsonl`: completed work of a run, one checksummed line per piece, from which a later run can resume.

mod lines;

pub use lines::{JournalContent, JournalHeader, Pieces, journal_text, read, seal, unseal};

use super::run_folder::sync_folder;
use lines::piece;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vaglio_core::{Error, Result};
use vaglio_search::JournalStore;
use vaglio_tables::disk::{create_temporary, temporary_path};
use vaglio_tables::read::Digest;

/// File name of a run's journal; `PREVIOUS` is that of the journal before.
pub const NAME: &str = "journal.jsonl";
const PREVIOUS: &str = "journal.previous.jsonl";
/// Minimum interval between syncs to disk.
const SYNC: Duration = Duration::from_secs(1);

/// Writes a journal of some pieces; an existing one is renamed once the new one is on disk.
fn begin(path: &Path, header: &JournalHeader, pieces: &Pieces) -> Result<OpenJournal> {
    let (text, sum) = journal_text(header, pieces)?;
    let there = path.symlink_metadata().ok();
    let begun = || -> std::io::Result<File> {
        let (temporary, mut file) = create_temporary(path, there.as_ref().filter(|known| known.is_file()))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if there.is_some() {
            std::fs::rename(path, path.with_file_name(PREVIOUS))?;
        }
        std::fs::rename(temporary, path)?;
        if let Some(folder) = path.parent() {
            sync_folder(folder);
        }
        Ok(file)
    };
    let file = begun().map_err(|error| {
        let _ = std::fs::remove_file(temporary_path(path));
        Error::unwritable(path, error)
    })?;
    Ok(OpenJournal { file, length: text.len() as u64, sum })
}

/// A journal that is on disk, to be appended to.
struct OpenJournal {
    file: File,
    /// Length of the complete lines, in bytes.
    length: u64,
    sum: String,
}

impl OpenJournal {
    /// Writes pieces until their senders are gone: those that wait together, synced to disk at intervals.
    fn write(mut self, pieces: &Receiver<String>) -> std::io::Result<()> {
        let mut synced = Instant::now();
        let mut is_dirty = false;
        loop {
            let piece = pieces.recv_timeout(SYNC);
            if let Ok(first) = &piece {
                let waiting = pieces.try_iter();
                let mut lines = seal(first, &mut self.sum);
                waiting.for_each(|more| lines += &seal(&more, &mut self.sum));
                let written = self.file.write_all(lines.as_bytes());
                // After a failure the file ends with its last complete line.
                written.inspect_err(|_| drop(self.file.set_len(self.length)))?;
                self.length += lines.len() as u64;
                is_dirty = true;
            }
            let is_over = piece == Err(RecvTimeoutError::Disconnected);
            if is_dirty && (is_over || synced.elapsed() >= SYNC) {
                // Without sync support the lines are written as far as possible.
                let _ = self.file.sync_data();
                (synced, is_dirty) = (Instant::now(), false);
            }
            if is_over {
                return Ok(());
            }
        }
    }
}

/// Journal of a running run.
pub struct RunJournal {
    path: PathBuf,
    /// Pieces present on opening.
    pub known: Pieces,
    /// Whether an earlier run began the journal.
    pub is_resumed: bool,
    /// Thread that writes the pieces, until it is to end.
    writer: Mutex<Option<(Sender<String>, JoinHandle<()>)>>,
    failure: Arc<OnceLock<Error>>,
    /// Whether even small pieces are kept, as tests ask by an environment variable.
    keeps_all: bool,
    remedy: &'static str,
}

impl RunJournal {
    /// Writes a complete journal of these pieces; an existing one is renamed once the new one is on disk.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if the file cannot be written.
    pub fn put(out: &Path, header: &JournalHeader, pieces: &Pieces) -> Result<()> {
        begin(&out.join(NAME), header, pieces).map(drop)
    }

    /// Begins a journal; an existing one is renamed once the first line of the new one is on disk. Pieces are held in
    /// memory while that line waits for the hash of the data.
    pub fn begin(out: &Path, data: Digest, configuration: serde_json::Value) -> Self {
        let path = out.join(NAME);
        let begin = move || begin(&path, &JournalHeader::new(&data.wait()?, configuration), &Pieces::new());
        RunJournal::with_pieces(out, None, begin)
    }

    /// Resumes an existing journal, or begins one.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for a journal that was altered or is of another run; [`Error::Unwritable`].
    pub fn resume(out: &Path, header: &JournalHeader) -> Result<Self> {
        let path = out.join(NAME);
        let Some(known) = read(&path, header)?.filter(JournalContent::is_begun) else {
            let begun = begin(&path, header, &Pieces::new())?;
            return Ok(RunJournal::with_pieces(out, None, move || Ok(begun)));
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
        let mut journal = RunJournal::with_pieces(out, Some(pieces), move || Ok(OpenJournal { file, length, sum }));
        journal.remedy = header.remedy;
        Ok(journal)
    }

    fn with_pieces(
        out: &Path,
        known: Option<Pieces>,
        begin: impl FnOnce() -> Result<OpenJournal> + Send + 'static,
    ) -> Self {
        let (path, failure) = (out.join(NAME), Arc::<OnceLock<Error>>::default());
        let (sender, pieces) = channel();
        let writer = {
            let path = path.clone();
            let failure = Arc::clone(&failure);
            std::thread::spawn(move || {
                let unwritable = |error: std::io::Error| Error::unwritable(path, error);
                let written = begin().and_then(|journal| journal.write(&pieces).map_err(unwritable));
                written.unwrap_or_else(|error| drop(failure.set(error)));
            })
        };
        let writer = Mutex::new(Some((sender, writer)));
        let keeps_all = std::env::var("VAGLIO_JOURNAL").is_ok_and(|kept| kept == "every");
        let is_resumed = known.is_some();
        let known = known.unwrap_or_default();
        RunJournal { path, known, is_resumed, writer, failure, keeps_all, remedy: "" }
    }

    /// Whether writing has failed.
    pub fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// Writes the waiting lines and ends the writer.
    pub fn finish(&self) -> Result<()> {
        if let Some((pieces, writer)) = self.writer.lock().map_or(None, |mut writer| writer.take()) {
            drop(pieces);
            if writer.join().is_err() {
                let _first_counts = self.failure.set(Error::unwritable(&self.path, "its writer has ended early"));
            }
        }
        self.failure.get().map_or(Ok(()), |failure| Err(failure.clone()))
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
                    "`{key}` has another value now than when it was written, as it may on another machine; {}",
                    self.remedy
                );
                let _first_counts = self.failure.set(Error::journal_refused(&self.path, message));
            }
            return;
        }
        if let Ok(Some((pieces, _))) = self.writer.lock().as_deref()
            && !self.has_failed()
        {
            // After a failed write there is no receiver.
            let _ = pieces.send(piece(key, value));
        }
    }

    fn keeps_all(&self) -> bool {
        self.keeps_all
    }
}
