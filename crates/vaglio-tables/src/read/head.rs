//! Sampling the beginning of a file, to judge it before it is read.

use super::bytes::{FileKind, is_utf8, kind};
use crate::ReadSpec;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Total bytes of files up to which they are read whole.
const WHOLE: u64 = 1 << 24;
/// Sample bytes of text over all files, and the minimum per file.
const SAMPLE: u64 = 1 << 23;
const LEAST: u64 = 1 << 18;

/// Content of the beginning of a file.
pub(super) enum Head {
    /// Complete lines of text, and the size of the file relative to them.
    Text(Vec<u8>, f64),
    /// Rows of a file with column types.
    #[cfg(feature = "parquet")]
    Stored(FileKind),
}

/// Bytes by which each file is judged; `None` if the files are small enough to read whole.
pub(super) fn share(paths: &[PathBuf]) -> Option<u64> {
    let sizes: Option<Vec<u64>> = paths
        .iter()
        .map(|path| std::fs::metadata(path).ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len()))
        .collect();
    // A pipe can be read only once.
    let sizes = sizes?;
    (sizes.iter().sum::<u64>() > WHOLE).then(|| (SAMPLE / sizes.len() as u64).max(LEAST))
}

/// Reads the beginning of a file; `None` if the file is no larger, cannot be cut, or has a fault, which reading it
/// reports.
pub(super) fn head(path: &Path, spec: &ReadSpec, most: u64) -> Option<Head> {
    let file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let taken = Rc::new(Cell::new(0));
    let mut file = BufReader::with_capacity(1 << 16, Counted { file, taken: Rc::clone(&taken) });
    let (mut bytes, compression) = (Vec::new(), compression(&mut file).ok()?);
    decompressed(file, compression)?.take(most).read_to_end(&mut bytes).ok()?;
    if (bytes.len() as u64) < most {
        return None;
    }
    match (kind(path, &bytes).ok()?, compression) {
        (FileKind::Text, _) if is_utf8(&bytes, spec) && !bytes.contains(&0) => {
            let length = whole_lines(&bytes, spec.quote as u8)?;
            bytes.truncate(length);
            let times = size as f64 / taken.get().max(1) as f64 * most as f64 / length as f64;
            Some(Head::Text(bytes, times.max(1.0)))
        }
        (FileKind::Text, _) | (_, Some(_)) => None,
        #[cfg(feature = "parquet")]
        (kind, None) => Some(Head::Stored(kind)),
        #[cfg(not(feature = "parquet"))]
        (_, None) => None,
    }
}

/// A file that counts the bytes read.
struct Counted {
    file: File,
    taken: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}

/// Compression of a file.
#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
}

/// Compression by the first bytes.
fn compression(file: &mut BufReader<Counted>) -> std::io::Result<Option<Compression>> {
    use std::io::BufRead;
    Ok(match file.fill_buf()? {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
        _ => None,
    })
}

fn decompressed(file: BufReader<Counted>, by: Option<Compression>) -> Option<Box<dyn Read>> {
    match by {
        None => Some(Box::new(file)),
        #[cfg(feature = "parquet")]
        Some(Compression::Gzip) => Some(Box::new(flate2::bufread::MultiGzDecoder::new(file))),
        #[cfg(feature = "parquet")]
        Some(Compression::Zstd) => Some(Box::new(zstd::stream::read::Decoder::with_buffer(file).ok()?)),
        #[cfg(not(feature = "parquet"))]
        Some(_) => None,
    }
}

/// Length of the lines that end in these bytes outside of quoted cells.
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
        let Some(Head::Text(bytes, times)) = head(&path, &ReadSpec::default(), 1 << 20) else { panic!("a text") };
        assert!(bytes.ends_with(b"\n") && bytes.len() <= 1 << 20);
        let about = times * bytes.len() as f64 / text.len() as f64;
        assert!((0.9..1.1).contains(&about), "{about}");
        assert!(head(&path, &ReadSpec::default(), 1 << 22).is_none());
        assert!(share(&[path]).is_none());
    }
}
