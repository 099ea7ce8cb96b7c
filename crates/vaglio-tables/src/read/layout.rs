//! Conversion of text without a one-character delimiter to tab-separated text.
//!
//! Line breaks are kept, so that line numbers in messages match the file.

use super::dialect::Dialect;
use crate::ReadSpec;

/// Layout of cells without a one-character delimiter.
#[derive(Debug, Clone, Copy)]
pub(super) enum CellLayout<'s> {
    /// Separated by runs of blanks and tabs.
    Blanks,
    /// Fixed widths in characters.
    Widths(&'s [usize]),
}

impl<'s> CellLayout<'s> {
    /// Layout of a text with this dialect; `None` if its delimiter is one character.
    pub fn new(dialect: Dialect, spec: &'s ReadSpec) -> Option<Self> {
        match (&spec.widths, dialect.delimiter) {
            (Some(widths), _) => Some(CellLayout::Widths(widths)),
            (None, Dialect::BLANKS) => Some(CellLayout::Blanks),
            (None, _) => None,
        }
    }

    /// Converts the text to tab-separated cells. Cost O(bytes).
    ///
    /// # Errors
    /// Fails with the line number if a line is longer than all widths.
    pub fn tabulated(self, text: &str, dialect: Dialect) -> Result<String, String> {
        match self {
            CellLayout::Blanks => Ok(parted(text, dialect)),
            CellLayout::Widths(widths) => cut(text, widths, dialect),
        }
    }
}

/// Replaces runs of blanks outside of quotes by tabs; blanks around a line are removed.
fn parted(text: &str, dialect: Dialect) -> String {
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
        if is_comment || content.trim().is_empty() {
            out.push_str(if is_comment { content } else { "" });
        } else {
            let mut rest = content;
            for (index, width) in widths.iter().enumerate() {
                let end = rest.char_indices().nth(*width).map_or(rest.len(), |(end, _)| end);
                let cell = rest[..end].trim();
                rest = &rest[end..];
                if index > 0 {
                    out.push('\t');
                }
                match cell.contains(['\t', quote]) {
                    true => {
                        let doubled = cell.replace(quote, &format!("{quote}{quote}"));
                        out.extend([&*quote.to_string(), &doubled, &*quote.to_string()]);
                    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect() -> Dialect {
        Dialect { delimiter: b'\t', quote: b'"', comment: Some(b'#') }
    }

    #[test]
    fn runs_of_blanks_are_tabs() {
        let of = |text: &str| parted(text, dialect());
        assert_eq!(of("a b  c\n"), "a\tb\tc\n");
        assert_eq!(of("  1.0 \t 2\t\r\n\n 3   4 "), "1.0\t2\r\n\n3\t4");
        assert_eq!(of("\"x  y\" \"say \"\"a  b\"\"\"\n1 5'10\"\n"), "\"x  y\"\t\"say \"\"a  b\"\"\"\n1\t5'10\"\n");
        assert_eq!(of("# a  b\n  # c  d\n1  #2"), "# a  b\n# c  d\n1\t#2");
        assert_eq!(of("é  ü\n\"open  x\n"), "é\tü\n\"open  x\n");
        assert_eq!(of(""), "");
    }

    #[test]
    fn lines_are_cut_by_characters() {
        let of = |text: &str| cut(text, &[2, 4, 3], dialect());
        assert_eq!(of("a b   c\n 1  2 3\r\n").unwrap(), "a\tb\tc\n1\t2\t3\r\n");
        assert_eq!(of("ééüüüüab\n1\n\n#x  y\n").unwrap(), "éé\tüüüü\tab\n1\t\t\n\n#x  y\n");
        assert_eq!(of("a b\"\"c d").unwrap(), "a\t\"b\"\"\"\"c\"\td");
        assert_eq!(of("abcdefghi  \n").unwrap(), "ab\tcdef\tghi\n");
        let error = of("a b   c\nabcdefghij\n").unwrap_err();
        assert_eq!(error, "line 2 has 10 characters and data.read.widths take 9; give the widths of all columns");
    }
}
