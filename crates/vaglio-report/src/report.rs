//! The report: one self-contained HTML page that says what was chosen, what it is worth, and how far to trust it.

mod answer;
mod chosen_columns;
mod classes;
mod error_curves;
mod other_columns;
mod part_findings;
mod residuals;
mod run_details;
mod sections;

#[cfg(test)]
mod tests;

pub(crate) use error_curves::along_path;
pub use sections::render;

use std::path::Path;

/// The title of the report of a run: the name of its folder.
pub fn heading(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned())
}
