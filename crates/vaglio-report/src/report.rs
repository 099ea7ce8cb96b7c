//! The report: one self-contained HTML page that says what was chosen, what it is worth, and how far to trust it.
//!
//! The module `sections` turns a record into sections, `section` makes a page of them, and `drawing` draws their charts.
//! Nothing is fetched and no script runs when the page is opened.

mod answer;
mod axis;
mod chart;
mod chosen_columns;
mod classes;
mod drawing;
mod error_curves;
mod heat_map;
mod lookups;
mod number;
mod other_columns;
mod part_findings;
mod repetitions;
mod residuals;
mod run_details;
mod section;
mod sections;
mod svg;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use chart::COLORS;
pub use chart::{Chart, ChartShape, Mark, ScaleKind};
pub(crate) use error_curves::along_path;
pub(crate) use section::{Section, page};
pub use sections::render;
pub(crate) use table::{TableBuilder, TableCell};

use std::path::Path;

/// The style sheet of pages, and of drawings.
pub const STYLE: &str = include_str!("report/style.css");

/// The title of the report of a run: the name of its folder.
pub fn heading(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned())
}
