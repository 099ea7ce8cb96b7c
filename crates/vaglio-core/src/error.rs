//! Errors that name the place, say what was expected, and suggest what was meant.

mod cause;
mod display;
mod suggestion;

use crate::{NamedPart, StopReason};
pub use cause::Cause;
use std::path::{Path, PathBuf};
pub use suggestion::nearest;

/// A result, by default with vaglio's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in a text file; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file, or the command-line option, that holds the text.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl SourceLocation {
    /// A file as a whole.
    pub fn whole(file: impl Into<String>) -> Self {
        SourceLocation { file: file.into(), line: 0, column: 0 }
    }
}

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SourceLocation { file, line, column } = self;
        if *line == 0 { write!(f, "{file}") } else { write!(f, "{file}:{line}:{column}") }
    }
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// Wrong usage or configuration, found before the work starts.
    Configuration,
    /// Input that cannot be read or is not finite, a refused model file, an output that cannot be written.
    Data,
    /// Over- or underflow, or a factorization that failed.
    Numerical,
}

/// An error with the numbers and names that locate it.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// A setting has a value that it cannot have.
    Setting {
        /// Dotted path of the setting, as in the pipeline file.
        field: String,
        /// The fault, and what was expected.
        message: Cause,
        /// The place of the setting, if it came from a file.
        place: Option<SourceLocation>,
        /// Whether the path starts at the root of the pipeline, so that nothing goes before it.
        from_root: bool,
    },
    /// A name that does not exist.
    UnknownName {
        /// Dotted path of the setting that holds the name.
        field: String,
        /// The kind of thing named: `column`, `label`, `criterion`, …
        what: &'static str,
        /// The name as given.
        name: String,
        /// The nearest known name.
        suggestion: Option<String>,
        /// Every known name, when there are few enough to print.
        known: Vec<String>,
        /// The place of the name, if it came from a file.
        place: Option<SourceLocation>,
        /// Whether the path starts at the root of the pipeline, so that nothing goes before it.
        from_root: bool,
    },
    /// The text of a configuration is not what its format asks for.
    Syntax {
        /// The fault, and what was expected.
        message: Cause,
        /// The place.
        place: Option<SourceLocation>,
    },
    /// A file that cannot be read or understood.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The fault, with line and column if known.
        message: Cause,
    },
    /// A file or folder that cannot be written.
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The reason the system gave.
        message: Cause,
    },
    /// A missing cell where a value is required, or a value that is not a finite number.
    NonFinite {
        /// First data row that holds such a value, from 1.
        row: usize,
        /// Name of the column.
        column: String,
        /// The value as text: `NaN`, `inf`, `-inf`; or words that end in "cell", such as "an empty cell".
        value: String,
        /// How many rows of the column hold one.
        count: usize,
        /// The file, when the data came from one.
        file: Option<PathBuf>,
        /// The remedy, if known.
        remedy: Option<String>,
    },
    /// Data whose parts do not fit together.
    Shape(String),
    /// A model file that is damaged, of another version, or does not fit the data.
    ModelRefused {
        /// The model file.
        path: PathBuf,
        /// The reason.
        message: Cause,
    },
    /// A journal that is damaged, of another run, or not repeated by this one.
    JournalRefused {
        /// The journal.
        path: PathBuf,
        /// The difference, and what to do.
        message: Cause,
    },
    /// Over- or underflow, or a factorization that failed.
    Numerical(String),
    /// An error in the work of a part.
    Failed {
        /// Role and kind of the part, if known.
        part: Option<String>,
        /// The subset of columns on which it failed, in words, if known.
        subset: Option<String>,
        /// The failure.
        message: Cause,
    },
    /// Work that was stopped early; a search turns it into the end of its path.
    Stopped(StopReason),
}

impl Error {
    /// Creates an error for a setting with an impossible value. The caller that knows the file adds the place.
    pub fn setting(field: impl Into<String>, message: impl Into<Cause>) -> Self {
        Error::Setting { field: field.into(), message: message.into(), place: None, from_root: false }
    }

    /// Creates an error for a file that cannot be read.
    pub fn unreadable(path: impl Into<PathBuf>, message: impl Into<Cause>) -> Self {
        Error::Unreadable { path: path.into(), message: message.into() }
    }

    /// Creates an error for a file or folder that cannot be written.
    pub fn unwritable(path: impl Into<PathBuf>, message: impl Into<Cause>) -> Self {
        Error::Unwritable { path: path.into(), message: message.into() }
    }

    /// Creates an error for a model file that is refused.
    pub fn model_refused(path: impl Into<PathBuf>, message: impl Into<Cause>) -> Self {
        Error::ModelRefused { path: path.into(), message: message.into() }
    }

    /// Creates an error for a journal that is refused.
    pub fn journal_refused(path: impl Into<PathBuf>, message: impl Into<Cause>) -> Self {
        Error::JournalRefused { path: path.into(), message: message.into() }
    }

    /// Creates an error for a failure of another crate, described by `text`.
    pub fn failed(text: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::Failed { part: None, subset: None, message: Cause::after(text, source) }
    }

