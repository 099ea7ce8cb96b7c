//! Untrusted files, read in every way; shared by fuzz targets and tests.

mod forgery;
mod journal;
mod mutation;
mod stand;

pub use forgery::forged;
pub use mutation::mutated;
pub use stand::{Attempt, Stand, peak, room};

use std::path::Path;

/// Kind of file that an input is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A pipeline file, to be planned.
    Pipeline,
    /// A `model.json`, to predict with.
    Model,
    /// A `journal.jsonl`, to resume from.
    Journal,
    /// A table of text, compressed or not.
    Text,
    /// A table in Parquet.
    Parquet,
    /// A table in one of Arrow's two formats.
    Arrow,
}

impl Input {
    /// All kinds.
    pub const ALL: [Input; 6] =
        [Input::Pipeline, Input::Model, Input::Journal, Input::Text, Input::Parquet, Input::Arrow];

    /// Name of the fuzz target and of its corpus folder.
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

    /// Seed inputs with their names, sorted; those with a file extension are intact and must be read.
    ///
    /// # Errors
    /// Returns the errors of the file system.
    pub fn corpus(self) -> std::io::Result<Vec<(String, Vec<u8>)>> {
        self.kept("corpus")
    }

    /// Inputs that once broke a promise.
    ///
    /// # Errors
    /// Returns the errors of the file system.
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

/// Tests one input; every thread creates its own test folder.
///
/// # Panics
/// If a promise is broken.
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
