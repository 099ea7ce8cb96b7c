//! The folder of a run, which one run at a time writes; its files come into place together. The report is rendered again
//! from them.

use std::fs::{File, Metadata, TryLockError};
use std::io::{Error as IoError, Write};
use std::path::{Component, Path, PathBuf};
use vaglio_core::{Cause, Error, Result};
use vaglio_pipeline::document::{LARGEST, Node};
use vaglio_report::record::{PartNames, Record};
use vaglio_report::report::{heading, render};
use vaglio_tables::disk::{
    PREVIOUS, check_apart, create_temporary, name_with_age, read_regular, temporary_path, write_file,
};

/// Files of a result, in the order of their renames: the last marks the result as complete.
const FILES: [&str; 4] = ["model.json", "resolved.yaml", "report.html", "selection.json"];
/// The settings of the run.
const SETTINGS: &str = "resolved.yaml";
/// Probe file, written to test whether the folder is writable.
const PROBE: &str = "probe";
/// Size limit, in bytes, of files that are read for comparison.
const MOST_COMPARED: u64 = 1 << 30;
/// File that is renamed last.
const LAST: &str = "selection.json";
/// Suffix of the result before the previous one, kept if a run failed in between.
const OLDER: &str = "older";

/// Message for a folder that another run holds.
const TAKEN: &str = "another run is in this folder; wait until it has ended, or give `--out` another folder";

/// Lock on a run's folder: no other run writes it while this lives.
#[derive(Debug)]
pub struct RunFolder {
    /// The folder.
    pub out: PathBuf,
    /// `None` if the system cannot lock.
    lock: Option<File>,
}

impl RunFolder {
    /// Creates the folder if it is missing, and locks it.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if another run is in it, or if it cannot be created.
    pub fn new(out: &Path) -> Result<Self> {
        RunFolder::unless_taken(out, TAKEN)
    }

    /// Like [`RunFolder::new`], with `taken` as the message for a folder that another process holds.
    pub fn unless_taken(out: &Path, taken: &str) -> Result<Self> {
        if out.is_file() {
            return Err(Error::unwritable(out, "it is a file; name a folder, which is made if it is missing"));
        }
        std::fs::create_dir_all(out).map_err(|e| Error::unwritable(out, e))?;
        Ok(RunFolder { out: out.to_owned(), lock: lock(out, taken)? })
    }

    /// Locks a folder; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if another run is in it.
    pub fn existing(out: &Path) -> Result<Option<Self>> {
        out.is_dir().then(|| RunFolder::new(out)).transpose()
    }

    /// Prepares the folder for writing:
    /// * tests whether files can be written;
    /// * removes half-written files of killed runs;
    /// * renames files that belong to no result but have the name of one of its files.
    pub fn make_ready(&self) -> Result<()> {
        let probe = create_temporary(&self.out.join(PROBE), None).and_then(|(probe, _)| std::fs::remove_file(probe));
        probe.map_err(|e| Error::unwritable(&self.out, e))?;
        self.sweep();
        self.set_strays_aside(None)
    }

