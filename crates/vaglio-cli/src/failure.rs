//! Reports failures on standard error, with the line at fault.

use crate::arguments::Arguments;
use crate::exit;
use crate::terminal::{LONGEST, has_color, one_line, print_to_stderr, several_lines};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue};
use std::fmt::Write;
use std::path::Path;
use unicode_width::UnicodeWidthStr;
use vaglio::core::{Error, SourceLocation, StopReason, escape_controls, is_control, nearest};

/// An error with a snippet of the lines it points to, if any.
pub struct CliError {
    error: Error,
    snippet: String,
}

impl CliError {
    /// Adds a snippet to an error that points into `text`, the content of `file`.
    pub fn in_text(error: Error, file: &Path, text: &str) -> Self {
        let here = error.place().filter(|place| place.line > 0 && Path::new(&place.file) == file);
        let snippet = here.map_or_else(String::new, |place| snippet(text, place));
        CliError { error, snippet }
    }

    /// Text for standard error.
    pub fn text(&self) -> String {
        const START: &str = "error: ";
        let hint = match &self.error {
            Error::UnknownName { name, .. } => hint(name, FEATURES),
            _ => String::new(),
        };
        let left = LONGEST.saturating_sub(START.len() + self.snippet.chars().count() + hint.chars().count() + 1);
        format!("{START}{}\n{}{hint}", one_line(&self.error, left), self.snippet)
    }

    /// Prints the failure and returns its exit code.
    pub fn report(&self) -> u8 {
        print_to_stderr(&self.text());
        match self.error {
            Error::Stopped(StopReason::Interrupted) => exit::INTERRUPTED,
            Error::Stopped(_) => exit::LIMITED,
            _ => exit::code(self.error.class()),
        }
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        CliError { error, snippet: String::new() }
    }
}

/// A cargo feature: name, whether enabled, and its commands and parts.
type BuildFeature = (&'static str, bool, &'static [&'static str]);

macro_rules! feature {
    ($name:literal: $($part:literal),+) => {
        ($name, cfg!(feature = $name), &[$($part),+])
    };
}

const FEATURES: &[BuildFeature] = &[
    feature!("beam": "beam"),
    feature!("elm": "elm"),
    feature!("external": "external"),
    feature!("information": "information"),
    feature!("knn": "knn"),
    feature!("linfa": "elastic_net", "logistic", "logistic_ridge", "naive_bayes", "svm", "tree"),
    feature!("lssvm": "fs_ls_svm", "kernel_logistic"),
    feature!("manual": "completions", "man"),
    feature!("reservoir": "reservoir"),
    feature!("tune": "hsfs"),
];

/// Suggests the feature that a command or part needs; empty for other names.
fn hint(name: &str, features: &[BuildFeature]) -> String {
    let lacking = features.iter().find(|(_, is_built, names)| !is_built && names.contains(&name));
    lacking.map_or_else(String::new, |(feature, ..)| {
        format!("help: this build has no `{name}`: install with `--features {feature}`, or `--features full` for everything\n")
    })
}

/// Shows requested help or a command-line error; returns the exit code.
pub fn usage(mut error: clap::Error) -> u8 {
    suggest(&mut error);
    let text = error.render().to_string();
    if error.use_stderr() && (text.chars().count() > LONGEST || text.contains(|c| c != '\n' && is_control(c))) {
        print_to_stderr(&format!("{}\n", several_lines(&text, LONGEST - 1)));
    } else {
        let _ = error.print();
    }
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) {
        print_to_stderr(&hint(name, FEATURES));
    }
    u8::try_from(error.exit_code()).unwrap_or(exit::FAILURE)
}

/// Suggests the nearest command if clap suggests none.
fn suggest(error: &mut clap::Error) {
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let program = Arguments::command();
    if let Some(known) = nearest(name, program.get_subcommands().map(clap::Command::get_name)) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![known]));
    }
}

/// Maximum number of characters shown around the place.
const WINDOW: usize = 120;

/// The line of a place with its neighbors, and the word at the place marked.
fn snippet(text: &str, place: &SourceLocation) -> String {
    let first = place.line.saturating_sub(2);
    let column = place.column.saturating_sub(1);
    let from = column.saturating_sub(WINDOW / 2);
    let (on, off) = if has_color() { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") };
    let mut out = String::new();
    for (number, line) in (first + 1..).zip(text.lines().skip(first)).take(place.line + 1 - first) {
        let mut before = String::new();
        let mut after = String::new();
        let mut seen = line.chars().enumerate().skip(from);
        for (at, c) in seen.by_ref().take(WINDOW) {
            let side = if at < column { &mut before } else { &mut after };
            if c == '\t' { side.push(' ') } else { side.push_str(&escape_controls(c.encode_utf8(&mut [0; 4]))) }
        }
        let more = if seen.next().is_some() { "…" } else { "" };
        let start = if from > 0 { "…" } else { "" };
        let _ = writeln!(out, "{number:>5} | {start}{before}{after}{more}");
        if number == place.line {
            let word = after.split([',', '}', ']', '#', ' ']).next().unwrap_or_default();
            let marks = "^".repeat(word.width().max(1));
            let indent = start.width() + before.width();
            let _ = writeln!(out, "      | {:indent$}{on}{marks} here{off}", "");
        }
    }
    if text.lines().nth(place.line - 1).is_some() { out } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, line: usize, column: usize) -> String {
        snippet(text, &SourceLocation { file: "p.yaml".into(), line, column })
    }

    #[test]
    fn what_a_build_lacks_is_said_with_its_feature() {
        let features: [BuildFeature; 2] = [("manual", true, &["man"]), ("linfa", false, &["svm", "tree"])];
        assert!(hint("svm", &features).contains("install with `--features linfa`"));
        assert_eq!(hint("swm", &features), "");
        assert_eq!(hint("man", &features), "");
    }

    #[test]
    fn the_word_at_a_place_is_marked_between_its_neighbors() {
        let text = "version: 1\nsearch: {kind: gredy}\n\tlast\u{7}\nnot shown\n";
        let expected = [
            "    1 | version: 1",
            "    2 | search: {kind: gredy}",
            "      |                ^^^^^ here",
            "    3 |  last\\u{7}",
            "",
        ];
        assert_eq!(at(text, 2, 16), expected.join("\n"));
        assert_eq!(at(text, 9, 1), "");
        assert_eq!(at("a: 1", 1, 9), "    1 | a: 1\n      |     ^ here\n");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let line = "x".repeat(5000) + "," + &"é".repeat(5000);
        let text = format!("{line}\n{line}\n{line}\n");
        for column in [1, 60, 4999, 5001, 5002, 9999, 10001, 20000] {
            let shown = at(&text, 2, column);
            assert!(shown.lines().count() == 4 && shown.chars().count() < 700, "{column}\n{shown}");
        }
    }
}
