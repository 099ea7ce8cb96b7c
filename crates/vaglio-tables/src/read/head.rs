//! Sampling the beginning of a file, to judge it before it is read.

use super::binary_formats::decoder;
use super::bytes::{FileKind, is_utf8, kind};
use super::codecs::Codec;
use crate::ReadSpec;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Total bytes of files up to which they are read whole.
const WHOLE: u64 = 1 << 24;
/// Sample bytes of text over all files, and the minimum per file.
const SAMPLE: u64 = 1 << 23;
const LEAST: u64 = 1 << 18;

/// Sample size of each file in bytes; `None` if the files are small enough to read whole, or one is a pipe.
pub(super) fn share(paths: &[PathBuf]) -> Option<u64> {
    let sizes: Option<Vec<u64>> = paths
        .iter()
        .map(|path| std::fs::metadata(path).ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len()))
        .collect();
    // A pipe can be read only once.
    let sizes = sizes?;
    (sizes.iter().sum::<u64>() > WHOLE).then(|| (SAMPLE / sizes.len() as u64).max(LEAST))
}

/// The beginning of a file, decompressed.
pub(super) struct FileStart {
    pub bytes: Vec<u8>,
    pub codec: Option<Codec>,
    /// Whether the file has no further bytes.
    pub is_whole: bool,
    /// The bytes that follow.
    pub rest: Box<dyn Read + Send>,
    /// The file, at the position up to which it was read.
    file: File,
}

impl FileStart {
    /// Reads up to `most` bytes of a file, and detects its format; `None` if it cannot be read or decompressed, or is of
    /// no known format.
    pub fn open(path: &Path, most: usize) -> Option<(FileKind, Self)> {
        let file = File::open(path).ok()?;
        // A clone shares the position.
        let mut buffered = BufReader::with_capacity(1 << 16, file.try_clone().ok()?);
        let codec = Codec::from_magic(buffered.fill_buf().ok()?);
        let rest: Box<dyn Read + Send> = match codec {
            Some(codec) => decoder(codec, buffered).ok()?,
            None => Box::new(buffered),
        };
        let mut start = FileStart { bytes: Vec::new(), codec, is_whole: false, rest, file };
        start.read(most)?;
        Some((kind(path, &start.bytes).ok()?, start))
    }

    /// Reads up to `more` further bytes; fewer mean the end of the file. Returns `None` on a read error.
    pub fn read(&mut self, more: usize) -> Option<()> {
        let read = self.rest.by_ref().take(more as u64).read_to_end(&mut self.bytes).ok()?;
        self.is_whole = read < more;
        Some(())
    }

    /// The complete lines of a text, and the size of the file `path` relative to them; `None` if it cannot be cut.
    pub fn lines(mut self, path: &Path, spec: &ReadSpec) -> Option<(Vec<u8>, f64)> {
        if !is_utf8(&self.bytes, spec) || self.bytes.contains(&0) {
            return None;
        }
        let (all, length) = (self.bytes.len(), whole_lines(&self.bytes, spec.quote as u8)?);
        self.bytes.truncate(length);
        let (size, read) = (std::fs::metadata(path).ok()?.len(), self.file.stream_position().ok()?.max(1));
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

#[cfg(test)]
mod tests {
    use super::super::tests::folder_of;
    use super::*;

    #[test]
    fn text_is_cut_between_records() {
        assert_eq!(whole_lines(b"a,b\n1,2\n3", b'"'), Some(8));
        assert_eq!(whole_lines(b"a,b\n1,\"x\ny", b'"'), Some(4));
        assert_eq!(whole_lines(b"a,b\n1,\"x\ny\"\n\"", b'"'), Some(12));
        assert_eq!(whole_lines(b"a,b", b'"'), None);
    }

    #[test]
    fn the_whole_is_guessed_from_the_beginning() {
        let path = folder_of("head").join("long.csv");
        let text = "a,b\n".to_owned() + &"1,2\n".repeat(500_000);
        std::fs::write(&path, &text).unwrap();
        let Some((FileKind::Text, start)) = FileStart::open(&path, 1 << 20) else { panic!("a text") };
        let (bytes, times) = start.lines(&path, &ReadSpec::default()).unwrap();
        assert!(bytes.ends_with(b"\n") && bytes.len() <= 1 << 20);
        let about = times * bytes.len() as f64 / text.len() as f64;
        assert!((0.9..1.1).contains(&about), "{about}");
        assert!(FileStart::open(&path, 1 << 22).is_some_and(|(_, start)| start.is_whole));
        assert!(share(&[path]).is_none());
    }
}
