//! Loads a pipeline file with its text, for errors that point into it.

use crate::failure::CliError;
use std::io::Read;
use std::path::{Path, PathBuf};
use vaglio::ValidPipeline;
use vaglio::core::{Cause, Error, SourceLocation};
use vaglio_pipeline::document::{LARGEST, Node};
use vaglio_pipeline::pipeline;

/// A pipeline with its text.
pub struct LoadedPipeline {
    /// The checked pipeline.
    pub pipeline: ValidPipeline,
    /// Folder that paths in the pipeline are relative to.
    pub folder: PathBuf,
    document: Node,
    text: String,
}

impl LoadedPipeline {
    /// Reads a pipeline file and applies assignments.
    ///
    /// # Errors
    /// Returns the errors of [`pipeline::load`]; for a folder or a table, a hint without quoted content.
    pub fn read(path: &Path, assignments: &[String]) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let refuse = |message: Cause| -> CliError {
            Error::Syntax { message, place: Some(SourceLocation::whole(&*file)) }.into()
        };
        let bytes = content(path).map_err(&refuse)?;
        let no_pipeline = |what: &str| refuse(format!("{what} `vaglio init {file}` writes a pipeline for it").into());
        if is_called_a_table(path) || MAGIC.iter().any(|magic| bytes.starts_with(magic)) {
            return Err(no_pipeline(TABLE));
        }
        let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".into()))?;
        if let Some(what) = other_content(&text) {
            return Err(no_pipeline(what));
        }
        match pipeline::load(&text, &file, assignments) {
            Ok((pipeline, document)) => {
                let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
                Ok(LoadedPipeline { pipeline, document, text, folder })
            }
            Err(error) => Err(CliError::in_text(error, path, &text)),
        }
    }

    /// Parts that the file leaves at their defaults, in words.
    pub fn by_default(&self) -> Option<String> {
        let parts: Vec<String> =
            pipeline::by_default(&self.document).iter().map(|(part, kind)| format!("{part} {kind}")).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Locates a later error in the file.
    pub fn locate<T>(&self, done: Result<T, Error>) -> Result<T, CliError> {
        done.map_err(|error| {
            let error = self.document.locate(error);
            let file = error.place().map(|place| place.file.clone()).unwrap_or_default();
            CliError::in_text(error, Path::new(&file), &self.text)
        })
    }
}

/// Content of a file, truncated if too large for a configuration.
fn content(path: &Path) -> Result<Vec<u8>, Cause> {
    if path.is_dir() {
        return Err("this is a folder; a pipeline is a YAML file".into());
    }
    let unreadable = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => Cause::new("there is no such file", e),
        _ => Cause::after("it cannot be read", e),
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// File extensions of tables.
const ENDINGS: &str = "csv tsv tab dat data parquet arrow arrows feather ipc gz bz2 zst";

/// First bytes of binary tables and compressed files.
const MAGIC: [&[u8]; 5] = [b"PAR1", b"ARROW1", b"FEA1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

fn is_called_a_table(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ENDINGS.split(' ').any(|known| known == ending))
}

/// Description of a text whose lines have equal numbers of cells.
const TABLE: &str = "this is a table;";
/// Description of other lines of text, possibly a table with one column.
const TEXT: &str = "this is no pipeline, which has keys such as `version: 1`; if it is a table,";

/// Describes a text that cannot be a pipeline; `None` for one whose faults reading it names.
fn other_content(text: &str) -> Option<&'static str> {
    let document = Node::parse(text, "");
    match &document {
        Ok(whole) if whole.is_null() || whole.text().is_none() => None,
        _ if has_equal_lines(text) => Some(TABLE),
        whole => whole.as_ref().ok().and_then(|_| text.trim().lines().nth(1)).map(|_| TEXT),
    }
}

/// Whether the first two lines have equal numbers of cells, and the first is not YAML.
fn has_equal_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (Some(header), Some(row)) = (lines.next(), lines.next()) else { return false };
    let cells = |line: &str, delimiter: char| line.matches(delimiter).count();
    let equal = |delimiter: &char| cells(header, *delimiter) > 0 && cells(header, *delimiter) == cells(row, *delimiter);
    let is_start_of_yaml = |line: &str| line.starts_with(['{', '[', '#', '-', '%', '&', '!']) || line.contains(": ");
    [',', ';', '\t', '|'].iter().any(equal) && !is_start_of_yaml(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_from_pipelines() {
        for text in ["a,b\n1,2\n", "\n\u{feff}a;b;c\r\n1;2;3\r\n", "a\tb\nx: y\t2\n", "a|b\n1|2", "\"a\",\"b\"\n1,2\n"]
        {
            assert_eq!(other_content(text), Some(TABLE), "{text:?}");
        }
        for text in [
            "",
            "hello",
            "# nothing",
            "version: 1\ndata: {train: a.csv, target: y}\n",
            "{version: 1, data: {train: a.csv, target: y}, seed: 1}\n",
            "# a, b\nversion: 1, 2\n",
            "- a, b\n- c, d\n",
            "data: {train: a.csv, target: y\nseed: {a, b",
        ] {
            assert_eq!(other_content(text), None, "{text:?}");
        }
        assert_eq!(other_content("hello\n1\n2\n"), Some(TEXT));
    }
}
