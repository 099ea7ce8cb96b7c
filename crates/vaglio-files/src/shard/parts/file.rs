//! The file of one process: the parts that it has made, one after the other, each with its length and a checksum.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Numbers of a part of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PartRecord {
    pub question: String,
    pub part: usize,
    /// Of how many parts it is, and of how many items these are.
    pub of: (usize, usize),
    /// What it took to make.
    pub took: Duration,
    pub numbers: Vec<f64>,
}

/// The bytes before a part: their number, and their checksum.
const HEAD: usize = 16;
/// A part is not longer, in bytes.
const LONGEST: u64 = 1 << 34;

fn checksum(bytes: &[u8]) -> u64 {
    let mut digest = DefaultHasher::new();
    digest.write(bytes);
    digest.finish()
}

fn framed(body: &[u8]) -> Vec<u8> {
    let (length, sum) = ((body.len() as u64).to_le_bytes(), checksum(body).to_le_bytes());
    [&length[..], &sum, body].concat()
}

impl PartRecord {
    fn bytes(&self) -> Vec<u8> {
        let [part, parts, items] = [self.part, self.of.0, self.of.1].map(|number| (number as u64).to_le_bytes());
        let took = (self.took.as_nanos() as u64).to_le_bytes();
        let length = (self.question.len() as u64).to_le_bytes();
        let mut bytes = [&part[..], &parts, &items, &took, &length, self.question.as_bytes()].concat();
        self.numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut number = || {
            let (first, others) = rest.split_first_chunk::<8>()?;
            rest = others;
            Some(u64::from_le_bytes(*first))
        };
        let [part, parts, items, took, length] = [number()?, number()?, number()?, number()?, number()?];
        let (question, numbers) = rest.split_at_checked(length as usize)?;
        Some(PartRecord {
            question: std::str::from_utf8(question).ok()?.to_owned(),
            part: part as usize,
            of: (parts as usize, items as usize),
            took: Duration::from_nanos(took),
            numbers: numbers.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
        })
    }
}

/// Where a part is.
#[derive(Debug, Clone)]
pub(super) struct RecordAt {
    path: Arc<PathBuf>,
    from: u64,
}

impl RecordAt {
    /// The part; `None` where it is not there any more.
    pub fn read(&self) -> Option<PartRecord> {
        let mut file = File::open(&*self.path).ok()?;
        file.seek(SeekFrom::Start(self.from)).ok()?;
        PartRecord::of_bytes(&next(&mut file).ok()??)
    }
}

/// The next bytes with a length and a checksum; `None` where they are not all there.
fn next(file: &mut impl Read) -> Result<Option<Vec<u8>>> {
    let mut head = [0; HEAD];
    if !is_filled(file.read_exact(&mut head))? {
        return Ok(None);
    }
    let (length, sum) = head.split_at(8);
    let [length, sum] = [length, sum].map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes));
    if length > LONGEST {
        return Ok(None);
    }
    let mut body = Vec::new();
    file.take(length).read_to_end(&mut body)?;
    Ok((body.len() as u64 == length && checksum(&body) == sum).then_some(body))
}

fn is_filled(read: Result<()>) -> Result<bool> {
    match read {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

/// The file of a process.
#[derive(Debug)]
pub(super) struct PartFile {
    path: Arc<PathBuf>,
    /// The index that the process is at.
    index: Option<usize>,
    /// What is written to.
    file: Option<File>,
    /// The bytes that are known; 0 of a file of which nothing is.
    length: u64,
}

impl PartFile {
    /// A new one: `INDEX.NUMBER` in a folder, which is made where it is not there.
    pub fn create(folder: &Path, index: usize, run: &str) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        for number in 0.. {
            let path = folder.join(format!("{index}.{number}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                file => {
                    let (mut file, head) = (file?, framed(run.as_bytes()));
                    file.write_all(&head)?;
                    let (path, length) = (Arc::new(path), head.len() as u64);
                    return Ok(PartFile { path, index: Some(index), file: Some(file), length });
                }
            }
        }
        Err(Error::from(ErrorKind::AlreadyExists))
    }

    /// That of another process.
    pub fn of_another(path: &Path) -> Self {
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let index = name.and_then(|name| name.parse().ok());
        PartFile { path: Arc::new(path.to_owned()), index, file: None, length: 0 }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn index(&self) -> Option<usize> {
        self.index
    }

    /// Adds a part, and says where it is; `None` where it cannot be written.
    pub fn append(&mut self, part: &PartRecord) -> Option<RecordAt> {
        let (bytes, from) = (framed(&part.bytes()), self.length);
        let file = self.file.as_mut()?;
        if file.write_all(&bytes).is_err() {
            // What is there of it is no part, and what came after would not be found.
            self.file = None;
            return None;
        }
        self.length += bytes.len() as u64;
        Some(RecordAt { path: Arc::clone(&self.path), from })
    }

    /// What has been added since, of a file of this run: question, part, and where it is. What is not whole yet will be read later.
    pub fn read(&mut self, run: &str) -> Vec<(String, usize, RecordAt)> {
        let mut found = Vec::new();
        let _ = self.read_on(run, &mut found);
        found
    }

    fn read_on(&mut self, run: &str, found: &mut Vec<(String, usize, RecordAt)>) -> Result<()> {
        // Opened anew, since a file that stays open may show what it was on a file system of several machines.
        let mut file = File::open(&*self.path)?;
        if file.metadata()?.len() <= self.length {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.length))?;
        while let Some(body) = next(&mut file)? {
            let from = self.length;
            self.length += (HEAD + body.len()) as u64;
            if from == 0 {
                if body != run.as_bytes() {
                    // Of another run: nothing of it is read.
                    self.length = u64::MAX;
                    return Ok(());
                }
                continue;
            }
            if let Some(part) = PartRecord::of_bytes(&body) {
                found.push((part.question, part.part, RecordAt { path: Arc::clone(&self.path), from }));
            }
        }
        Ok(())
    }
}