    /// Removes the leftovers of killed runs; the lock rules out a running owner.
    fn sweep(&self) {
        let mut was_placing = false;
        for entry in std::fs::read_dir(&self.out).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let base = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part"));
            let base = base.and_then(|base| base.rsplit_once('.'));
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let part_of = base.and_then(|(file, number)| (is_number(number) && is_own(file)).then_some(file));
            if part_of.is_some() {
                was_placing |= part_of == Some(LAST);
                self.remove(&name);
            }
        }
        // Files renamed before the last belong to the killed run.
        if was_placing && !self.is_there(LAST) {
            self.remove_others();
        }
    }

    /// Whether anything has this name, even a dangling link.
    fn is_there(&self, file: &str) -> bool {
        self.out.join(file).symlink_metadata().is_ok()
    }

    /// Removes all files of a result except the last.
    fn remove_others(&self) {
        FILES.iter().filter(|file| **file != LAST).for_each(|file| self.remove(file));
    }

    /// Removes a file if it is there.
    fn remove(&self, name: &str) {
        let _ = std::fs::remove_file(self.out.join(name));
    }

    /// Renames files that have the name of a result's file but belong to none: `report.previous.html`,
    /// `report.previous-2.html`, … Removes a file that is a copy of the first.
    fn set_strays_aside(&self, stays: Option<&str>) -> Result<()> {
        if self.is_there(LAST) {
            return Ok(());
        }
        for file in FILES.iter().filter(|file| self.is_there(file) && Some(**file) != stays) {
            let is_kept = self.bytes(file).is_some_and(|own| self.bytes(&name_with_age(file, PREVIOUS)) == Some(own));
            if is_kept {
                std::fs::remove_file(self.out.join(file)).map_err(|e| self.io_error(file, e))?;
            } else {
                let ages = std::iter::once(PREVIOUS.to_owned()).chain((2..).map(|n| format!("{PREVIOUS}-{n}")));
                let free = ages.map(|age| name_with_age(file, &age)).find(|name| !self.is_there(name));
                self.rename(file, &free.unwrap_or_else(|| name_with_age(file, OLDER)))?;
            }
        }
        Ok(())
    }

    /// Writes the files of a result and renames them into place, in the order of [`FILES`]. Former files are kept as
    /// `….previous.…`, unless `replaces` says that they are of this run.
    ///
    /// # Errors
    /// [`Error::Unwritable`]; nothing is changed before all new files are on the disk.
    pub fn put(&self, texts: [&str; 4], replaces: bool) -> Result<()> {
        let written = FILES.iter().zip(texts).try_for_each(|(file, text)| self.write_part(file, text));
        let mut is_kept = false;
        let placed = written.and_then(|()| {
            self.retire(!(replaces && (self.is_partial() || self.has_settings(texts[1]))))?;
            is_kept = true;
            FILES.iter().try_for_each(|file| self.place(file))
        });
        match &placed {
            Ok(()) => FILES.iter().for_each(|file| self.remove(&name_with_age(file, OLDER))),
            Err(_) => {
                FILES.iter().for_each(|file| drop(std::fs::remove_file(temporary_path(&self.out.join(file)))));
                if is_kept {
                    self.remove_others();
                }
            }
        }
        sync_folder(&self.out);
        placed
    }

    /// Renames an earlier result after a failed run, which would otherwise seem to have made it. The previous result is
    /// kept as well; the run's pipeline stays if it is one of the files.
    pub fn set_aside(&self, pipeline: Option<&Path>) -> Result<()> {
        self.sweep();
        let settings = self.out.join(SETTINGS);
        let is_run = pipeline.is_some_and(|path| check_apart(path, [("", &settings)]).is_err());
        let text = if is_run { std::fs::read(&settings).ok() } else { None };
        if self.is_there(LAST) && self.is_there(&name_with_age(LAST, PREVIOUS)) {
            self.keep(PREVIOUS, OLDER)?;
        }
        let done = if self.is_there(LAST) {
            self.retire(true).map(|()| self.remove_others())
        } else {
            self.set_strays_aside(text.as_ref().map(|_| SETTINGS))
        };
        if let Some(text) = text.filter(|_| !settings.exists()) {
            self.write_part(SETTINGS, &text)?;
            self.place(SETTINGS)?;
        }
        done
    }

    /// Removes the last file of the present result, if any. If `is_kept`, first keeps the result as the previous one.
    fn retire(&self, is_kept: bool) -> Result<()> {
        if is_kept && self.is_there(LAST) {
            self.keep("", PREVIOUS)?;
        }
        if self.is_there(LAST) {
            std::fs::remove_file(self.out.join(LAST)).map_err(|e| self.io_error(LAST, e))?;
        }
        Ok(())
    }

    /// Links the files with one suffix under another; at every moment a complete set exists. Renames them on a disk with
    /// neither links nor space for a copy.
    fn keep(&self, from: &str, to: &str) -> Result<()> {
        let there: Vec<&str> = FILES.into_iter().filter(|file| self.is_there(&name_with_age(file, from))).collect();
        let part = |file: &str| temporary_path(&self.out.join(name_with_age(file, to)));
        let linked = there.iter().try_for_each(|file| {
            let from = self.out.join(name_with_age(file, from));
            let part = part(file);
            let _ = std::fs::remove_file(&part);
            // Links, devices and pipes are moved, not copied.
            if !from.symlink_metadata().is_ok_and(|known| known.is_file()) {
                return std::fs::rename(&from, &part).map_err(|e| self.io_error(file, e));
            }
            let linked = std::fs::hard_link(&from, &part).or_else(|_| std::fs::copy(&from, &part).map(drop));
            linked.map_err(|e| self.io_error(file, e))
        });
        if linked.is_err() {
            there.iter().for_each(|file| drop(std::fs::remove_file(part(file))));
            return self.shift(from, to);
        }
        // The last file goes first: a set without it does not count as a result.
        FILES.iter().rev().for_each(|file| self.remove(&name_with_age(file, to)));
        there.iter().try_for_each(|file| self.place(&name_with_age(file, to)))
    }

    /// Renames the files with one suffix to another.
    fn shift(&self, from: &str, to: &str) -> Result<()> {
        for file in FILES {
            let [from, to] = [from, to].map(|age| name_with_age(file, age));
            self.remove(&to);
            if self.is_there(&from) {
                self.rename(&from, &to)?;
            }
        }
        Ok(())
    }

    /// Renames a file.
    fn rename(&self, from: &str, to: &str) -> Result<()> {
        std::fs::rename(self.out.join(from), self.out.join(to)).map_err(|e| self.io_error(from, e))
    }

    /// Renames the temporary file of a name into place.
    fn place(&self, name: &str) -> Result<()> {
        let path = self.out.join(name);
        std::fs::rename(temporary_path(&path), &path).map_err(|e| self.io_error(name, e))
    }

    /// Writes a temporary file next to the target, with the permissions of the present or previous file.
    fn write_part(&self, name: &str, text: impl AsRef<[u8]>) -> Result<()> {
        let there =
            |age: &str| self.out.join(name_with_age(name, age)).symlink_metadata().ok().filter(Metadata::is_file);
        let write = || -> std::io::Result<()> {
            let (_, mut file) = create_temporary(&self.out.join(name), there("").or_else(|| there(PREVIOUS)).as_ref())?;
            file.write_all(text.as_ref())?;
            file.sync_all()
        };
        write().map_err(|e| self.io_error(name, e))
    }

    /// Reads a file; `None` for one that is missing or too large.
    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        read_regular(&self.out.join(name), MOST_COMPARED).ok().flatten()
    }

    /// Whether the present result is that of an interrupted run.
    fn is_partial(&self) -> bool {
        let text = self.bytes(LAST).unwrap_or_default();
        serde_json::from_slice::<serde_json::Value>(&text).is_ok_and(|record| record["status"] == "partial")
    }

    /// Whether the present result has these settings, as if a run was killed after writing everything.
    fn has_settings(&self, settings: &str) -> bool {
        self.bytes(SETTINGS).is_some_and(|there| there == settings.as_bytes())
    }

    fn io_error(&self, name: &str, error: IoError) -> Error {
        Error::unwritable(self.out.join(name), error)
    }
}

