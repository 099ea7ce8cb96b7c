//! Targets in a separate file.

use std::path::Path;
use vaglio_core::{Error, Result, abridge};
use vaglio_pipeline::pipeline::{DataSpec, Names, TargetSpec};
use vaglio_tables::read::TableSource;

/// Name of the label column of formats that have one.
const LABEL: &str = "target";

/// Mutable name of the target file, if there is one.
pub(super) fn name_mut(spec: &mut DataSpec) -> Option<&mut String> {
    spec.target_file()?;
    match &mut spec.target {
        TargetSpec::Beside(beside) => Some(&mut beside.file),
        TargetSpec::Columns(Names::One(name)) => Some(name),
        TargetSpec::Columns(_) => None,
    }
}

/// Joins the target file to the source and qualifies its columns in the settings: targets and other role columns.
///
/// # Errors
/// Returns the errors of reading the file; [`Error::UnknownName`] for a column that it does not have;
/// [`Error::Setting`] if it has several columns and none is named.
pub(super) fn join_targets(source: TableSource, spec: &mut DataSpec, folder: &Path) -> Result<TableSource> {
    let Some(file) = spec.target_file() else {
        if spec.has_labels() && spec.target.names().is_empty() {
            spec.target = TargetSpec::Columns(Names::One(LABEL.into()));
        }
        return Ok(source);
    };
    let source = source.with_companion(&folder.join(file))?;
    let names = source.companion_names();
    let shown = |name: &String| names.iter().find(|(own, _)| own == name).map(|(_, shown)| shown.clone());
    let known = |name: &String| {
        let own = names.iter().map(|(own, _)| own.as_str());
        shown(name).ok_or_else(|| Error::unknown("data.target.column", "column", name, own))
    };
    let columns = if let TargetSpec::Beside(beside) = &spec.target { beside.column.as_deref() } else { None };
    let target: Vec<String> = match (columns, names) {
        (Some(columns), _) => columns.iter().map(known).collect::<Result<_>>()?,
        (None, [(_, only)]) => vec![only.clone()],
        (None, several) => {
            let own = several.iter().map(|(own, _)| own.as_str());
            let message = format!(
                "{file} has {} columns ({}); say which by `{{file: {file}, column: {}}}`",
                several.len(),
                abridge(own.clone(), MOST),
                own.take(MOST).next_back().unwrap_or("…")
            );
            return Err(Error::setting("data.target", message));
        }
    };
    spec.target = TargetSpec::Columns(Names::Several(target));
    let DataSpec { weights, groups, series, time, test_rows, rows, .. } = spec;
    let filters = rows.as_deref_mut().unwrap_or_default();
    let named = [weights, groups, series, time].into_iter().flatten();
    let row_columns = named.chain(test_rows.iter_mut().map(|test| &mut test.column));
    for name in row_columns.chain(filters.iter_mut().map(|filter| &mut filter.column)) {
        if let Some(shown) = shown(name) {
            *name = shown;
        }
    }
    Ok(source)
}

/// Maximum number of columns that a message lists.
const MOST: usize = 12;
