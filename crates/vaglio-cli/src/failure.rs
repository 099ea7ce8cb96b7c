//! How failures are told: on standard error, with the line that is at fault.

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceSpan};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use vaglio::core::Error;

/// An error with the text that it points into, if any.
#[derive(Debug)]
pub struct Failure {
    error: Error,
    /// The text and the part of it that is at fault.
    shown: Option<Box<(NamedSource<String>, SourceSpan)>>,
}

impl Failure {
    /// An error that may point into `text`, the content of `file`.
    pub fn in_text(error: Error, file: &Path, text: String) -> Self {
        let here = error.place().filter(|place| place.line > 0 && Path::new(&place.file) == file);
        let span = here.and_then(|place| span(&text, place.line, place.column));
        let shown = span.map(|span| Box::new((NamedSource::new(file.display().to_string(), text), span)));
        Failure { error, shown }
    }

    /// Prints the failure and gives its exit code.
    pub fn report(&self) -> ExitCode {
        let plain = std::env::var_os("NO_COLOR").is_some() || !std::io::stderr().is_terminal();
        let theme = if plain { GraphicalTheme::none() } else { GraphicalTheme::unicode() };
        let mut text = String::new();
        let rendered = GraphicalReportHandler::new_themed(theme).with_width(120).render_report(&mut text, self);
        match rendered {
            Ok(()) if self.shown.is_some() => eprintln!("error: {}\n{}", self.error, snippet_only(&text)),
            _ => eprintln!("error: {}", self.error),
        }
        ExitCode::from(self.error.class() as u8)
    }
}

/// The part of a report after its headline, which is printed plainly.
fn snippet_only(report: &str) -> &str {
    report.find("\n").map_or("", |at| report[at..].trim_end())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, shown: None }
    }
}

/// A refusal of something that this version does not do.
pub fn not_available(what: &str, instead: &str) -> Failure {
    Error::NotAvailable { what: what.into(), instead: instead.into(), place: None }.into()
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("here")
    }
}

impl std::error::Error for Failure {}

impl miette::Diagnostic for Failure {
    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.shown.as_ref().map(|shown| &shown.0 as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.shown.as_ref()?.1;
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(Some("here".into()), span))))
    }
}

/// The word at a line and column, both from 1, as bytes.
fn span(text: &str, line: usize, column: usize) -> Option<SourceSpan> {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = text.get(start..)?.lines().next()?;
    let within = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
    let word = rest[within..].find([',', '}', ']', '#', ' ']).unwrap_or(rest.len() - within).max(1);
    Some((start + within, word.min(text.len().saturating_sub(start + within))).into())
}
