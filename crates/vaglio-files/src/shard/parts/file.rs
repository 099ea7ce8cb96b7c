//! One process's file of computed parts, a line for each with a checksum, as in a journal.

use crate::journal::{seal, unseal};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Numbers of one part of a query.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartRecord {
    pub question: String,
    pub part: usize,
    /// Time it took to compute.
    pub took: Duration,
    pub numbers: Vec<f64>,
}

impl PartRecord {
    /// Appends the part to a file whose last line has the checksum `sum`.
    pub fn append(&self, file: &mut File, sum: &mut String) -> Result<()> {
        file.write_all(seal(&serde_json::to_string(self)?, sum).as_bytes())
    }
}

/// Creates the parts file `INDEX.NUMBER` of this process in a folder, which is created if missing.
pub fn create(folder: &Path, index: usize) -> Result<(PathBuf, File)> {
    std::fs::create_dir_all(folder)?;
    for number in 0.. {
        let path = folder.join(format!("{index}.{number}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => return Ok((path, file?)),
        }
    }
    Err(Error::from(ErrorKind::AlreadyExists))
}

/// Parts file of another process.
#[derive(Debug)]
pub struct PartFile {
    path: PathBuf,
    /// Index that the process works on.
    pub index: Option<usize>,
    /// Number of bytes read, and checksum of the last line read.
    length: u64,
    sum: String,
}

impl PartFile {
    pub fn new(path: &Path) -> Self {
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let index = name.and_then(|name| name.parse().ok());
        PartFile { path: path.to_owned(), index, length: 0, sum: String::new() }
    }

    /// New parts of the file, up to one that is incomplete or altered.
    pub fn read(&mut self) -> Vec<PartRecord> {
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
