//! The folder of a run, which one run at a time writes; its files come into place together.

use super::sync::sync_folder;
use std::fs::{File, TryLockError};
use std::io::{Error as IoError, ErrorKind, Write};
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};
use vaglio_tables::disk::temporary;

/// The files of a result, in the order in which they come into place: the last says that all are there.
const FILES: [&str; 4] = ["model.json", "resolved.yaml", "report.html", "selection.json"];
/// The settings of the run.
const SETTINGS: &str = "resolved.yaml";
/// The last of them.
const LAST: &str = "selection.json";
/// Of a result that another took the place of, and of one before that, where a run has failed in between.
const PREVIOUS: &str = "previous";
const OLDER: &str = "older";

/// A folder that no other run writes as long as this lives.
#[derive(Debug)]
pub(super) struct Claim {
    out: PathBuf,
    /// Locked, where the system can.
    lock: Option<File>,
}

/// `selection.json` as `selection.previous.json`.
fn named(file: &str, age: &str) -> String {
    if age.is_empty() {
        return file.to_owned();
    }
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    format!("{stem}.{age}.{ending}")
}

impl Claim {
    /// Claims a folder, which is made where it is not there.
    ///
    /// # Errors
    /// [`Error::Unwritable`] when another run is in it, and where it cannot be made.
    pub fn new(out: &Path) -> Result<Self> {
        let failed = |e: IoError| Error::Unwritable { path: out.to_owned(), message: e.to_string() };
        std::fs::create_dir_all(out).map_err(failed)?;
        Ok(Claim { out: out.to_owned(), lock: lock(out)? })
    }

    /// Claims a folder that is there.
    ///
    /// # Errors
    /// [`Error::Unwritable`] when another run is in it.
    pub fn existing(out: &Path) -> Result<Option<Self>> {
        match out.is_dir() {
            true => Ok(Some(Claim { out: out.to_owned(), lock: lock(out)? })),
            false => Ok(None),
        }
    }

