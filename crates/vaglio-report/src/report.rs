//! The report: one self-contained HTML page that says what was chosen, what it is worth, and how far to trust it.

mod answer;
mod chosen_columns;
mod classes;
mod error_curves;
mod other_columns;
mod part_findings;
mod residuals;
mod run_details;

pub(crate) use error_curves::along_path;

use crate::names::join_up_to;
use crate::page::{Section, page};
use crate::record::{Record, SECTIONS, SectionGroup};
use answer::{answer, baselines, trust};
use chosen_columns::{chosen_columns, column_worth, correlations};
use classes::classes;
use error_curves::{costs, error_by_size, other_curves, searches};
use other_columns::{columns_as_read, columns_not_chosen};
use part_findings::found_by_parts;
use residuals::{components, predictions, worst_rows};
use run_details::{configuration, key_figures, methods, sizes, steps};
use std::path::Path;

/// Renders the report of a record as HTML, with a title and the resolved configuration as YAML.
///
/// The answer, the errors, the curve over sizes and the columns are open; all else is shut until it is clicked.
pub fn render(record: &Record, title: &str, yaml: &str) -> String {
    let errors = record.held_out_errors();
    let evaluations = |group: SectionGroup| {
        let group_sections = SECTIONS.iter().filter(move |(own, _)| *own == group);
        group_sections.filter_map(move |(_, section)| section(record))
    };
    let first = [
        Some(baselines(record, &errors)),
        predictions(record),
        worst_rows(record),
        components(record),
        classes(record),
    ]
    .into_iter()
    .flatten();
    let curves = [Some(other_curves(record)), searches(record), costs(record)];
    let last = [key_figures(record), methods(record), configuration(yaml)];
    let details = first
        .chain(evaluations(SectionGroup::Predictions))
        .chain([column_worth(record)])
        .chain(evaluations(SectionGroup::Columns))
        .chain(correlations(record))
        .chain(evaluations(SectionGroup::Repetitions))
        .chain([columns_not_chosen(record)])
        .chain(evaluations(SectionGroup::Curves))
        .chain(curves.into_iter().flatten())
        .chain([steps(record), sizes(record), columns_as_read(record)])
        .chain(found_by_parts(&record.found))
        .chain(last)
        .fold(Section::new("details", "Details"), Section::fold);
    let sections = [trust(record, &errors), error_by_size(record), chosen_columns(record)];
    let sections = sections.into_iter().chain(evaluations(SectionGroup::Open)).chain([details]);
    let target = join_up_to(&record.data.targets, 3);
    let title = if target.is_empty() { title.into() } else { format!("Target {target} · {title}") };
    page("report", &title, &answer(record, &errors), sections, &footer(record))
}

fn footer(record: &Record) -> String {
    let digest = match record.data.digest.as_str() {
        "" => String::new(),
        digest => format!(" Digest of the data: {digest}"),
    };
    let version = env!("CARGO_PKG_VERSION");
    format!("Made by vaglio {version}. All digits are in selection.json, all settings in resolved.yaml.{digest}")
}

/// The title of the report of a run: the name of its folder.
pub fn heading(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned())
}