/// Unlocks explicitly, since a child process that another thread is starting may briefly hold the folder open.
impl Drop for RunFolder {
    fn drop(&mut self) {
        let _ = self.lock.as_ref().map(File::unlock);
    }
}

/// Syncs the names in a folder to disk, if the system can.
pub fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Whether runs write a file of this name into their folder.
fn is_own(file: &str) -> bool {
    let ages = ["", PREVIOUS, OLDER];
    file == "journal.jsonl"
        || file == PROBE
        || FILES.iter().any(|own| ages.iter().any(|age| name_with_age(own, age) == file))
}

fn open_file(out: &Path) -> std::io::Result<File> {
    if cfg!(unix) {
        File::open(out)
    } else {
        File::options().create(true).truncate(false).write(true).open(out.join(".lock"))
    }
}

/// Locks a folder; `None` if the system cannot.
fn lock(out: &Path, taken: &str) -> Result<Option<File>> {
    let Ok(file) = open_file(out) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Error::unwritable(out, taken)),
        Err(error) => {
            tracing::info!("{} cannot be locked: {error}", out.display());
            Ok(None)
        }
    }
}

/// Rewrites the `report.html` of a run from its `selection.json` and `resolved.yaml`: the page that the run itself
/// wrote.
///
/// # Errors
/// [`Error::Unreadable`] if one of the two is missing, damaged or of another run; [`Error::Unwritable`], also while a
/// run is in the folder.
pub fn report(folder: &Path) -> Result<()> {
    let _lock = RunFolder::existing(folder)?;
    let selection = folder.join("selection.json");
    let resolved = folder.join("resolved.yaml");
    let again = format!("run the pipeline again with `--out {}`", folder.display());
    let again = |error: Error| match error {
        Error::Unreadable { path, message } => {
            Error::unreadable(path, message.reword(|message| format!("{message}; {again}")))
        }
        other => other,
    };
    let record = Record::read(&selection).map_err(again)?;
    let configuration = read_resolved(&resolved, &record.pipeline).map_err(again)?;
    let page = folder.join("report.html");
    check_apart(&page, [&selection, &resolved].map(|file| ("a link to", file)))?;
    write_file(&page, &render(&record, &heading(folder), &configuration))
}

