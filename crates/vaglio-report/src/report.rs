//! The report: one self-contained HTML page that says what was chosen, what it is worth, and how far to trust it.

mod answer;
mod columns;
mod error_curves;
mod part_findings;
mod predictions;
mod run_details;

pub(crate) use error_curves::along_path;

use crate::names::{clause, join_up_to};
use crate::page::{Section, page};
use crate::record::{Record, SECTIONS, SectionMaker, alternatives_section};
use answer::{answer, baselines, trust};
use columns::{chosen_columns, columns_as_read};
use error_curves::{costs, error_by_size, other_curves, searches};
use part_findings::found_by_parts;
use predictions::{classes, components, predictions, worst_rows};
use run_details::{configuration, key_figures, methods, sizes, steps};
use std::path::Path;

/// Sections that are open, in reading order.
static OPEN: [SectionMaker; 4] = [trust, error_by_size, chosen_columns, alternatives_section];

/// Sections on errors and predictions, shut until they are clicked like all that follow: [`SECTIONS`], those of the
/// search, findings of parts and facts of the run.
static ERRORS: [SectionMaker; 5] = [baselines, predictions, worst_rows, components, classes];

/// Sections on the search and its data.
static SEARCH: [SectionMaker; 6] = [other_curves, searches, costs, steps, sizes, columns_as_read];

/// Renders the report of a record as HTML, with a title and the resolved configuration as YAML.
pub fn render(record: &Record, title: &str, yaml: &str) -> String {
    let last = [key_figures(record), methods(record), configuration(yaml)];
    let details = ERRORS.iter().chain(&SECTIONS).chain(&SEARCH).filter_map(|section| section(record));
    let details = details.chain(found_by_parts(&record.found)).chain(last);
    let details = details.fold(Section::new("Details"), Section::fold);
    let sections = OPEN.iter().filter_map(|section| section(record)).chain([details]);
    let title = clause("Target {} · ", Some(join_up_to(&record.data.targets, 3))) + title;
    page("report", &title, &answer(record), sections, &footer(record))
}

fn footer(record: &Record) -> String {
    let digest = clause(" Digest of the data: {}", Some(&record.data.digest));
    let version = env!("CARGO_PKG_VERSION");
    format!("Made by vaglio {version}. All digits are in selection.json, all settings in resolved.yaml.{digest}")
}

/// The title of the report of a run: the name of its folder.
pub fn heading(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned())
}
