//! Lines of a journal: format, checksums and reading.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::Path;
use vaglio_core::{Error, Result, saved};
use vaglio_pipeline::document::key_path;
use vaglio_tables::budget::Budget;
use vaglio_tables::disk::{none_if_missing, read_open_file_at_most};

/// Version of the format.
const FORMAT: &str = "vaglio.journal/1";
/// Size limit of a journal, in bytes: months of work at one line per moment.
const LARGEST: u64 = 1 << 33;
/// Hexadecimal digits of a line's checksum.
const DIGITS: usize = 16;

/// Values of pieces of work by their keys, as JSON.
pub type Pieces = BTreeMap<String, String>;

/// First line of a journal: identifies the run.
#[saved]
#[derive(Clone, PartialEq)]
pub struct JournalHeader {
    format: String,
    version: String,
    /// Hash of the data.
    data: String,
    configuration: serde_json::Value,
    /// Advice for a rejected journal.
    #[serde(skip)]
    pub remedy: &'static str,
}

/// Advice for a rejected journal of a run.
const BEGIN: &str = "to begin anew, leave `--resume` out, which sets this journal aside";

impl JournalHeader {
    pub fn new(data: &str, configuration: serde_json::Value) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        JournalHeader { format: FORMAT.into(), version, data: data.into(), configuration, remedy: BEGIN }
    }

    /// Describes the first difference to another run's header.
    fn differs(&self, other: &JournalHeader) -> Option<String> {
        if self.format != other.format || self.version != other.version {
            let theirs = &other.version;
            let ours = &self.version;
            return Some(format!("it was written by version {theirs} ({}), and this is {ours}", other.format));
        }
        if self.data != other.data {
            return Some("the data have changed since it was written".into());
        }
        let path = different(&self.configuration, &other.configuration, String::new())?;
        Some(format!("it is of a run with other settings: `{path}` differs"))
    }
}

/// Path of the first different value.
fn different(a: &serde_json::Value, b: &serde_json::Value, path: String) -> Option<String> {
    let (serde_json::Value::Object(fields_a), serde_json::Value::Object(fields_b)) = (a, b) else {
        return (a != b).then_some(path);
    };
    let below = |key: &str| key_path(&path, key);
    let missing = fields_b.keys().find(|key| !fields_a.contains_key(*key)).map(|key| below(key));
    let null = serde_json::Value::Null;
    fields_a
        .iter()
        .find_map(|(key, value)| different(value, fields_b.get(key).unwrap_or(&null), below(key)))
        .or(missing)
}

/// JSON object of a piece, with its value verbatim.
pub fn piece(key: &str, value: &str) -> String {
    format!("{{\"key\":{},\"value\":{value}}}", serde_json::Value::from(key))
}

#[derive(Deserialize)]
struct ReadPiece<'p> {
    #[serde(borrow)]
    key: std::borrow::Cow<'p, str>,
    #[serde(borrow)]
    value: &'p RawValue,
}

/// Line of a JSON object with a checksum of it and all previous lines.
pub fn seal(body: &str, sum: &mut String) -> String {
    let open = &body[..body.len() - 1];
    *sum = checksum(sum, open);
    format!("{open},\"sum\":\"{sum}\"}}\n")
}

fn checksum(before: &str, open: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes()).update(open.as_bytes());
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}

/// Object of a line, if its checksum is right.
pub fn unseal(line: &str, sum: &mut String) -> Option<String> {
    let at = line.len().checked_sub(DIGITS + ",\"sum\":\"\"}".len())?;
    let open = line.get(..at)?;
    let seal = line.get(at..)?;
    *sum = checksum(sum, open);
    (seal == format!(",\"sum\":\"{sum}\"}}")).then(|| format!("{open}}}"))
}

/// Content of a journal that was read.
pub struct JournalContent {
    pub pieces: Pieces,
    /// Length of its complete lines, in bytes.
    pub length: u64,
    pub sum: String,
}

impl JournalContent {
    /// Whether the first line is complete.
    pub fn is_begun(&self) -> bool {
        self.length > 0
    }
}

/// Reads the journal of a header's run up to its last complete line; `None` without a file. Other processes may rename
/// or remove it meanwhile.
pub fn read(path: &Path, header: &JournalHeader) -> Result<Option<JournalContent>> {
    let begin = header.remedy;
    let refused = |what: String| Error::journal_refused(path, format!("{what}; {begin}"));
    let Some(known) = none_if_missing(path, std::fs::metadata(path))? else { return Ok(None) };
    if !known.is_file() {
        return Err(refused("it is no regular file".into()));
    } else if known.len() > LARGEST {
        return Err(refused(format!("it has more than {LARGEST} bytes")));
    }
    // The bytes, the lines and the pieces are in memory together.
    Budget::for_machine().need(3.0 * known.len() as f64, path.display(), begin)?;
    let Some(file) = none_if_missing(path, std::fs::File::open(path))? else { return Ok(None) };
    let bytes =
        read_open_file_at_most(file, path, LARGEST)?.ok_or_else(|| refused("it grows while it is read".into()))?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut sum = String::new();
    let mut pieces = Pieces::new();
    for (number, line) in (1..).zip(bytes[..whole].split_inclusive(|byte| *byte == b'\n')) {
        let line = &line[..line.len() - 1];
        if line.is_empty() {
            return Err(refused("a line was emptied after it was written".into()));
        }
        let altered = || refused(format!("line {number} was altered after it was written"));
        let line = std::str::from_utf8(line).map_err(|_| altered())?;
        let body = unseal(line, &mut sum).ok_or_else(altered)?;
        if number == 1 {
            let found: JournalHeader =
                serde_json::from_str(&body).map_err(|_| refused("it is no journal that this version knows".into()))?;
            if let Some(what) = header.differs(&found) {
                return Err(refused(what));
            }
            continue;
        }
        let piece: ReadPiece<'_> = serde_json::from_str(&body).map_err(|_| altered())?;
        pieces.insert(piece.key.into_owned(), piece.value.get().to_owned());
    }
    Ok(Some(JournalContent { pieces, length: whole as u64, sum }))
}

/// Text of a journal with exactly these pieces, and the checksum of its last line.
pub fn journal_text(header: &JournalHeader, pieces: &Pieces) -> serde_json::Result<(String, String)> {
    let mut sum = String::new();
    let mut text = seal(&serde_json::to_string(header)?, &mut sum);
    for (key, value) in pieces {
        text += &seal(&piece(key, value), &mut sum);
    }
    Ok((text, sum))
}
