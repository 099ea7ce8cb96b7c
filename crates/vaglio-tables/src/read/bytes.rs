//! File formats by their first bytes, and decoding of text.

use super::{SMALLER, unreadable};
use crate::ReadSpec;
use crate::budget::Budget;
use csv::StringRecord;
use encoding_rs::Encoding;
use std::path::Path;
use vaglio_core::{Error, Result};

/// File format.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum FileKind {
    Text,
    Parquet,
    /// Arrow's file format, also Feather version 2, or its stream format.
    Arrow,
    Svmlight,
    Npz,
    MatrixMarket,
}

impl FileKind {
    /// Whether the format is of sparse matrices.
    pub fn is_sparse(self) -> bool {
        matches!(self, FileKind::Svmlight | FileKind::Npz | FileKind::MatrixMarket)
    }
}

/// Whether a file that begins with these bytes is compressed by gzip, zstd or bzip2.
pub(super) fn is_compressed(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0x1f, 0x8b, ..]
            | [0x28, 0xb5, 0x2f, 0xfd, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
    )
}

/// Detects the format from the first decompressed bytes and the name.
pub(super) fn kind(path: &Path, bytes: &[u8]) -> Result<FileKind> {
    let extension = extension(path);
    match extension.as_str() {
        "svm" | "libsvm" | "svmlight" => return Ok(FileKind::Svmlight),
        "npz" => return Ok(FileKind::Npz),
        "mtx" => return Ok(FileKind::MatrixMarket),
        _ => {}
    }
    match bytes {
        [b'P', b'A', b'R', b'1', ..] => Ok(FileKind::Parquet),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Ok(FileKind::Arrow),
        [b'F', b'E', b'A', b'1', ..] => {
            Err(unreadable(path, "is Feather of its first version; write it again as Arrow or Parquet"))
        }
        [b'P', b'K', 3, 4, ..] | [0xd0, 0xcf, 0x11, 0xe0, ..] => {
            Err(unreadable(path, "is a spreadsheet or an archive; save the table as .csv"))
        }
        _ => match extension.as_str() {
            "csv" | "tsv" | "tab" | "txt" | "dat" | "data" => Ok(FileKind::Text),
            "parquet" => Ok(FileKind::Parquet),
            "arrow" | "arrows" | "ipc" | "feather" => Ok(FileKind::Arrow),
            // A pipe has no meaningful name.
            "" if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) => Ok(FileKind::Text),
            _ => Err(unreadable(path, FORMATS)),
        },
    }
}

/// List of the supported formats, for messages.
const FORMATS: &str = "data are read from .csv, .tsv, .txt, .data, .parquet, .arrow, .feather, .svm, .npz and .mtx files, also with .gz, .bz2 or .zst \
     after it";

/// Extension in lower case, without that of a compression.
fn extension(path: &Path) -> String {
    let suffix = |path: &Path| path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    match suffix(path).as_str() {
        "gz" | "gzip" | "zst" | "zstd" | "bz2" => {
            path.file_stem().map_or_else(String::new, |stem| suffix(Path::new(stem)))
        }
        other => other.to_owned(),
    }
}

/// Encoding of a text, and whether a byte order mark determines it.
fn encoding(bytes: &[u8], spec: &ReadSpec) -> (&'static Encoding, bool) {
    match Encoding::for_bom(bytes) {
        Some((encoding, _)) => (encoding, true),
        None => (Encoding::for_label(spec.encoding.as_bytes()).unwrap_or(encoding_rs::UTF_8), false),
    }
}

/// Rejects an unknown encoding.
///
/// # Errors
/// [`Error::Setting`].
pub(super) fn check_encoding(spec: &ReadSpec) -> Result<()> {
    if Encoding::for_label(spec.encoding.as_bytes()).is_some() {
        return Ok(());
    }
    let message =
        format!("`{}` is no encoding; known are `utf-8`, `latin1`, `windows-1252`, `utf-16le`, …", spec.encoding);
    Err(Error::setting("data.read.encoding", message))
}

/// Whether a text is UTF-8 and needs no conversion.
pub(super) fn is_utf8(bytes: &[u8], spec: &ReadSpec) -> bool {
    encoding(bytes, spec).0 == encoding_rs::UTF_8
}

/// Decodes bytes as text.
///
/// # Errors
/// Fails for bytes that are invalid in the encoding, with line, row and column.
pub(super) fn text(path: &Path, bytes: Vec<u8>, spec: &ReadSpec, budget: Budget) -> Result<String> {
    let (encoding, marked) = encoding(&bytes, spec);
    if encoding == encoding_rs::UTF_8 {
        // UTF-16 letters may pass for UTF-8, with zeros between them.
        if let Some(zero) = memchr::memchr(0, &bytes) {
            return Err(not_text(path, &bytes, zero, spec));
        }
        return String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            not_text(path, error.as_bytes(), valid, spec)
        });
    }
    budget.need(1.5 * bytes.len() as f64, format_args!("{}, as text in UTF-8,", path.display()), SMALLER)?;
    let (text, _, has_errors) = encoding.decode(&bytes);
    match has_errors {
        false => Ok(text.into_owned()),
        true => {
            let from = if marked { "its byte order mark" } else { "`data.read.encoding`" };
            Err(unreadable(path, format!("it is no text in {}, as {from} says", encoding.name())))
        }
    }
}

fn not_text(path: &Path, bytes: &[u8], valid: usize, spec: &ReadSpec) -> vaglio_core::Error {
    // Half of the bytes of plain UTF-16 text are 0.
    let zeros = bytes.iter().take(1000).filter(|b| **b == 0).count();
    let is_utf16 = 3 * zeros > bytes.len().min(1000);
    let remedy = match is_utf16 {
        true => "if it is UTF-16, set data.read.encoding: utf-16le",
        false => "if it is Latin-1, set data.read.encoding: latin1, or convert the file to UTF-8",
    };
    let text = String::from_utf8_lossy(&bytes[..valid]);
    let (plain, dialect) = super::dialect::Dialect::detect(&text, spec).parsable(&text, spec);
    let mut reader = dialect.reader(plain.as_bytes());
    let (mut record, mut records, mut cells, mut header) = (StringRecord::new(), 0usize, 1, Vec::new());
    while reader.read_record(&mut record).unwrap_or(false) {
        if records == 0 {
            header = record.iter().map(|name| name.trim().to_owned()).collect();
        }
        (records, cells) = (records + 1, record.len().max(1));
    }
    // The fault is in the last record, or begins another.
    if text.ends_with('\n') || records == 0 {
        (records, cells) = (records + 1, 1);
    }
    let line = 1 + memchr::memchr_iter(b'\n', &bytes[..valid]).count();
    let place = match records {
        1 => format!("line {line}"),
        _ => {
            let name = header.get(cells - 1).map(|name| format!(", column `{name}`")).unwrap_or_default();
            format!("line {line} (data row {}){name}", records - 1)
        }
    };
    let is_zero = bytes.get(valid) == Some(&0) && !is_utf16;
    unreadable(
        path,
        match is_zero {
            true => format!("{place}: a NUL byte, which no text holds; the file is damaged or no table"),
            false => format!("{place}: the text is not UTF-8; {remedy}"),
        },
    )
}
