//! How failures are told: on standard error, with the line that is at fault.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use unicode_width::UnicodeWidthStr;
use vaglio::core::{Error, Place};

/// An error with the lines that it points into, if any.
#[derive(Debug)]
pub struct Failure {
    error: Error,
    snippet: String,
}

impl Failure {
    /// An error that may point into `text`, the content of `file`.
    pub fn in_text(error: Error, file: &Path, text: &str) -> Self {
        let here = error.place().filter(|place| place.line > 0 && Path::new(&place.file) == file);
        let snippet = here.map_or_else(String::new, |place| snippet(text, place));
        Failure { error, snippet }
    }

    /// Prints the failure and gives its exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("error: {}", self.error);
        eprint!("{}", self.snippet);
        ExitCode::from(self.error.class() as u8)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, snippet: String::new() }
    }
}

/// A refusal of something that this version does not do.
pub fn not_available(what: &str, instead: &str) -> Failure {
    Error::NotAvailable { what: what.into(), instead: instead.into(), place: None }.into()
}

/// The line of a place between its neighbors, with the word at the place marked.
fn snippet(text: &str, place: &Place) -> String {
    let lines: Vec<String> = text.lines().map(printable).collect();
    let Some(line) = lines.get(place.line - 1) else { return String::new() };
    let at = line.char_indices().nth(place.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    let word = line[at..].split([',', '}', ']', '#', ' ']).next().unwrap_or_default();
    let color = std::env::var_os("NO_COLOR").is_none() && std::io::stderr().is_terminal();
    let (on, off) = if color { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") };
    let (marks, indent) = ("^".repeat(word.width().max(1)), line[..at].width());
    let mut out = String::new();
    let first = place.line.saturating_sub(2);
    for (number, line) in (first + 1..).zip(&lines[first..(place.line + 1).min(lines.len())]) {
        let _ = writeln!(out, "{number:>5} | {line}");
        if number == place.line {
            let _ = writeln!(out, "      | {:indent$}{on}{marks} here{off}", "");
        }
    }
    out
}

/// A line with its control characters escaped; a tab is one space.
fn printable(line: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    line.replace('\t', " ").chars().map(escaped).collect()
}
