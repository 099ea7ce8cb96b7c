//! Checkpoints of a pass in the folder of the run: a pass that was killed goes on from the last.

use crate::claim::Claim;
use crate::journal::{Keeps, set_aside};
use sha2::{Digest, Sha256};
use std::fs::remove_file;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vaglio_core::{Error, Result, StopSign};
use vaglio_tables::disk::{fresh, regular};

/// Its name in the folder of a run.
pub(crate) const NAME: &str = "moments.bin";
/// How it begins.
const MAGIC: &[u8; 17] = b"vaglio moments 2\n";
/// A larger file is not read.
const MOST: u64 = 1 << 36;
/// Time between two, at least, and how many times as long as one takes to be written.
const BETWEEN: Duration = Duration::from_secs(3);
const TIMES: u32 = 20;

/// The hash of what a pass follows from.
pub(super) type Key = [u8; 32];

/// Writes the state of a pass now and then.
pub(crate) struct Checkpoints<'k> {
    claim: &'k mut Option<Claim>,
    out: &'k Path,
    is_resumed: bool,
    keeps: Keeps,
    last: Instant,
    took: Duration,
}

impl<'k> Checkpoints<'k> {
    /// In the folder of a run, which is claimed once something is kept.
    pub fn new(claim: &'k mut Option<Claim>, out: &'k Path, is_resumed: bool) -> Self {
        let keeps = Keeps::of_environment();
        Checkpoints { claim, out, is_resumed, keeps, last: Instant::now(), took: Duration::ZERO }
    }

    fn path(&self) -> PathBuf {
        self.out.join(NAME)
    }

    /// What a pass of this key had made, where the run goes on.
    pub fn known(&self, key: &Key) -> Option<Vec<u8>> {
        if self.is_resumed { read(&self.path(), key) } else { None }
    }

    /// Keeps what was made, unless that was done a moment ago; at the end of a pass also what was cheap to make.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn keep(&mut self, key: &Key, is_last: bool, content: impl FnOnce() -> Vec<u8>) -> Result<()> {
        let is_due = match self.keeps {
            Keeps::Nothing => false,
            Keeps::Every => true,
            Keeps::Worthwhile if is_last => self.last.elapsed() >= BETWEEN,
            Keeps::Worthwhile => self.last.elapsed() >= BETWEEN.max(TIMES * self.took),
        };
        if !is_due {
            return Ok(());
        }
        let begun = Instant::now();
        if self.claim.is_none() {
            *self.claim = Some(Claim::new(self.out)?);
        }
        if !std::mem::replace(&mut self.is_resumed, true) {
            // From here on the run can be resumed, and not the one before.
            set_aside(self.out)?;
        }
        write(&self.path(), key, &content())?;
        (self.last, self.took) = (Instant::now(), begun.elapsed());
        Ok(())
    }
}

/// What was kept under a key; `None` where there is nothing, or something else.
fn read(path: &Path, key: &Key) -> Option<Vec<u8>> {
    let mut bytes = regular(path, MOST).ok().flatten()?;
    let head = MAGIC.len() + 2 * key.len();
    let (magic, rest) = bytes.split_at_checked(MAGIC.len())?;
    let (own, rest) = rest.split_at_checked(key.len())?;
    let (sum, content) = rest.split_at_checked(key.len())?;
    let is_whole = magic == MAGIC && own == key && *sum == *Sha256::digest(content);
    is_whole.then(|| bytes.split_off(head))
}

fn write(path: &Path, key: &Key, content: &[u8]) -> Result<()> {
    let put = || -> std::io::Result<()> {
        let (temporary, mut file) = fresh(path, None)?;
        for part in [&MAGIC[..], &key[..], &Sha256::digest(content)[..], content] {
            file.write_all(part)?;
        }
        file.sync_all()?;
        std::fs::rename(temporary, path)
    };
    put().map_err(|error| Error::Unwritable { path: path.to_owned(), message: error.to_string() })
}