    /// Refuses a setting that is not in a range.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn unless_between<T: PartialOrd + std::fmt::Display>(
        field: &str,
        value: T,
        range: std::ops::RangeInclusive<T>,
    ) -> Result<()> {
        if range.contains(&value) {
            return Ok(());
        }
        let (least, most) = range.into_inner();
        Err(Error::setting(field, format!("{value} is not between {least} and {most}")))
    }

    /// Refuses a setting that is not above 0 and below 1.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn unless_share(field: &str, share: f64) -> Result<()> {
        match share > 0.0 && share < 1.0 {
            true => Ok(()),
            false => Err(Error::setting(field, format!("{share} is not above 0 and below 1"))),
        }
    }

    /// Creates an error for a name that is not among `known`, and suggests the nearest of them.
    pub fn unknown(
        field: impl Into<String>,
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let known: Vec<String> = known.into_iter().map(|known| known.as_ref().to_owned()).collect();
        let suggestion = nearest(name, known.iter().map(String::as_str));
        let known = if known.len() <= 20 { known } else { Vec::new() };
        let (field, name) = (field.into(), name.to_owned());
        Error::UnknownName { field, what, name, suggestion, known, place: None, from_root: false }
    }

    /// Creates an error of a method that needs columns to vary, which the bias `name` does not.
    pub fn without_spread(name: &str) -> Self {
        let why = format!("the bias `{name}` has no spread, so nothing depends on or correlates with it; leave it out");
        Error::setting("kind", why)
    }

    /// The kind of failure.
    pub fn class(&self) -> ErrorClass {
        match self {
            Error::Setting { .. } | Error::UnknownName { .. } | Error::Syntax { .. } | Error::JournalRefused { .. } => {
                ErrorClass::Configuration
            }
            Error::Unreadable { .. }
            | Error::Unwritable { .. }
            | Error::NonFinite { .. }
            | Error::Shape(_)
            | Error::ModelRefused { .. } => ErrorClass::Data,
            Error::Numerical(_) | Error::Failed { .. } | Error::Stopped(_) => ErrorClass::Numerical,
        }
    }

    /// The dotted path of the faulty setting, for errors about a setting.
    pub fn field(&self) -> Option<&str> {
        match self {
            Error::Setting { field, .. } | Error::UnknownName { field, .. } => Some(field),
            _ => None,
        }
    }

    /// Adds `prefix` to the field of an error about a setting, unless it is final: `lambda` becomes `learner.lambda`.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        if let Error::Setting { field, from_root: false, .. } | Error::UnknownName { field, from_root: false, .. } =
            &mut self
        {
            *field = match field.as_bytes().first() {
                None => prefix.to_owned(),
                // An item of a list.
                Some(b'[') => format!("{prefix}{field}"),
                Some(_) => format!("{prefix}.{field}"),
            };
        }
        self
    }

    /// Names a criterion, search or learner as the source, unless the error has one already. The field of a setting
    /// gets the part's role as its final prefix; a numerical failure gets the part's name.
    #[must_use]
    pub fn from_part<P: NamedPart + ?Sized>(self, part: &P) -> Self {
        let mut error = self.under(P::ROLE.word()).named(part);
        if let Error::Setting { from_root, .. } | Error::UnknownName { from_root, .. } = &mut error {
            *from_root = true;
        }
        error
    }

    /// Adds the part's name to a numerical failure, unless it has one.
    #[must_use]
    pub fn named<P: NamedPart + ?Sized>(self, part: &P) -> Self {
        let message = match self {
            Error::Numerical(text) => text.into(),
            Error::Failed { part: None, message, .. } => message,
            other => return other,
        };
        Error::Failed { part: Some(format!("{} `{}`", P::ROLE.word(), part.word())), subset: None, message }
    }

    /// Adds the subset of columns, described by `words`, to a part's failure, unless it has one.
    #[must_use]
    pub fn on(mut self, words: impl FnOnce() -> String) -> Self {
        if let Error::Failed { part: Some(_), subset: subset @ None, .. } = &mut self {
            *subset = Some(words());
        }
        self
    }

    /// Adds the place to an error about a setting or syntax, unless it has one or `found` names no file.
    #[must_use]
    pub fn at(mut self, found: Option<SourceLocation>) -> Self {
        if let Error::Setting { place, .. } | Error::UnknownName { place, .. } | Error::Syntax { place, .. } = &mut self
            && place.is_none()
        {
            *place = found.filter(|found| !found.file.is_empty());
        }
        self
    }

    /// Adds the data file to an [`Error::NonFinite`] without one, or to an [`Error::Shape`].
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Error::NonFinite { row, column, value, count, file: None, remedy } => {
                Error::NonFinite { row, column, value, count, file: Some(path.to_owned()), remedy }
            }
            Error::Shape(message) => Error::Shape(format!("{}: {message}", path.display())),
            other => other,
        }
    }

    /// Replaces the remedy of an error about a missing cell.
    #[must_use]
    pub fn with_remedy(mut self, words: &str) -> Self {
        if let Error::NonFinite { value, remedy, .. } = &mut self
            && (value.ends_with(" cell") || value.eq_ignore_ascii_case("nan"))
        {
            *remedy = Some(words.to_owned());
        }
        self
    }

    /// The place in a file, if known.
    pub fn place(&self) -> Option<&SourceLocation> {
        let (Error::Setting { place, .. } | Error::UnknownName { place, .. } | Error::Syntax { place, .. }) = self
        else {
            return None;
        };
        place.as_ref()
    }
}

/// Ends a search by `?`.
impl From<StopReason> for Error {
    fn from(reason: StopReason) -> Self {
        Error::Stopped(reason)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::Failed { part: None, subset: None, message: error.into() }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Error::Failed { part: None, subset: None, message: error.into() }
    }
}