/// Reads a resolved configuration, after checking that it is of a run with these parts.
pub fn read_resolved(path: &Path, parts: &PartNames) -> Result<String> {
    let unreadable = |message: Cause| Error::unreadable(path, message);
    let bytes =
        read_regular(path, LARGEST as u64)?.ok_or_else(|| unreadable("it is larger than any configuration".into()))?;
    let text = String::from_utf8(bytes).map_err(|e| unreadable(Cause::new("it is not UTF-8 text", e)))?;
    let document = Node::parse(&text, &path.display().to_string());
    let document = document.map_err(|error| unreadable(Cause::after("it is damaged", error)))?;
    let is_of = |path: &str, kind: &str| document.kind(path).is_some_and(|(found, _)| found == kind);
    // A comparison of searches names its winner.
    let compared = (0..).map(|place| format!("tune.search[{place}]")).take_while(|path| document.get(path).is_some());
    let is_compared = |kind: &str| compared.clone().any(|path| is_of(&path, kind));
    for (role, kind) in [("learner", &parts.learner), ("criterion", &parts.criterion), ("search", &parts.search)] {
        if !(is_of(role, kind) || role == "search" && is_compared(kind)) {
            return Err(unreadable(format!("it is not of the run of selection.json, whose {role} is `{kind}`").into()));
        }
    }
    Ok(text)
}

/// Renames the result of an earlier run in `out` to `selection.previous.json`, with its other files. A failed run then
/// leaves no result that looks like its own. `pipeline`, the file of the failed run, stays even if it is one of
/// them. Does nothing if another run is in the folder.
///
/// # Errors
/// [`Error::Unwritable`] if a file cannot be renamed.
pub fn set_previous_aside(out: &Path, pipeline: Option<&Path>) -> Result<()> {
    match RunFolder::existing(out) {
        Ok(Some(run_folder)) => run_folder.set_aside(pipeline),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// `file` relative to `folder`; absolute if they share no root.
pub fn relative(file: &Path, folder: &Path) -> String {
    // A pattern names no file, but its folder exists.
    let absolute = |path: &Path| {
        let known = path.ancestors().find_map(|known| Some((known, std::fs::canonicalize(known).ok()?)));
        let Some((known, absolute)) = known else { return path.to_owned() };
        path.strip_prefix(known).map_or(absolute.clone(), |rest| absolute.join(rest))
    };
    let file = absolute(file);
    let folder = absolute(folder);
    let common = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return file.to_string_lossy().into_owned();
    }
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    let down = file.components().skip(common);
    up.chain(down).collect::<PathBuf>().to_string_lossy().into_owned()
}