    /// Finds out whether files can be written, and removes those that runs which were killed left half written.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn make_ready(&self) -> Result<()> {
        let probe = self.out.join(format!(".probe.{}", std::process::id()));
        let written = std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe));
        written.map_err(|e| Error::Unwritable { path: self.out.clone(), message: e.to_string() })?;
        self.sweep();
        Ok(())
    }

    /// Removes what has no other owner than a run that was killed: none other is in the folder.
    fn sweep(&self) {
        for entry in std::fs::read_dir(&self.out).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let base = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part"));
            let base = base.and_then(|base| base.rsplit_once('.'));
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_part = base.is_some_and(|(file, number)| is_number(number) && is_own(file));
            let is_probe = name.strip_prefix(".probe.").is_some_and(is_number);
            if is_part || is_probe {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Puts the files of a result in place, the last when all others are there. What was in their place is kept as
    /// `….previous.…`, unless `replaces` says that it is of this run.
    ///
    /// # Errors
    /// [`Error::Unwritable`]; before the new files are all on the disk nothing is changed.
    pub fn put(&self, texts: &[(&str, &str)], replaces: bool) -> Result<()> {
        let written = texts.iter().try_for_each(|(name, text)| self.write_part(name, text));
        let placed = written.and_then(|()| {
            if replaces && (self.is_partial() || self.is_of(texts)) {
                match std::fs::remove_file(self.out.join(LAST)) {
                    // A refused run has set it aside.
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.failed(LAST, error)),
                    _ => Ok(()),
                }?;
            } else {
                self.keep_result()?;
            }
            for file in FILES.iter().filter(|file| texts.iter().any(|(name, _)| name == *file)) {
                let path = self.out.join(file);
                std::fs::rename(temporary(&path), &path).map_err(|e| self.failed(file, e))?;
            }
            Ok(())
        });
        match &placed {
            Ok(()) => FILES.iter().for_each(|file| drop(std::fs::remove_file(self.out.join(named(file, OLDER))))),
            Err(_) => FILES.iter().for_each(|file| drop(std::fs::remove_file(temporary(&self.out.join(file))))),
        }
        sync_folder(&self.out);
        placed
    }

    /// Sets the result aside after a run that has failed, so that none looks like its own. The one that was set aside
    /// before is kept as well.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn set_aside(&self) -> Result<()> {
        if self.out.join(LAST).exists() && self.out.join(named(LAST, PREVIOUS)).exists() {
            self.copy(PREVIOUS, OLDER).or_else(|_| self.shift(PREVIOUS, OLDER))?;
        }
        self.keep_result().or_else(|_| self.shift("", PREVIOUS))
    }

    /// Keeps the result that is there as the previous one.
    fn keep_result(&self) -> Result<()> {
        let last = self.out.join(LAST);
        if !last.exists() {
            return Ok(());
        }
        self.copy("", PREVIOUS)?;
        std::fs::remove_file(&last).map_err(|e| self.failed(LAST, e))
    }

    /// Gives the files of one age a second name; at every moment a whole set of them is there.
    fn copy(&self, from: &str, to: &str) -> Result<()> {
        let there: Vec<&str> = FILES.into_iter().filter(|file| self.out.join(named(file, from)).exists()).collect();
        let part = |file: &str| temporary(&self.out.join(named(file, to)));
        let linked = there.iter().try_for_each(|file| {
            let (from, part) = (self.out.join(named(file, from)), part(file));
            let _ = std::fs::remove_file(&part);
            let linked = std::fs::hard_link(&from, &part).or_else(|_| std::fs::copy(&from, &part).map(drop));
            linked.map_err(|e| self.failed(file, e))
        });
        if linked.is_err() {
            there.iter().for_each(|file| drop(std::fs::remove_file(part(file))));
            return linked;
        }
        // Without its last file a set is none.
        for file in FILES.iter().rev() {
            let _ = std::fs::remove_file(self.out.join(named(file, to)));
        }
        for file in there {
            let path = self.out.join(named(file, to));
            std::fs::rename(part(file), &path).map_err(|e| self.failed(file, e))?;
        }
        Ok(())
    }

    /// Gives the files of one age another name, where the disk has no room for a second.
    fn shift(&self, from: &str, to: &str) -> Result<()> {
        for file in FILES {
            let [from, to] = [from, to].map(|age| self.out.join(named(file, age)));
            let _ = std::fs::remove_file(&to);
            if from.exists() {
                std::fs::rename(&from, &to).map_err(|e| self.failed(file, e))?;
            }
        }
        Ok(())
    }

    fn write_part(&self, name: &str, text: &str) -> Result<()> {
        let write = || -> std::io::Result<()> {
            let mut file = File::create(temporary(&self.out.join(name)))?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|e| self.failed(name, e))
    }

    /// Whether the result that is there was cut short.
    fn is_partial(&self) -> bool {
        let text = std::fs::read_to_string(self.out.join(LAST)).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|record| record["status"] == "partial")
    }

    /// Whether the result that is there has the settings of the new one: that of a run which was killed when all was written.
    fn is_of(&self, texts: &[(&str, &str)]) -> bool {
        let there = std::fs::read_to_string(self.out.join(SETTINGS)).ok();
        texts.iter().any(|(name, text)| *name == SETTINGS && there.as_deref() == Some(*text))
    }

    fn failed(&self, name: &str, error: IoError) -> Error {
        Error::Unwritable { path: self.out.join(name), message: error.to_string() }
    }
}

/// Unlocks: a process that another thread is about to start may hold the folder open for a moment longer.
impl Drop for Claim {
    fn drop(&mut self) {
        let _ = self.lock.as_ref().map(File::unlock);
    }
}

/// Whether a file is one that runs write into their folder.
fn is_own(file: &str) -> bool {
    let ages = ["", PREVIOUS, OLDER];
    file == "journal.jsonl" || FILES.iter().any(|own| ages.iter().any(|age| named(own, age) == file))
}

/// Locks a folder; nothing where the system cannot.
fn lock(out: &Path) -> Result<Option<File>> {
    let refused = |message: String| Error::Unwritable { path: out.to_owned(), message };
    let opened = if cfg!(unix) {
        File::open(out)
    } else {
        File::options().create(true).truncate(false).write(true).open(out.join(".lock"))
    };
    let Ok(file) = opened else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(refused(
            "another run is in this folder; wait until it has ended, or give `--out` another folder".into(),
        )),
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::WouldBlock => {
            Err(refused("another run is in this folder".into()))
        }
        Err(TryLockError::Error(error)) => {
            tracing::info!("{} cannot be locked: {error}", out.display());
            Ok(None)
        }
    }
}
