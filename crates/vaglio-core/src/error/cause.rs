//! Messages of failures with the errors that caused them.

use std::error::Error as OutsideError;
use std::sync::Arc;

/// The text of a failure, with the error of another crate that caused it, if any.
#[derive(Debug, Clone)]
pub struct Cause {
    text: String,
    source: Option<Arc<dyn OutsideError + Send + Sync>>,
}

impl Cause {
    /// Creates a cause with its own text and an outside error as the source.
    pub fn new(text: impl Into<String>, source: impl Into<Box<dyn OutsideError + Send + Sync>>) -> Self {
        Cause { text: text.into(), source: Some(source.into().into()) }
    }

    /// Creates a cause from an outside error, with the text of that error.
    pub fn from_error(source: impl Into<Box<dyn OutsideError + Send + Sync>>) -> Self {
        let source = source.into();
        Cause::new(source.to_string(), source)
    }

    /// Creates a cause from an outside error, with `text`, a colon and the text of that error.
    pub fn after(text: &str, source: impl Into<Box<dyn OutsideError + Send + Sync>>) -> Self {
        let source = source.into();
        Cause::new(format!("{text}: {source}"), source)
    }

    /// Replaces the text by a function of it.
    #[must_use]
    pub fn reword(mut self, words: impl FnOnce(&str) -> String) -> Self {
        self.text = words(&self.text);
        self
    }

    pub(super) fn source(&self) -> Option<&(dyn OutsideError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<String> for Cause {
    fn from(text: String) -> Self {
        Cause { text, source: None }
    }
}

impl From<&str> for Cause {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<std::io::Error> for Cause {
    fn from(error: std::io::Error) -> Self {
        Cause::from_error(error)
    }
}

impl From<serde_json::Error> for Cause {
    fn from(error: serde_json::Error) -> Self {
        Cause::from_error(error)
    }
}
