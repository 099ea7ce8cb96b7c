//! `journal.jsonl`: completed work of a run, one checksummed line per piece, from which a later run can resume.

use super::run_folder::sync_folder;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vaglio_core::{Error, Result, saved};
use vaglio_pipeline::document::key_path;
use vaglio_search::JournalStore;
use vaglio_tables::budget::Budget;
use vaglio_tables::disk::{create_temporary, none_if_missing, read_open_file_at_most, temporary_path};
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

/// Version of the format.
const FORMAT: &str = "vaglio.journal/1";
/// Size limit of a journal, in bytes: months of work at one line per moment.
const LARGEST: u64 = 1 << 33;
/// Hexadecimal digits of a line's checksum.
const DIGITS: usize = 16;

/// Values of pieces of work by their keys, as JSON.
pub type Pieces = BTreeMap<String, String>;

/// First line of a journal: identifies the run.
#[saved]
#[derive(Clone, PartialEq)]
pub struct JournalHeader {
    format: String,
    version: String,
    /// Hash of the data.
    data: String,
    configuration: serde_json::Value,
    /// Advice for a rejected journal.
    #[serde(skip)]
    pub remedy: &'static str,
}

/// Advice for a rejected journal of a run.
const BEGIN: &str = "to begin anew, leave `--resume` out, which sets this journal aside";

impl JournalHeader {
    pub fn new(data: &str, configuration: serde_json::Value) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        JournalHeader { format: FORMAT.into(), version, data: data.into(), configuration, remedy: BEGIN }
    }

    /// Describes the first difference to another run's header.
    fn differs(&self, other: &JournalHeader) -> Option<String> {
        if self.format != other.format || self.version != other.version {
            let theirs = &other.version;
            let ours = &self.version;
            return Some(format!("it was written by version {theirs} ({}), and this is {ours}", other.format));
        }
        if self.data != other.data {
            return Some("the data have changed since it was written".into());
        }
        let path = different(&self.configuration, &other.configuration, String::new())?;
        Some(format!("it is of a run with other settings: `{path}` differs"))
    }
}

/// Path of the first different value.
fn different(a: &serde_json::Value, b: &serde_json::Value, path: String) -> Option<String> {
    let (serde_json::Value::Object(fields_a), serde_json::Value::Object(fields_b)) = (a, b) else {
        return (a != b).then_some(path);
    };
    let below = |key: &str| key_path(&path, key);
    let missing = fields_b.keys().find(|key| !fields_a.contains_key(*key)).map(|key| below(key));
    let null = serde_json::Value::Null;
    fields_a
        .iter()
        .find_map(|(key, value)| different(value, fields_b.get(key).unwrap_or(&null), below(key)))
        .or(missing)
}

/// JSON object of a piece, with its value verbatim.
fn piece(key: &str, value: &str) -> String {
    format!("{{\"key\":{},\"value\":{value}}}", serde_json::Value::from(key))
}

#[derive(Deserialize)]
struct ReadPiece<'p> {
    #[serde(borrow)]
    key: std::borrow::Cow<'p, str>,
    #[serde(borrow)]
    value: &'p RawValue,
}

/// Line of a JSON object with a checksum of it and all previous lines.
pub fn seal(body: &str, sum: &mut String) -> String {
    let open = &body[..body.len() - 1];
    *sum = checksum(sum, open);
    format!("{open},\"sum\":\"{sum}\"}}\n")
}

fn checksum(before: &str, open: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes()).update(open.as_bytes());
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}

/// Object of a line, if its checksum is right.
pub fn unseal(line: &str, sum: &mut String) -> Option<String> {
    let at = line.len().checked_sub(DIGITS + ",\"sum\":\"\"}".len())?;
    let open = line.get(..at)?;
    let seal = line.get(at..)?;
    *sum = checksum(sum, open);
    (seal == format!(",\"sum\":\"{sum}\"}}")).then(|| format!("{open}}}"))
}

/// Content of a journal that was read.
pub struct JournalContent {
    pub pieces: Pieces,
    /// Length of its complete lines, in bytes.
    length: u64,
    sum: String,
}

impl JournalContent {
    /// Whether the first line is complete.
    pub fn is_begun(&self) -> bool {
        self.length > 0
    }
}

/// Reads the journal of a header's run up to its last complete line; `None` without a file. Other processes may rename
/// or remove it meanwhile.
pub fn read(path: &Path, header: &JournalHeader) -> Result<Option<JournalContent>> {
    let begin = header.remedy;
    let refused = |what: String| Error::journal_refused(path, format!("{what}; {begin}"));
    let Some(known) = none_if_missing(path, std::fs::metadata(path))? else { return Ok(None) };
    if !known.is_file() {
        return Err(refused("it is no regular file".into()));
    } else if known.len() > LARGEST {
        return Err(refused(format!("it has more than {LARGEST} bytes")));
    }
    // The bytes, the lines and the pieces are in memory together.
    Budget::for_machine().need(3.0 * known.len() as f64, path.display(), begin)?;
    let Some(file) = none_if_missing(path, std::fs::File::open(path))? else { return Ok(None) };
    let bytes =
        read_open_file_at_most(file, path, LARGEST)?.ok_or_else(|| refused("it grows while it is read".into()))?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut sum = String::new();
    let mut pieces = Pieces::new();
    for (number, line) in (1..).zip(bytes[..whole].split_inclusive(|byte| *byte == b'\n')) {
        let line = &line[..line.len() - 1];
        if line.is_empty() {
            return Err(refused("a line was emptied after it was written".into()));
        }
        let altered = || refused(format!("line {number} was altered after it was written"));
        let line = std::str::from_utf8(line).map_err(|_| altered())?;
        let body = unseal(line, &mut sum).ok_or_else(altered)?;
        if number == 1 {
            let found: JournalHeader =
                serde_json::from_str(&body).map_err(|_| refused("it is no journal that this version knows".into()))?;
            if let Some(what) = header.differs(&found) {
                return Err(refused(what));
            }
            continue;
        }
        let piece: ReadPiece<'_> = serde_json::from_str(&body).map_err(|_| altered())?;
        pieces.insert(piece.key.into_owned(), piece.value.get().to_owned());
    }
    Ok(Some(JournalContent { pieces, length: whole as u64, sum }))
}

/// Text of a journal with exactly these pieces, and the checksum of its last line.
pub fn journal_text(header: &JournalHeader, pieces: &Pieces) -> serde_json::Result<(String, String)> {
    let mut sum = String::new();
    let mut text = seal(&serde_json::to_string(header)?, &mut sum);
    for (key, value) in pieces {
        text += &seal(&piece(key, value), &mut sum);
    }
    Ok((text, sum))
}
