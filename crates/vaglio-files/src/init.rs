//! Drafts a commented pipeline for an undescribed table.

mod decisions;
mod facts;
mod notes;
mod options;
mod order;
mod pipeline_text;
mod words;

use super::condensed::{FOLD, is_condensed};
use super::plan::describe_with_warning;
use decisions::{Decisions, FOLDS};
use facts::TableFacts;
pub use options::{Draft, InitOptions, TestOption};
use std::path::Path;
use vaglio_core::{Error, Result};
use vaglio_pipeline::pipeline::load;
use vaglio_tables::ReadSpec;
use vaglio_tables::read::TableSource;

/// Drafts a pipeline in `folder` for a table, or for the files that match a pattern.
///
/// Detects types, identifiers, groups and missing cells. Guesses the target if none is given. Tries the pipeline up to
/// the start of the search.
///
/// # Errors
/// Fails if a file cannot be read. Returns [`Error::UnknownName`] for a column that it does not have.
pub fn init(table: &Path, folder: &Path, options: &InitOptions) -> Result<Draft> {
    let source = TableSource::open(&[table.to_owned()], &ReadSpec::default())?;
    for (option, names) in [
        ("--target", &options.targets[..]),
        ("--groups", options.groups.as_slice()),
        ("--time", options.time.as_slice()),
        ("columns to leave out", options.exclude.as_deref().unwrap_or_default()),
    ] {
        if let Some(name) = names.iter().find(|name| !source.names().contains(name)) {
            return Err(Error::unknown(option, "column", name, source.names().iter()));
        }
    }
    if let Some(TestOption::Fraction(share)) = options.test
        && !(0.0..1.0).contains(&share)
    {
        return Err(Error::setting("--test", format!("{share} is no share of the rows; it lies between 0 and 1")));
    }
    let groups = options.groups.clone().or_else(|| is_condensed(source.names()).then(|| FOLD.to_owned()));
    let options = &InitOptions { groups, ..options.clone() };
    let facts = TableFacts::new(source, table, options)?;
    let mut decided = Decisions::new(&facts, options)?;
    let name = options.name.as_deref().unwrap_or("the pipeline");
    let tried = |decided: &Decisions<'_>| {
        let draft = decided.draft(table, folder);
        let found = load(&draft.text, name, &[]).and_then(|(pipeline, document)| {
            describe_with_warning(&pipeline, folder).map(|(_, warning)| warning).map_err(|error| document.locate(error))
        });
        (draft, found)
    };
    let (mut draft, mut found) = tried(&decided);
    // A fold of the choice may have too few groups for the criterion's folds.
    while let Ok(Some(warning)) = &found {
        if decided.folds > 2 {
            decided.folds -= 1;
        } else if decided.without_test(&warning.message) {
            decided.folds = FOLDS;
        } else {
            break;
        }
        (draft, found) = tried(&decided);
    }
    draft.notes.extend(found.iter().flatten().map(|warning| warning.message.clone()));
    draft.fault = found.err();
    // A guess that does not run is dropped.
    for simpler in [Decisions::without_test, Decisions::without_order] {
        let Some(fault) = draft.fault.as_ref().map(ToString::to_string) else { break };
        if !simpler(&mut decided, &fault) {
            continue;
        }
        if let (other, Ok(_)) = tried(&decided) {
            draft = other;
        }
    }
    Ok(draft)
}
