//! Dialect of a text file: delimiter, quote and comment characters.
//!
//! Text without a one-character delimiter is converted to tab-separated text. Line breaks are kept, so that line numbers
//! in messages match the file.

use crate::{Delimiter, ReadSpec};
use csv::ReaderBuilder;
use std::borrow::Cow;

/// Dialect of a text file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub delimiter: u8,
    pub quote: u8,
    pub comment: Option<u8>,
}

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Characters and rows by which the delimiter is detected.
const SAMPLE: (usize, usize) = (1 << 16, 100);

impl Dialect {
    /// Delimiter that represents runs of blanks.
    pub const BLANKS: u8 = b' ';

    /// Dialect by the settings, and by the first rows for `auto`.
    pub fn detect(text: &str, spec: &ReadSpec) -> Self {
        let dialect = Dialect { delimiter: b',', quote: spec.quote as u8, comment: spec.comment.map(|c| c as u8) };
        match spec.delimiter {
            Delimiter::Auto => {}
            Delimiter::Blanks => return Dialect { delimiter: Dialect::BLANKS, ..dialect },
            Delimiter::Is(delimiter) => return Dialect { delimiter, ..dialect },
        }
        let mut end = text.len().min(SAMPLE.0);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let sample = match text[..end].rfind('\n') {
            Some(line) if end < text.len() => &text[..line],
            _ => &text[..end],
        };
        // Prefers rows with as many cells as the header, then the number of cells.
        let worth = |delimiter: u8| {
            let counts = Dialect { delimiter, ..dialect }.counts(sample, spec);
            let Some((&header, rows)) = counts.split_first() else { return (0, 0) };
            let alike = |more: usize| rows.iter().filter(|count| **count == header + more).count();
            let alike = alike(0).max(alike(1));
            match header > 1 || alike > 0 && rows.iter().all(|count| *count > 1) {
                true => (1000 * alike / rows.len().max(1), header),
                false => (0, 0),
            }
        };
        let best = DELIMITERS.into_iter().rev().max_by_key(|delimiter| worth(*delimiter)).unwrap_or(b',');
        // Text contains blanks anyway: they delimit cells only if nothing else gives a complete table.
        let (found, blanks) = (worth(best), worth(Dialect::BLANKS));
        let is_parted = match found {
            (1000, 2..) => false,
            (_, 0) => blanks.0 >= 500,
            _ => blanks.0 == 1000,
        };
        let delimiter = match () {
            () if is_parted && blanks.1 > 1 => Dialect::BLANKS,
            () if found.1 > 0 => best,
            () => b',',
        };
        Dialect { delimiter, ..dialect }
    }

    /// Number of cells of the first records.
    fn counts(self, text: &str, spec: &ReadSpec) -> Vec<usize> {
        let (text, dialect) = self.parsable(text, spec);
        let mut reader = dialect.reader(text.as_bytes());
        reader.records().map_while(Result::ok).take(SAMPLE.1).map(|record| record.len()).collect()
    }

    /// Whether cells have no one-character delimiter, so that a text has to be converted.
    pub fn has_layout(self, spec: &ReadSpec) -> bool {
        spec.widths.is_some() || self.delimiter == Dialect::BLANKS
    }

    /// Converts a text with a layout to tab-separated cells. Cost O(bytes).
    ///
    /// # Errors
    /// Fails with the line number if a line is longer than all widths.
    pub fn to_tabs(self, text: &str, spec: &ReadSpec) -> Result<String, String> {
        spec.widths.as_ref().map_or_else(|| Ok(blanks_to_tabs(text, self)), |widths| cut(text, widths, self))
    }

    /// Text that a reader can parse, and its dialect; a text that cannot be converted stays.
    pub fn parsable<'t>(self, text: &'t str, spec: &ReadSpec) -> (Cow<'t, str>, Self) {
        match self.has_layout(spec).then(|| self.to_tabs(text, spec)) {
            Some(Ok(text)) => (text.into(), Dialect { delimiter: b'\t', ..self }),
            _ => (text.into(), self),
        }
    }

    /// A reader of records of any length, including the header.
    pub fn reader<R: std::io::Read>(self, from: R) -> csv::Reader<R> {
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quote(self.quote)
            .comment(self.comment)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(from)
    }
}

/// Replaces runs of blanks outside of quotes by tabs; blanks around a line are removed.
fn blanks_to_tabs(text: &str, dialect: Dialect) -> String {
    let bytes = text.as_bytes();
    let (is_blank, is_end) = (|b: u8| matches!(b, b' ' | b'\t'), |b: u8| matches!(b, b'\n' | b'\r'));
    let until = |from: usize, stop: &dyn Fn(u8) -> bool| {
        bytes[from..].iter().position(|b| stop(*b)).map_or(bytes.len(), |length| from + length)
    };
    let mut out = String::with_capacity(text.len());
    let (mut at, mut is_first) = (0, true);
    while at < bytes.len() {
        at = until(at, &|b| !is_blank(b));
        let Some(&byte) = bytes.get(at) else { break };
        let start = at;
        if is_end(byte) {
            at += 1;
            is_first = true;
        } else if is_first && Some(byte) == dialect.comment {
            at = until(at, &is_end);
        } else {
            if !is_first {
                out.push('\t');
            }
            is_first = false;
            if byte == dialect.quote {
                at = after_quote(bytes, at, dialect.quote);
            }
            at = until(at, &|b| is_blank(b) || is_end(b));
        }
        out.push_str(&text[start..at]);
    }
    out
}

/// End of the quoted cell that begins here; a doubled quote does not end it.
fn after_quote(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while let Some(length) = memchr::memchr(quote, &bytes[at..]) {
        at += length + 1;
        if bytes.get(at) != Some(&quote) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// Cuts every line at the widths; a short line is padded with empty cells.
fn cut(text: &str, widths: &[usize], dialect: Dialect) -> Result<String, String> {
    let quote = char::from(dialect.quote);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\n', '\r']);
        let is_comment = dialect.comment.is_some_and(|comment| content.as_bytes().first() == Some(&comment));
        if is_comment {
            out.push_str(content);
        } else if !content.trim().is_empty() {
            let mut rest = content;
            for (index, width) in widths.iter().enumerate() {
                let end = rest.char_indices().nth(*width).map_or(rest.len(), |(end, _)| end);
                let cell = rest[..end].trim();
                rest = &rest[end..];
                if index > 0 {
                    out.push('\t');
                }
                match cell.contains(['\t', quote]) {
                    true => out += &format!("{quote}{}{quote}", cell.replace(quote, &format!("{quote}{quote}"))),
                    false => out.push_str(cell),
                }
            }
            if !rest.trim().is_empty() {
                let (characters, all) = (content.trim_end().chars().count(), widths.iter().sum::<usize>());
                return Err(format!(
                    "line {} has {characters} characters and data.read.widths take {all}; give the widths of all columns",
                    number + 1
                ));
            }
        }
        out.push_str(&line[content.len()..]);
    }
    Ok(out)
}
