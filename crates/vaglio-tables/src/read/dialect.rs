//! How the cells of a text file are parted.

use crate::{Delimiter, ReadSpec};
use csv::{ReaderBuilder, StringRecord};

/// How the cells of a text file are parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub delimiter: u8,
    pub quote: u8,
    pub comment: Option<u8>,
}

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Characters and rows by which the delimiter is found.
const SAMPLE: (usize, usize) = (1 << 16, 100);

impl Dialect {
    /// What the settings say, and what the first rows show where these leave it open.
    pub fn of(text: &str, spec: &ReadSpec) -> Self {
        let dialect = Dialect { delimiter: b',', quote: spec.quote as u8, comment: spec.comment.map(|c| c as u8) };
        if let Delimiter::Is(delimiter) = spec.delimiter {
            return Dialect { delimiter, ..dialect };
        }
        let mut end = text.len().min(SAMPLE.0);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let sample = match text[..end].rfind('\n') {
            Some(line) if end < text.len() => &text[..line],
            _ => &text[..end],
        };
        // Rows that have as many cells as the header go before everything, then the number of cells.
        let worth = |delimiter: u8| {
            let counts = Dialect { delimiter, ..dialect }.counts(sample);
            let Some((&header, rows)) = counts.split_first() else { return (0, 0) };
            let alike = |more: usize| rows.iter().filter(|count| **count == header + more).count();
            let alike = alike(0).max(alike(1));
            match header > 1 || alike > 0 && rows.iter().all(|count| *count > 1) {
                true => (1000 * alike / rows.len().max(1), header),
                false => (0, 0),
            }
        };
        let best = DELIMITERS.into_iter().rev().max_by_key(|delimiter| worth(*delimiter));
        Dialect { delimiter: best.filter(|best| worth(*best).1 > 0).unwrap_or(b','), ..dialect }
    }

    /// The number of cells of the first records.
    fn counts(self, text: &str) -> Vec<usize> {
        let (mut reader, mut record) = (self.reader(text.as_bytes()), StringRecord::new());
        let mut counts = Vec::new();
        while counts.len() < SAMPLE.1 && reader.read_record(&mut record).unwrap_or(false) {
            counts.push(record.len());
        }
        counts
    }

    /// A reader of records of any length, the header among them.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> char {
        char::from(Dialect::of(text, &ReadSpec::default()).delimiter)
    }

    #[test]
    fn the_delimiter_gives_all_rows_as_many_cells() {
        assert_eq!(found("a,b\n1,2\n"), ',');
        assert_eq!(found("a;b\n1,5;2,5\n"), ';');
        assert_eq!(found("a;b,c;d\n1,5;2,5;3\n2;3;4\n"), ';');
        assert_eq!(found("a\tb\n1\t2\n"), '\t');
        assert_eq!(found("a|b\n1|\"x,y\"\n"), '|');
        assert_eq!(found("\"a;b\",\"c;d\"\n1,2\n"), ',');
        assert_eq!(found("a\n1\n"), ',');
        assert_eq!(found(""), ',');
        assert_eq!(found("a,b,c\n1,2\n1,2,3\n"), ',');
        assert_eq!(found("x;y\n1;1;2\n2;3;4\n"), ';');
    }
}
