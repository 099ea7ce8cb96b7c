//! Errors that name the place, say what was expected, and suggest what was meant.

mod nearest;

use crate::{Role, StopReason, counted};
pub use nearest::nearest;
use std::path::{Path, PathBuf};

/// The result type of all fallible functions of vaglio.
pub type Result<T> = std::result::Result<T, Error>;

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
    /// The file alone, for text that is missing from it.
    pub fn without_line(&self) -> Self {
        SourceLocation { file: self.file.clone(), line: 0, column: 0 }
    }
}

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            write!(f, "{}", self.file)
        } else {
            write!(f, "{}:{}:{}", self.file, self.line, self.column)
        }
    }
}

/// The kind of a failure; its number is the exit code of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitClass {
    /// Wrong usage or configuration, found before the work starts.
    Configuration = 2,
    /// Input that cannot be read or is not finite, a refused model file, an output that cannot be written.
    Data = 3,
    /// Over- or underflow, or a factorization that failed.
    Numerical = 4,
}

/// An error with the numbers and names that locate it.
///
/// `Debug` prints the sentence of `Display`, because a `main` that returns an error prints `Debug`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting has a value that it cannot have.
    #[error("{}`{field}`: {message}", at(place))]
    Setting {
        /// Dotted path of the setting, as in the pipeline file.
        field: String,
        /// The fault, and what was expected.
        message: String,
        /// The place of the setting, if it came from a file.
        place: Option<SourceLocation>,
        /// Whether the path starts at the root of the pipeline, so that nothing goes before it.
        from_root: bool,
    },
    /// A name that does not exist.
    #[error(
        "{}`{field}`: there is no {what} `{name}`{}{}",
        at(place),
        did_you_mean(suggestion, known),
        unlinked(what, suggestion)
    )]
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
    #[error("{}{message}", at(place))]
    Syntax {
        /// The fault, and what was expected.
        message: String,
        /// The place.
        place: Option<SourceLocation>,
    },
    /// A file that cannot be read or understood.
    #[error("{}: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The fault, with line and column if known.
        message: String,
    },
    /// A file or folder that cannot be written.
    #[error("{}: cannot be written: {message}", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The reason the system gave.
        message: String,
    },
    /// A missing cell where there has to be one, or a value that is not a finite number.
    #[error("{}row {row}, column `{column}`: {} in this column){}", inside(file), not_finite(value, *count), remedied(remedy))]
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
    #[error("{0}")]
    Shape(String),
    /// A model file that is damaged, of another version, or does not fit the data.
    #[error("{}: model refused: {message}", path.display())]
    ModelRefused {
        /// The model file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// A journal that is damaged, of another run, or not repeated by this one.
    #[error("{}: {message}", path.display())]
    JournalRefused {
        /// The journal.
        path: PathBuf,
        /// The difference, and what to do.
        message: String,
    },
    /// Over- or underflow, or a factorization that failed.
    #[error("{0}")]
    Numerical(String),
    /// An error in the work of a part.
    #[error("{part}{}: {message}", on(subset))]
    Failed {
        /// Role and kind of the part.
        part: String,
        /// The subset of columns on which it failed, in words, where that is known.
        subset: Option<String>,
        /// The failure.
        message: String,
    },
    /// Work that was stopped early; a search turns it into the end of its path.
    #[error("the run was stopped, since {}", .0.sentence())]
    Stopped(StopReason),
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Creates an error for a setting with an impossible value. The caller that knows the file adds the place.
    pub fn setting(field: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Setting { field: field.into(), message: message.into(), place: None, from_root: false }
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
        match range.contains(&value) {
            true => Ok(()),
            false => {
                Err(Error::setting(field, format!("{value} is not between {} and {}", range.start(), range.end())))
            }
        }
    }

    /// Creates an error for a name that is not among `known`, and suggests the nearest of them.
    pub fn unknown<'a>(
        field: impl Into<String>,
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        let suggestion = nearest(name, known.iter().map(String::as_str));
        let known = if known.len() <= 12 { known } else { Vec::new() };
        let (field, name) = (field.into(), name.to_owned());
        Error::UnknownName { field, what, name, suggestion, known, place: None, from_root: false }
    }

    /// The kind of failure; it determines the exit code.
    pub fn class(&self) -> ExitClass {
        match self {
            Error::Setting { .. } | Error::UnknownName { .. } | Error::Syntax { .. } | Error::JournalRefused { .. } => {
                ExitClass::Configuration
            }
            Error::Unreadable { .. }
            | Error::Unwritable { .. }
            | Error::NonFinite { .. }
            | Error::Shape(_)
            | Error::ModelRefused { .. } => ExitClass::Data,
            Error::Numerical(_) | Error::Failed { .. } | Error::Stopped(_) => ExitClass::Numerical,
        }
    }

    /// The dotted path of the faulty setting, for errors about a setting.
    pub fn field(&self) -> Option<&str> {
        match self {
            Error::Setting { field, .. } | Error::UnknownName { field, .. } => Some(field),
            _ => None,
        }
    }

    /// Moves the error below `prefix`: field `lambda` becomes `learner.lambda`.
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

    /// Names a criterion, search or learner as the source, unless the error has one already. A setting gets the part's
    /// place as its final prefix; a numerical failure gets the part's name.
    #[must_use]
    pub fn from_part(self, role: Role, kind: &str) -> Self {
        let mut error = self.under(role.name()).named(role, kind);
        if let Error::Setting { from_root, .. } | Error::UnknownName { from_root, .. } = &mut error {
            *from_root = true;
        }
        error
    }

    /// Adds the part's name to a numerical failure, unless it has one.
    #[must_use]
    pub fn named(self, role: Role, kind: &str) -> Self {
        match self {
            Error::Numerical(message) => {
                Error::Failed { part: format!("{} `{kind}`", role.name()), subset: None, message }
            }
            other => other,
        }
    }

    /// Adds the subset of columns to a part's failure, unless it has one.
    #[must_use]
    pub fn on(self, subset: impl FnOnce() -> String) -> Self {
        match self {
            Error::Failed { part, subset: None, message } => Error::Failed { part, subset: Some(subset()), message },
            other => other,
        }
    }

    /// Adds the place, unless the error has one.
    #[must_use]
    pub fn at(mut self, found: Option<SourceLocation>) -> Self {
        match &mut self {
            Error::Setting { place, .. } | Error::UnknownName { place, .. } | Error::Syntax { place, .. }
                if place.is_none() =>
            {
                *place = found;
            }
            _ => {}
        }
        self
    }

    /// Adds the file to an error about data.
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
            && value.ends_with(" cell")
        {
            *remedy = Some(words.to_owned());
        }
        self
    }

    /// The place in a file, if known.
    pub fn place(&self) -> Option<&SourceLocation> {
        match self {
            Error::Setting { place, .. } | Error::UnknownName { place, .. } | Error::Syntax { place, .. } => {
                place.as_ref()
            }
            _ => None,
        }
    }
}

