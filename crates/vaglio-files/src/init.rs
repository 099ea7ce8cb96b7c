//! A commented pipeline for a table that nobody described.

mod decided;
mod look;
mod notes;
mod order;
mod test_rows;
mod words;
mod written;

use super::folder::relative;
use super::plan::planned;
use decided::{Decided, FOLDS};
use look::Look;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};
use vaglio_pipeline::pipeline::{ReadSpec, load};
use vaglio_tables::read::Source;

/// What a new pipeline is to be for.
#[derive(Debug, Clone, Default)]
pub struct InitOptions {
    /// The columns to predict; guessed when there is none.
    pub targets: Vec<String>,
    /// The columns that are no features; those that look so when absent.
    pub exclude: Option<Vec<String>>,
    /// Test rows; a share is set aside, or those that a column names, when absent.
    pub test: Option<TestOption>,
    /// What the target holds; as it looks when absent.
    pub task: Option<TaskOption>,
    /// The column of groups; one that looks so when absent.
    pub groups: Option<String>,
    /// The column of time; one that looks so when absent.
    pub time: Option<String>,
    /// What messages call the pipeline file.
    pub name: Option<String>,
}

/// Where test rows are from.
#[derive(Debug, Clone, PartialEq)]
pub enum TestOption {
    /// This share of the rows is set aside; none with 0.
    Fraction(f64),
    /// Another table.
    File(PathBuf),
}

/// What a target holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskOption {
    /// Numbers.
    Regression,
    /// Classes.
    Classification,
}

/// A pipeline that was written for a table.
#[derive(Debug)]
pub struct Draft {
    /// The text of the pipeline file.
    pub text: String,
    /// What was decided, a line each.
    pub notes: Vec<String>,
    /// The columns to predict.
    pub targets: Vec<String>,
    /// The columns that are no features.
    pub excluded: Vec<String>,
    /// Why the pipeline does not run as it stands, where it does not.
    pub fault: Option<Error>,
}

/// Writes a pipeline for a table, or for the files that a pattern fits, to stand in `folder`.
///
/// Types, identifiers, groups and missing cells are looked at, the target is guessed where none is given, and the pipeline
/// is tried up to where the search begins.
///
/// # Errors
/// A file that cannot be read at all; [`Error::UnknownName`] for a column that it does not have.
pub fn init(table: &Path, folder: &Path, options: &InitOptions) -> Result<Draft> {
    let source = Source::open(&[table.to_owned()], &ReadSpec::default())?;
    let known = |option: &str, names: &[String]| match names.iter().find(|name| !source.names().contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::unknown(option, "column", name, source.names().iter().map(String::as_str))),
    };
    known("--target", &options.targets)?;
    known("--groups", options.groups.as_slice())?;
    known("--time", options.time.as_slice())?;
    known("columns to leave out", options.exclude.as_deref().unwrap_or_default())?;
    if let Some(TestOption::Fraction(share)) = options.test
        && !(0.0..1.0).contains(&share)
    {
        return Err(Error::setting("--test", format!("{share} is no share of the rows; it lies between 0 and 1")));
    }
    let look = Look::at(source, table, options)?;
    let mut decided = Decided::of(&look, options)?;
    let path = relative(table, folder);
    if let Some(TestOption::File(file)) = &options.test {
        decided.test_file = Some(relative(file, folder));
    }
    let tried = |draft: &Draft| {
        let (pipeline, document) = load(&draft.text, options.name.as_deref().unwrap_or("the pipeline"), &[])?;
        planned(&pipeline, folder).map(|(_, warning)| warning).map_err(|error| document.locate(error))
    };
    let mut draft = decided.written(&path, &look);
    let mut found = tried(&draft);
    // A fold of the choice may leave too few groups for the folds of the criterion.
    while let Ok(Some(warning)) = &found {
        if decided.folds > 2 {
            decided.folds -= 1;
        } else if decided.without_test(&look, options, &warning.message) {
            decided.folds = FOLDS;
        } else {
            break;
        }
        draft = decided.written(&path, &look);
        found = tried(&draft);
    }
    draft.notes.extend(found.iter().flatten().map(|warning| warning.message.clone()));
    draft.fault = found.err();
    // What is found by looks alone is given up where it does not run.
    for simpler in [Decided::without_test, Decided::without_order] {
        let Some(fault) = draft.fault.as_ref().map(ToString::to_string) else { break };
        if !simpler(&mut decided, &look, options, &fault) {
            continue;
        }
        let other = decided.written(&path, &look);
        if tried(&other).is_ok() {
            draft = other;
        }
    }
    Ok(draft)
}
