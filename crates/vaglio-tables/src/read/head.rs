//! Sampling the beginning of a file, to judge it before it is read.

use super::binary_formats::decoder;
use super::bytes::{FileKind, is_utf8, kind};
use crate::ReadSpec;
use std::fs::File;
use std::io::{BufReader, Read, Result, Seek};
use std::path::{Path, PathBuf};

/// Total bytes of files up to which they are read whole.
const WHOLE: u64 = 1 << 24;
/// Sample bytes of text over all files, and the minimum per file.
const SAMPLE: u64 = 1 << 23;
const LEAST: u64 = 1 << 18;

/// Sample size of each file in bytes; `None` if the files are small enough to read whole, or one is a pipe.
pub(super) fn sample_size(files: &[(PathBuf, bool)]) -> Option<u64> {
    let sizes: Option<Vec<u64>> = files
        .iter()
        .map(|(path, _)| {
            std::fs::metadata(path).ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len())
        })
        .collect();
    // A pipe can be read only once.
    let sizes = sizes?;
    (sizes.iter().sum::<u64>() > WHOLE).then(|| (SAMPLE / sizes.len() as u64).max(LEAST))
}

/// Opens a file. Returns a reader of its decompressed bytes, and whether they were compressed.
pub(super) fn open_decompressed(path: &Path) -> Result<(File, Box<dyn Read + Send>, bool)> {
    let file = File::open(path)?;
    // A clone shares the position.
    let (plain, is_compressed) = decoder(BufReader::with_capacity(1 << 16, file.try_clone()?))?;
    Ok((file, plain, is_compressed))
}

/// The beginning of a file, decompressed.
pub(super) struct FileStart {
    pub bytes: Vec<u8>,
    pub is_compressed: bool,
    /// Whether the file has no further bytes.
    pub is_whole: bool,
    /// The bytes that follow.
    rest: Box<dyn Read + Send>,
    /// The file, at the position up to which it was read.
    file: File,
}

impl FileStart {
    /// Reads up to `most` bytes of a file, and detects its format; `None` if it cannot be read or decompressed, or is of
    /// no known format.
    pub fn open(path: &Path, most: usize) -> Option<(FileKind, Self)> {
        let (file, rest, is_compressed) = open_decompressed(path).ok()?;
        let mut start = FileStart { bytes: Vec::new(), is_compressed, is_whole: false, rest, file };
        start.read(most)?;
        Some((kind(path, &start.bytes).ok()?, start))
    }

    /// Reads up to `more` further bytes; fewer mean the end of the file. Returns `None` on a read error.
    pub fn read(&mut self, more: usize) -> Option<()> {
        let read = self.rest.by_ref().take(more as u64).read_to_end(&mut self.bytes).ok()?;
        self.is_whole = read < more;
        Some(())
    }

    /// The complete lines of a text, and the size of the file relative to them; `None` if it cannot be cut.
    pub fn lines(mut self, spec: &ReadSpec) -> Option<(Vec<u8>, f64)> {
        if !is_utf8(&self.bytes, spec) || self.bytes.contains(&0) {
            return None;
        }
        let (all, length) = (self.bytes.len(), whole_lines(&self.bytes, spec.quote as u8)?);
        self.bytes.truncate(length);
        let (size, read) = (self.file.metadata().ok()?.len(), self.file.stream_position().ok()?.max(1));
        let times = size as f64 / read as f64 * all as f64 / length as f64;
        Some((self.bytes, times.max(1.0)))
    }
}

/// Length in bytes up to the last line break outside of quoted cells, if there is one.
fn whole_lines(bytes: &[u8], quote: u8) -> Option<usize> {
    let (mut is_open, mut end) = (false, None);
    for at in memchr::memchr2_iter(b'\n', quote, bytes) {
        match bytes[at] == quote {
            true => is_open = !is_open,
            false if !is_open => end = Some(at + 1),
            false => {}
        }
    }
    end
}