fn at(place: &Option<SourceLocation>) -> String {
    place.as_ref().map(|p| format!("{p}: ")).unwrap_or_default()
}

fn inside(file: &Option<PathBuf>) -> String {
    file.as_ref().map(|f| format!("{}: ", f.display())).unwrap_or_default()
}

/// Describes a value that is missing or not finite, and counts such values.
fn not_finite(value: &str, count: usize) -> String {
    match value.ends_with(" cell") {
        true => format!("{value} ({}", counted(count, "such cell")),
        false => format!("{value} is not a finite number ({}", counted(count, "such value")),
    }
}

fn remedied(remedy: &Option<String>) -> String {
    remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default()
}

fn on(subset: &Option<String>) -> String {
    subset.as_ref().map(|subset| format!(" on {subset}")).unwrap_or_default()
}

fn did_you_mean(suggestion: &Option<String>, known: &[String]) -> String {
    match suggestion {
        Some(name) => format!("; did you mean `{name}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; there are: {}", known.join(", ")),
    }
}

/// Hint that an unknown part may come from a plug-in, if no known name is similar.
fn unlinked(what: &str, suggestion: &Option<String>) -> &'static str {
    let is_part = suggestion.is_none() && Role::ALL.iter().any(|role| role.name() == what);
    if is_part { "; a plug-in's are there in programs that are linked with its crate" } else { "" }
}
