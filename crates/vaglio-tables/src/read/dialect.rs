//! Dialect of a text file: delimiter, quote and comment characters.

use super::layout::CellLayout;
use crate::{Delimiter, ReadSpec};
use csv::{ReaderBuilder, StringRecord};
use std::borrow::Cow;

/// Dialect of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        let (text, dialect) = self.tabulated(text, spec);
        let (mut reader, mut record) = (dialect.reader(text.as_bytes()), StringRecord::new());
        let mut counts = Vec::new();
        while counts.len() < SAMPLE.1 && reader.read_record(&mut record).unwrap_or(false) {
            counts.push(record.len());
        }
        counts
    }

    /// Converts a text so that a reader can parse it, and its dialect; a text that cannot be converted stays.
    pub fn tabulated<'t>(self, text: &'t str, spec: &ReadSpec) -> (Cow<'t, str>, Self) {
        match CellLayout::new(self, spec).and_then(|layout| layout.tabulated(text, self).ok()) {
            Some(text) => (text.into(), Dialect { delimiter: b'\t', ..self }),
            None => (text.into(), self),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> char {
        char::from(Dialect::detect(text, &ReadSpec::default()).delimiter)
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

    #[test]
    fn blanks_part_cells_where_nothing_else_does() {
        assert_eq!(found("a b\n1 2\n"), ' ');
        assert_eq!(found("  a   b\n 10  2\n  1  20 \n"), ' ');
        assert_eq!(found("mpg name\n18.0\t\"a  b\"\n15.0\t\"c\"\n"), ' ');
        assert_eq!(found("\"x\" \"y\"\n\"1\" 5 6\n\"2\" 7 8\n"), ' ');
        assert_eq!(found("a b c\n1 2 3\n1 2\n4 5 6\n"), ' ');
        assert_eq!(found("x y\n1,5 2,5\n"), ' ');
        assert_eq!(found("a b,c d\n1,2\n"), ',');
        assert_eq!(found("first name\tlast name\nA B\tC D\n"), '\t');
        assert_eq!(found("a\nNew York\nLos Angeles\n"), ',');
        assert_eq!(found("a\tb\n\t2\n1\t\n"), '\t');
    }
}
