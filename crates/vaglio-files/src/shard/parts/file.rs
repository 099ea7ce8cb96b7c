//! One process's file of computed parts, each with its length and a checksum.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Numbers of one part of a query.
#[derive(Debug, Clone)]
pub struct PartRecord {
    pub question: String,
    pub part: usize,
    /// Time it took to compute.
    pub took: Duration,
    pub numbers: Vec<f64>,
}

/// Bytes before a part: its length and checksum.
const HEAD: usize = 16;

fn checksum(bytes: &[u8]) -> u64 {
    let mut digest = DefaultHasher::new();
    digest.write(bytes);
    digest.finish()
}

impl PartRecord {
    /// Bytes of the part, with their length and checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [self.part as u64, self.took.as_nanos() as u64, self.question.len() as u64].map(u64::to_le_bytes);
        let mut body = [head.as_flattened(), self.question.as_bytes()].concat();
        self.numbers.iter().for_each(|number| body.extend(number.to_le_bytes()));
        let length = (body.len() as u64).to_le_bytes();
        let sum = checksum(&body).to_le_bytes();
        [&length[..], &sum, &body[..]].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(24)?;
        let &[part, took, length] = head.as_chunks::<8>().0 else { return None };
        let [part, took, length] = [part, took, length].map(u64::from_le_bytes);
        let (question, numbers) = rest.split_at_checked(length as usize)?;
        Some(PartRecord {
            question: std::str::from_utf8(question).ok()?.to_owned(),
            part: part as usize,
            took: Duration::from_nanos(took),
            numbers: numbers.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
        })
    }
}

/// Reads the next block with length and checksum; `None` if incomplete.
fn next(file: &mut impl Read) -> Option<Vec<u8>> {
    let mut head = [[0; 8]; 2];
    file.read_exact(head.as_flattened_mut()).ok()?;
    let [length, sum] = head.map(u64::from_le_bytes);
    let mut body = Vec::new();
    file.take(length).read_to_end(&mut body).ok()?;
    (body.len() as u64 == length && checksum(&body) == sum).then_some(body)
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
    /// Number of bytes read.
    length: u64,
}

impl PartFile {
    pub fn new(path: &Path) -> Self {
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let index = name.and_then(|name| name.parse().ok());
        PartFile { path: path.to_owned(), index, length: 0 }
    }

    /// New parts of the file. Incomplete parts are read later.
    pub fn read(&mut self) -> Vec<PartRecord> {
        let mut found = Vec::new();
        // Reopened each time, since an open file may show stale content on a network file system.
        let Ok(mut file) = File::open(&self.path) else { return found };
        let is_longer = file.metadata().is_ok_and(|known| known.len() > self.length);
        if !is_longer || file.seek(SeekFrom::Start(self.length)).is_err() {
            return found;
        }
        while let Some(body) = next(&mut file) {
            self.length += (HEAD + body.len()) as u64;
            found.extend(PartRecord::from_bytes(&body));
        }
        found
    }
}