/// The ranges of a pass that several processes share, each kept in a file of a folder.
pub(crate) struct RangeStore<'r> {
    pub folder: PathBuf,
    /// Whether this process is to make a range, else whether one is at work that is.
    pub is_own: Box<dyn Fn(usize) -> bool + 'r>,
    pub is_alive: Box<dyn Fn(usize) -> bool + 'r>,
    /// What ends the work on ranges, and the wait for others.
    pub stop: StopSign,
}

/// Between two looks at what others have made, and how long one may take a range before another makes it too.
const LOOK: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(60);

impl RangeStore<'_> {
    /// Processes whose memory parts the pass otherwise have files of their own.
    fn path(&self, key: &Key, range: usize) -> PathBuf {
        self.folder.join(format!("{range}-{:02x}{:02x}{:02x}{:02x}.bin", key[0], key[1], key[2], key[3]))
    }

    /// What was made of a range.
    pub fn known(&self, key: &Key, range: usize) -> Option<Vec<u8>> {
        read(&self.path(key, range), key)
    }

    /// Says that a range is not there which was.
    pub fn lost(&self, key: &Key, range: usize) -> Error {
        Error::Unreadable { path: self.path(key, range), message: "it is damaged; remove it and run again".into() }
    }

    /// Makes ranges until all are there: the own ones first, then those that no process is at.
    ///
    /// A process that makes nothing for long may hang, and from then on nobody is waited for. Nothing is lost where it does
    /// not: a range has the same bytes whoever makes it.
    ///
    /// # Errors
    /// Those of `made`; [`Error::Unwritable`]; [`Error::Stopped`].
    pub fn fill(&self, key: &Key, count: usize, made: impl Fn(usize) -> Result<Vec<u8>>) -> Result<()> {
        let failed = |e: std::io::Error| Error::Unwritable { path: self.folder.clone(), message: e.to_string() };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let (mut left, mut since) = ((0..count).collect::<Vec<usize>>(), Instant::now());
        let mut waits = true;
        loop {
            self.stop.check()?;
            let before = left.len();
            left.retain(|&range| self.known(key, range).is_none());
            if left.len() < before {
                since = Instant::now();
            }
            let own = left.iter().find(|range| (self.is_own)(**range));
            let free = || left.iter().rev().find(|range| !(self.is_alive)(**range));
            waits &= since.elapsed() <= PATIENCE;
            let waited = || left.last().filter(|_| !waits);
            match own.or_else(free).or_else(waited) {
                Some(&range) => write(&self.path(key, range), key, &made(range)?)?,
                None if left.is_empty() => return Ok(()),
                None => std::thread::sleep(LOOK),
            }
        }
    }
}

/// Removes what was kept of a run that has ended.
pub(crate) fn forget(out: &Path) {
    // There is none as a rule.
    let _ = remove_file(out.join(NAME));
}

/// Bytes that are written one after the other.
#[derive(Default)]
pub(super) struct StateWriter(pub Vec<u8>);

impl StateWriter {
    pub fn count(&mut self, count: usize) {
        self.0.extend((count as u64).to_le_bytes());
    }

    pub fn words(&mut self, words: &[u64]) {
        self.count(words.len());
        words.iter().for_each(|word| self.0.extend(word.to_le_bytes()));
    }

    pub fn doubles(&mut self, values: &[f64]) {
        self.count(values.len());
        values.iter().for_each(|value| self.0.extend(value.to_bits().to_le_bytes()));
    }

    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }
}

/// Bytes that are read again.
pub(super) struct StateReader<'w>(pub &'w [u8]);

impl StateReader<'_> {
    fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }

    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.word()?).ok()
    }

    pub fn words(&mut self) -> Option<Vec<u64>> {
        (0..self.count()?).map(|_| self.word()).collect()
    }

    pub fn doubles(&mut self) -> Option<Vec<f64>> {
        (0..self.count()?).map(|_| self.word().map(f64::from_bits)).collect()
    }

    pub fn text(&mut self) -> Option<String> {
        let count = self.count()?;
        let (text, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}
