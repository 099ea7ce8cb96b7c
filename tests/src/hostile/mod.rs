//! Files of strangers, read in the ways that there are: fuzz targets and the tests try the same.

mod forgery;
mod journal;
mod mutation;
mod stand;

pub use forgery::forged;
pub use mutation::mutated;
pub use stand::{Attempt, Stand, peak, room};

use std::path::Path;

/// What a file is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A pipeline file, which is planned.
    Pipeline,
    /// A `model.json`, which predicts.
    Model,
    /// A `journal.jsonl`, from which a run goes on.
    Journal,
    /// A table of text, compressed or not.
    Text,
    /// A table in Parquet.
    Parquet,
    /// A table in one of Arrow's two formats.
    Arrow,
}

impl Input {
    /// All there are.
    pub const ALL: [Input; 6] =
        [Input::Pipeline, Input::Model, Input::Journal, Input::Text, Input::Parquet, Input::Arrow];

    /// The name of the fuzz target, and of its folder of the corpus.
    pub fn name(self) -> &'static str {
        match self {
            Input::Pipeline => "pipeline",
            Input::Model => "model",
            Input::Journal => "journal",
            Input::Text => "text",
            Input::Parquet => "parquet",
            Input::Arrow => "arrow",
        }
    }

    /// Inputs from which others are made, with their names, in order: those with an ending are whole and must be read.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn corpus(self) -> std::io::Result<Vec<(String, Vec<u8>)>> {
        self.kept("corpus")
    }

    /// Inputs that have broken a promise once.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn regressions(self) -> std::io::Result<Vec<(String, Vec<u8>)>> {
        self.kept("regressions")
    }

    fn kept(self, what: &str) -> std::io::Result<Vec<(String, Vec<u8>)>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(what).join(self.name());
        let mut found = Vec::new();
        for entry in folder.is_dir().then(|| std::fs::read_dir(&folder)).transpose()?.into_iter().flatten() {
            let entry = entry?;
            found.push((entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path())?));
        }
        found.sort();
        Ok(found)
    }
}

/// Tries one input, on a stand that every thread makes for itself.
///
/// # Panics
/// When a promise is not kept.
pub fn holds(input: Input, bytes: &[u8]) {
    thread_local! {
        static STAND: Stand = Stand::new().unwrap_or_else(|error| panic!("no stand: {error}"));
    }
    let attempt = STAND.with(|stand| stand.attempt(input, bytes, room()));
    let attempt = attempt.unwrap_or_else(|error| panic!("no file could be written: {error}"));
    if let Some(broken) = attempt.broken() {
        panic!("{broken}");
    }
}
